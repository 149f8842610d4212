//! Counting what the players live through.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use super::player::{Ack, LoadTrouble, Role, Witness};
use crate::model::ids::GameId;
use crate::protocol::server::GameEnd;

/// How a load went.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct LoadReport {
    pub(crate) games: u64,
    pub(crate) moves: u64,
    /// From the first connection to the last game's end.
    pub(crate) seconds: f64,
    /// Acknowledged moves in a second.
    pub(crate) moves_per_s: f64,
    /// From sending a move to its acknowledgement, in milliseconds.
    pub(crate) ack_ms: AckMillis,
    pub(crate) spectators: u32,
    /// Messages about games that they received.
    pub(crate) spectator_messages: u64,
    /// Connections that were lost and made again.
    pub(crate) reconnects: u64,
    /// What should not happen, by kind: error codes, `rollback`, `session_lost`.
    pub(crate) errors: BTreeMap<String, u64>,
}

/// The latency that half, 99 % and 99.9 % of the moves kept.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub(crate) struct AckMillis {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p99_9: f64,
    pub(crate) max: f64,
}

/// Counts.
pub(super) struct LoadTally {
    games: AtomicU64,
    reconnects: AtomicU64,
    latencies: Mutex<Vec<Duration>>,
    errors: Mutex<BTreeMap<String, u64>>,
    newest: watch::Sender<Option<GameId>>,
    progress: Box<dyn Fn() + Send + Sync>,
}

impl LoadTally {
    pub(super) fn new(progress: Box<dyn Fn() + Send + Sync>) -> Self {
        Self {
            games: AtomicU64::new(0),
            reconnects: AtomicU64::new(0),
            latencies: Mutex::default(),
            errors: Mutex::default(),
            newest: watch::Sender::new(None),
            progress,
        }
    }

    /// The game that began last, for those who want to watch one.
    pub(super) fn newest_game(&self) -> watch::Receiver<Option<GameId>> {
        self.newest.subscribe()
    }

    pub(super) fn report(&self, elapsed: Duration, spectators: u32, spectator_messages: u64) -> LoadReport {
        let mut latencies = std::mem::take(&mut *lock(&self.latencies));
        latencies.sort_unstable();
        let seconds = elapsed.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let moves_per_s = latencies.len() as f64 / seconds;
        LoadReport {
            games: self.games.load(Ordering::Relaxed),
            moves: latencies.len() as u64,
            seconds,
            moves_per_s,
            ack_ms: AckMillis {
                p50: percentile_ms(&latencies, 500),
                p99: percentile_ms(&latencies, 990),
                p99_9: percentile_ms(&latencies, 999),
                max: percentile_ms(&latencies, 1_000),
            },
            spectators,
            spectator_messages,
            reconnects: self.reconnects.load(Ordering::Relaxed),
            errors: lock(&self.errors).clone(),
        }
    }
}

impl Witness for LoadTally {
    fn playing(&self, game: &GameId) {
        self.newest.send_replace(Some(game.clone()));
    }

    fn acked(&self, ack: &Ack) {
        lock(&self.latencies).push(ack.latency);
    }

    fn ended(&self, role: Role, _end: &GameEnd) {
        match role {
            Role::Challenger => {
                self.games.fetch_add(1, Ordering::Relaxed);
                (self.progress)();
            }
            Role::Challenged => {} // the other one has counted it
        }
    }

    fn reconnected(&self, _role: Role) {
        self.reconnects.fetch_add(1, Ordering::Relaxed);
    }

    fn trouble(&self, trouble: LoadTrouble) {
        let kind = match &trouble {
            LoadTrouble::Rollback { .. } => "rollback".to_owned(),
            LoadTrouble::SessionLost => "session_lost".to_owned(),
            LoadTrouble::Refused(error) => error.code.to_string(),
        };
        *lock(&self.errors).entry(kind).or_default() += 1;
    }
}

/// Counters stay usable even if a task that held them panicked.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The smallest of the sorted values that `per_mille` of them do not exceed, in milliseconds; 0 without values.
fn percentile_ms(sorted: &[Duration], per_mille: usize) -> f64 {
    let rank = (sorted.len() * per_mille).div_ceil(1_000).max(1);
    sorted.get(rank - 1).map_or(0.0, |latency| latency.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<Duration> = (1..=1_000).map(Duration::from_millis).collect();
        let check = |values: &[Duration], per_mille, expected: f64| {
            let found = percentile_ms(values, per_mille);
            assert!((found - expected).abs() < 1e-9, "{per_mille} per mille: {found}");
        };
        check(&values, 500, 500.0);
        check(&values, 990, 990.0);
        check(&values, 999, 999.0);
        check(&values, 1_000, 1_000.0);
        check(&values[..1], 999, 1.0);
        check(&[], 500, 0.0);
    }
}
