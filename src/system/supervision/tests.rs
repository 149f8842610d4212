use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::*;
use crate::system::ask::ask;

/// Adds up what it is sent; a zero makes it panic, and so does `renew` while it is told to.
struct Adder {
    inbox: mpsc::Receiver<(u32, oneshot::Sender<u32>)>,
    sum: u32,
    broken: watch::Receiver<bool>,
}

impl Kept for Adder {
    fn part(&self) -> Part {
        Part::Lobby
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        loop {
            let next = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                next = self.inbox.recv() => next,
            };
            let Some((number, reply)) = next else { return Ok(()) };
            assert_ne!(number, 0, "broken on purpose");
            self.sum += number;
            let _ = reply.send(self.sum);
        }
    }

    async fn renew(&mut self) -> Result<(), BoxedError> {
        self.sum = 0;
        if *self.broken.borrow() { Err("the store cannot be read".into()) } else { Ok(()) }
    }

    async fn turn_away(&mut self) {
        while let Some((_, reply)) = self.inbox.recv().await {
            let _ = reply.send(u32::MAX);
        }
    }
}

struct Setup {
    metrics: Arc<Metrics>,
    supervision: Supervision,
    adder: mpsc::Sender<(u32, oneshot::Sender<u32>)>,
    broken: watch::Sender<bool>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Setup {
    fn new() -> Self {
        let metrics = Arc::new(Metrics::new());
        let supervision = Supervision::new(Arc::clone(&metrics));
        let (adder, inbox) = mpsc::channel(8);
        let (broken, is_broken) = watch::channel(false);
        let stop = CancellationToken::new();
        let kept = Adder { inbox, sum: 0, broken: is_broken };
        let running = tokio::spawn(supervision.clone().keep(kept, stop.clone()));
        Self { metrics, supervision, adder, broken, stop, running }
    }

    async fn add(&self, number: u32) -> Option<u32> {
        ask(&self.adder, |reply| (number, reply)).await
    }

    #[track_caller]
    fn check_panics(&self, expected: usize) {
        let line = format!("fourfold_panics_total{{part=\"lobby\"}} {expected}\n");
        assert!(self.metrics.text().contains(&line), "{}", self.metrics.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_loses_the_request_in_hand_and_those_that_wait_are_done() {
    let setup = Setup::new();
    assert_eq!(setup.add(3).await, Some(3));
    let (lost, first, second) = tokio::join!(setup.add(0), setup.add(4), setup.add(5));
    assert_eq!((lost, first, second), (None, Some(4), Some(9)), "from the beginning, by the same handle");
    setup.check_panics(1);
    assert!(setup.supervision.pauses().is_empty());
    setup.stop.cancel();
    setup.running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn three_panics_in_a_minute_pause_a_part_which_turns_away_and_tries_again() {
    let setup = Setup::new();
    for _ in 0..3 {
        assert_eq!(setup.add(0).await, None);
    }
    assert_eq!(setup.add(1).await, Some(u32::MAX), "it is refused at once");
    assert_eq!(setup.supervision.pauses(), ["lobby has failed several times and pauses"]);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert!(setup.supervision.pauses().is_empty());
    assert_eq!(setup.add(1).await, Some(1));
    setup.check_panics(3);
    assert_eq!(setup.add(0).await, None);
    assert_eq!(setup.add(1).await, Some(u32::MAX), "on trial, one panic is enough");
    setup.stop.cancel();
    setup.running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_part_that_cannot_be_made_again_is_tried_again() {
    let setup = Setup::new();
    setup.broken.send_replace(true);
    assert_eq!(setup.add(0).await, None);
    assert_eq!(setup.add(1).await, Some(u32::MAX));
    setup.check_panics(1);
    setup.broken.send_replace(false);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(setup.add(1).await, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_part_that_was_struck_goes_on() {
    let setup = Setup::new();
    assert_eq!(setup.add(3).await, Some(3));
    setup.supervision.strike(Part::Host);
    setup.supervision.strike(Part::Lobby);
    assert_eq!(setup.add(3).await, Some(3));
    setup.check_panics(1);
}

#[tokio::test(start_paused = true)]
async fn failures_count_together_and_pauses_last_while_time_is_stopped() {
    let setup = Setup::new();
    setup.supervision.stop_time();
    for _ in 0..3 {
        assert_eq!(setup.add(0).await, None);
        tokio::time::sleep(Duration::from_hours(1)).await;
    }
    assert_eq!(setup.add(1).await, Some(u32::MAX));
    assert_eq!(setup.supervision.pauses().len(), 1);
}

#[test]
fn the_last_things_set_aside_are_shown() {
    let supervision = Supervision::new(Arc::new(Metrics::new()));
    for number in 0..SET_ASIDE_SHOWN + 3 {
        supervision.set_aside(Part::Judge, &format!("game {number}"));
    }
    let shown = supervision.things_set_aside();
    assert_eq!((shown.len(), shown[0].as_str()), (SET_ASIDE_SHOWN, "judge: game 18"));
    assert!(supervision.metrics.text().contains("fourfold_set_aside_total{part=\"judge\"} 19"));
}
