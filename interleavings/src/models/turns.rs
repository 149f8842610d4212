/// Three of one network and one of another want one place, and one of them goes away: never are two at work, and
/// everybody who stays gets a turn.
pub(crate) fn model() {
    use shuttle::sync::atomic::{AtomicUsize, Ordering};

    struct Works<'a>(&'a AtomicUsize);

    impl<'a> Works<'a> {
        fn new(at_work: &'a AtomicUsize) -> Self {
            assert_eq!(at_work.fetch_add(1, Ordering::SeqCst), 0, "two are at work");
            Self(at_work)
        }
    }

    impl Drop for Works<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    let rule = LineRule { at_work: 1, at_work_of_network: 1, waiting: 8, waiting_of_network: 4 };
    let turns = Turns::new(rule, ShareSettings);
    let at_work = Arc::new(AtomicUsize::new(0));
    let come = |last: u8| {
        let (turns, at_work) = (turns.clone(), Arc::clone(&at_work));
        shuttle::future::spawn(async move {
            let turn = turns.take(IpAddr::from([192, 0, 2, last])).await.expect("there is place for all");
            // Whoever goes away does so in the midst of it.
            let works = Works::new(&at_work);
            shuttle::future::yield_now().await;
            drop(works);
            drop(turn);
        })
    };
    let staying = [come(1), come(1), come(2)];
    let going = come(1);
    shuttle::future::block_on(async {
        shuttle::future::yield_now().await;
        going.abort();
        for one in staying {
            one.await.expect("no panic");
        }
    });
}
