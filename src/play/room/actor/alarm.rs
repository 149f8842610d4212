//! One timer for all that a room waits for.

use std::pin::Pin;
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// Rings when something is due, and now and then before: with each move the next deadline lies elsewhere, mostly later,
/// and a timer that is put off each time costs more than one that rings in vain once a game.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
    is_set: bool,
}

impl Alarm {
    /// Rings at this time at the latest, or never.
    pub(super) fn set(&mut self, deadline: Option<Instant>) {
        self.is_set = deadline.is_some();
        let Some(at) = deadline.map(tokio::time::Instant::from_std) else { return };
        match &mut self.sleep {
            None => self.sleep = Some(Box::pin(sleep_until(at))),
            Some(sleep) if sleep.is_elapsed() || at < sleep.deadline() => sleep.as_mut().reset(at),
            Some(_) => {}
        }
    }

    /// Completes when it rings. May be dropped and called again.
    pub(super) async fn rings(&mut self) {
        match &mut self.sleep {
            Some(sleep) if self.is_set => sleep.as_mut().await,
            _ => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::*;

    fn after(seconds: u64) -> std::time::Instant {
        (Instant::now() + Duration::from_secs(seconds)).into_std()
    }

    #[tokio::test(start_paused = true)]
    async fn it_rings_no_later_than_it_should_and_not_when_nothing_is_due() {
        let mut alarm = Alarm::default();
        let began = Instant::now();
        alarm.set(Some(after(60)));
        alarm.set(Some(after(10)));
        alarm.set(Some(after(90)));
        alarm.rings().await;
        assert_eq!(began.elapsed().as_secs(), 10, "in vain, for it was put off");
        alarm.set(Some(after(80)));
        alarm.rings().await;
        assert_eq!(began.elapsed().as_secs(), 90);
        alarm.set(None);
        assert!(timeout(Duration::from_hours(1), alarm.rings()).await.is_err());
    }
}
