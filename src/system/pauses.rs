//! The daemon's own heartbeat, and whoever wants to know of its pauses.

use std::time::Instant;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::model::clock::now;
use crate::model::pause::{BEAT_EVERY, Pause, PauseLog};

/// The pauses of this process. Cloning gives another view of the same. Nothing is found unless somebody beats.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    log: watch::Sender<PauseLog>,
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
        self.log.send_if_modified(|log| log.beat(now));
    }

    /// Whoever listens hears of pauses from now on.
    pub(crate) fn listen(&self) -> PauseListener {
        let log = self.log.subscribe();
        let heard = log.borrow().count();
        PauseListener { pauses: self.clone(), log, heard }
    }
}

/// Hears of pauses, of each once.
#[derive(Debug)]
pub(crate) struct PauseListener {
    pauses: Pauses,
    log: watch::Receiver<PauseLog>,
    heard: u64,
}

impl PauseListener {
    /// Completes when there was a pause.
    pub(crate) async fn paused(&mut self) {
        // It never fails: the listener holds a sender itself.
        let _ = self.log.changed().await;
    }

    /// The pauses until now that were not heard of, one that nobody has noticed yet among them.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<Pause> {
        if self.log.borrow().is_late(now) {
            self.pauses.log.send_if_modified(|log| log.look(now));
        }
        let log = self.log.borrow_and_update();
        if log.count() == self.heard {
            return Vec::new();
        }
        let pauses = log.after(self.heard).collect();
        self.heard = log.count();
        pauses
    }
}
