//! What thinking costs, as the system counts it: the time of its thread on a core.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::model::ids::PlayerId;

/// Moves after which the average is over the latest ones more than over older ones: some ten games, so that a bot whose
/// thinking changes is known anew within a few pairs.
const MEMORY: u32 = 200;

/// What one bot's thinking has cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Thinking {
    /// Since the daemon started.
    pub(crate) total: Duration,
    /// Of the moves that the average is over.
    recent: Duration,
    moves: u32,
}

impl Thinking {
    /// Of one move; `None` before the first.
    pub(crate) fn per_move(&self) -> Option<Duration> {
        self.recent.checked_div(self.moves)
    }

    fn add(&mut self, cost: Duration) {
        self.total += cost;
        self.recent += cost;
        self.moves += 1;
        if self.moves >= MEMORY {
            self.recent /= 2;
            self.moves /= 2;
        }
    }
}

/// Counts what everybody's thinking costs. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComputeMeter {
    players: Arc<Mutex<HashMap<PlayerId, Thinking>>>,
}

impl ComputeMeter {
    fn players(&self) -> MutexGuard<'_, HashMap<PlayerId, Thinking>> {
        self.players.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Books one move of a player.
    pub(crate) fn add(&self, player: &PlayerId, cost: Duration) {
        let mut players = self.players();
        match players.get_mut(player) {
            Some(thinking) => thinking.add(cost),
            None => players.entry(player.clone()).or_default().add(cost),
        }
    }

    /// What everybody's thinking has cost so far.
    pub(crate) fn read(&self) -> HashMap<PlayerId, Thinking> {
        self.players().clone()
    }
}

/// How long this thread has been on a core.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_follows_the_latest_moves() {
        let (meter, bot) = (ComputeMeter::default(), "b1".parse().unwrap());
        assert!(meter.read().is_empty());
        for _ in 0..MEMORY {
            meter.add(&bot, Duration::from_millis(10));
        }
        assert_eq!(meter.read()[&bot].per_move(), Some(Duration::from_millis(10)));
        for _ in 0..10 * MEMORY {
            meter.add(&bot, Duration::from_millis(1));
        }
        let thinking = meter.read()[&bot];
        assert_eq!(thinking.total, Duration::from_millis(u64::from(20 * MEMORY)));
        assert!(thinking.per_move() < Some(Duration::from_millis(2)), "{thinking:?}");
    }

    #[test]
    fn a_thread_s_time_only_grows() {
        let before = thread_time();
        let sum: u64 = std::hint::black_box((0..100_000_u64).sum());
        assert!(sum > 0 && thread_time() >= before);
    }
}
