//! A flag that one task waits for. Where there is never more than one, a list of those who wait, which each enters and
//! leaves at every turn, is a hundredth of what a move costs.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;

/// Raised by anybody, awaited by one task.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    is_raised: AtomicBool,
    waiter: AtomicWaker,
}

impl Signal {
    /// Wakes whoever waits, or lets it through when it comes.
    pub(crate) fn raise(&self) {
        self.is_raised.store(true, Ordering::Release);
        self.waiter.wake();
    }

    /// Completes when it has been raised, perhaps several times, since this last completed. May be dropped and called
    /// again, but never be awaited by two tasks: the one that came first would wait for ever.
    pub(crate) async fn raised(&self) {
        poll_fn(|cx| {
            if self.is_lowered() {
                self.waiter.register(cx.waker());
                // It may have been raised while nobody was registered.
                if self.is_lowered() {
                    return Poll::Pending;
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Takes the flag down; false if it was up.
    fn is_lowered(&self) -> bool {
        !(self.is_raised.load(Ordering::Relaxed) && self.is_raised.swap(false, Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_is_woken_and_whoever_comes_later_is_let_through_once() {
        let signal = Arc::new(Signal::default());
        let waits = async |signal: &Signal| timeout(Duration::from_mins(1), signal.raised()).await.is_err();
        assert!(waits(&signal).await);
        signal.raise();
        signal.raise();
        assert!(!waits(&signal).await);
        assert!(waits(&signal).await, "once, however often it was raised");
        let waiting = tokio::spawn({
            let signal = Arc::clone(&signal);
            async move { signal.raised().await }
        });
        tokio::task::yield_now().await;
        signal.raise();
        waiting.await.unwrap();
    }

    #[test]
    fn no_wake_is_lost_between_threads() {
        let (there, back) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
        let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let other = std::thread::spawn({
            let (there, back) = (Arc::clone(&there), Arc::clone(&back));
            move || {
                let elsewhere = runtime();
                for _ in 0..20_000 {
                    elsewhere.block_on(there.raised());
                    back.raise();
                }
            }
        });
        let here = runtime();
        for _ in 0..20_000 {
            there.raise();
            here.block_on(back.raised());
        }
        other.join().unwrap();
    }
}
