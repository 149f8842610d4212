/// Two people and two bots want one thread: everybody gets it, never two at once.
pub(crate) fn model() {
    use shuttle::sync::Arc;

    let precedence = Arc::new(Precedence::new(1));
    let at_work = Arc::new(AtomicUsize::new(0));
    let come = |priority| {
        let (precedence, at_work) = (Arc::clone(&precedence), Arc::clone(&at_work));
        shuttle::future::spawn(async move {
            let permit = precedence.take(priority).await.expect("nobody closes it");
            assert_eq!(at_work.fetch_add(1, Ordering::SeqCst), 0, "two have the thread");
            shuttle::future::yield_now().await;
            at_work.fetch_sub(1, Ordering::SeqCst);
            drop(permit);
        })
    };
    let all = [Priority::Bots, Priority::People, Priority::Bots, Priority::People].map(come);
    shuttle::future::block_on(async {
        for one in all {
            one.await.expect("no panic");
        }
    });
}
