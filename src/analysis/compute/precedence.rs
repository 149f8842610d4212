//! Who of those that wait for a thread goes first: people before bots, otherwise first come first served.
//!
//! The orders in which all of it may happen are tried by `interleavings`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Who waits for a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Priority {
    /// People: somebody's game.
    People,
    /// Bots among themselves: whenever nobody else waits.
    Bots,
}

/// Threads, and the people who wait for one.
#[derive(Debug)]
pub(super) struct Precedence {
    threads: Arc<Semaphore>,
    people: AtomicUsize,
    none_waits: Notify,
}

impl Precedence {
    pub(super) fn new(threads: usize) -> Self {
        let threads = Arc::new(Semaphore::new(threads));
        Self { threads, people: AtomicUsize::new(0), none_waits: Notify::new() }
    }

    /// A thread, if one is free and nobody waits for it.
    pub(super) fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.threads).try_acquire_owned().ok()
    }

    /// A thread when one's turn comes; `None` when there will be none any more.
    pub(super) async fn take(&self, priority: Priority) -> Option<OwnedSemaphorePermit> {
        match priority {
            Priority::People => {
                let _waits = PersonWaits::new(self);
                self.next().await
            }
            Priority::Bots => loop {
                // Made before the look, so that it hears of whatever happens after it.
                let none_waits = self.none_waits.notified();
                if self.people.load(Ordering::SeqCst) == 0 {
                    let permit = self.next().await?;
                    if self.people.load(Ordering::SeqCst) == 0 {
                        return Some(permit);
                    }
                    // Somebody came meanwhile: the thread is theirs.
                } else {
                    none_waits.await;
                }
            },
        }
    }

    async fn next(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.threads).acquire_owned().await.ok()
    }
}

/// Counts one person who waits; the last one lets the bots go on.
struct PersonWaits<'a>(&'a Precedence);

impl<'a> PersonWaits<'a> {
    fn new(precedence: &'a Precedence) -> Self {
        precedence.people.fetch_add(1, Ordering::SeqCst);
        Self(precedence)
    }
}

impl Drop for PersonWaits<'_> {
    fn drop(&mut self) {
        if self.0.people.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.none_waits.notify_waiters();
        }
    }
}
