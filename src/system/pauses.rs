//! The daemon's own heartbeat, and whoever wants to know of its pauses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use tokio::time::{MissedTickBehavior, interval};

use super::signal::Signal;
use crate::model::clock::now;
use crate::model::pause::{BEAT_EVERY, Pause, PauseLog};

/// The pauses of this process. Cloning gives another view of the same. Nothing is found unless somebody beats.
#[derive(Clone, Debug, Default)]
pub struct Pauses(Arc<SharedPauses>);

/// What all views share.
#[derive(Debug, Default)]
struct SharedPauses {
    /// Each room reads it before it acts upon time; written with each beat.
    log: RwLock<PauseLog>,
    /// Whoever is to be woken by a pause, by number. Held for a moment: when a room opens and closes, and in a pause.
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    next: u64,
    signals: HashMap<u64, Arc<Signal>>,
}

impl Pauses {
    /// Beats until it is dropped.
    ///
    /// This is a task among all others, and no thread of its own: when the tasks get no turn, no move is read either.
    pub(crate) async fn beat_on(self) {
        let mut beats = interval(BEAT_EVERY);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            self.beat(now());
        }
    }

    /// The daemon runs at this moment.
    pub fn beat(&self, now: Instant) {
        self.change(|log| log.beat(now));
    }

    /// Whoever listens hears of pauses from now on.
    pub(crate) fn listen(&self) -> PauseListener {
        let signal = Arc::new(Signal::default());
        let mut listeners = self.listeners();
        listeners.next += 1;
        let number = listeners.next;
        listeners.signals.insert(number, Arc::clone(&signal));
        drop(listeners);
        let heard = self.read(PauseLog::count);
        PauseListener { pauses: self.clone(), number, signal, heard }
    }

    fn read<T>(&self, read: impl FnOnce(&PauseLog) -> T) -> T {
        read(&self.0.log.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the log, and wakes all who listen if there is a new pause in it.
    fn change(&self, change: impl FnOnce(&mut PauseLog) -> bool) {
        let has_paused = change(&mut self.0.log.write().unwrap_or_else(PoisonError::into_inner));
        if has_paused {
            self.listeners().signals.values().for_each(|signal| signal.raise());
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears of pauses, of each once.
#[derive(Debug)]
pub(crate) struct PauseListener {
    pauses: Pauses,
    number: u64,
    signal: Arc<Signal>,
    heard: u64,
}

impl PauseListener {
    /// Completes when there was a pause.
    pub(crate) async fn paused(&mut self) {
        self.signal.raised().await;
    }

    /// The pauses until now that were not heard of, one that nobody has noticed yet among them.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<Pause> {
        if self.pauses.read(|log| log.is_late(now)) {
            self.pauses.change(|log| log.look(now));
        }
        let heard = self.heard;
        let (pauses, count) = self.pauses.read(|log| {
            let is_new = log.count() != heard;
            (if is_new { log.after(heard).collect() } else { Vec::new() }, log.count())
        });
        self.heard = count;
        pauses
    }
}

impl Drop for PauseListener {
    fn drop(&mut self) {
        self.pauses.listeners().signals.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_who_listen_hear_of_each_pause_once_and_nobody_stays_on_the_list() {
        let pauses = Pauses::default();
        let start = now();
        pauses.beat(start);
        let mut listeners = [pauses.listen(), pauses.listen()];
        assert!(timeout(Duration::from_secs(9), listeners[0].paused()).await.is_err());
        pauses.beat(start + Duration::from_secs(5));
        for listener in &mut listeners {
            listener.paused().await;
            assert_eq!(listener.take(start + Duration::from_secs(5)).len(), 1);
            assert_eq!(listener.take(start + Duration::from_secs(5)), []);
        }
        let late = start + Duration::from_secs(8);
        assert_eq!(listeners[0].take(late).len(), 1, "whoever looks first finds it");
        listeners[1].paused().await;
        assert_eq!(listeners[1].take(late).len(), 1);
        assert_eq!(pauses.listen().take(late), [], "from then on");
        drop(listeners);
        assert!(pauses.listeners().signals.is_empty());
    }
}
