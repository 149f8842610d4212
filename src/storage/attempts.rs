//! What failed lately, by key: kept with the arena, so that it counts wherever somebody tries next.
//!
//! No wall clock is asked: an embedded store counts by the clock of its process, a database server by its own.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::error::StoreError;

/// From this many keys on, the table drops those whose attempts are all forgotten.
const SWEEP_FROM: usize = 1_024;

/// At most `max` attempts in any `window`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttemptRule {
    /// Tells its keys from those of other rules.
    pub(crate) name: &'static str,
    pub(crate) max: u32,
    pub(crate) window: Duration,
}

/// What became of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// It is counted under this number.
    Counted(i64),
    /// It is not, for there were too many: so long the key must wait.
    MustWait(Duration),
}

/// Counts attempts by key. One counts from its beginning, so that many at once do not slip through together; whoever
/// turns out to be right takes it back.
///
/// The counts cannot be flooded: each key costs whoever fills it one slow hash. They may be lost when the store's
/// machine dies.
#[async_trait]
pub trait AttemptStore: Send + Sync + fmt::Debug {
    /// Counts an attempt, unless there were too many.
    async fn begin(&self, rule: AttemptRule, key: &str) -> Result<Attempt, StoreError>;

    /// Takes one attempt back.
    async fn withdraw(&self, rule: AttemptRule, key: &str, number: i64) -> Result<(), StoreError>;

    /// Forgets all attempts of a key.
    async fn forget(&self, rule: AttemptRule, key: &str) -> Result<(), StoreError>;
}

/// Counts in memory, for stores that one process has to itself.
#[derive(Default)]
pub(super) struct RecentAttempts {
    tables: Mutex<AttemptTables>,
}

impl fmt::Debug for RecentAttempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentAttempts").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct AttemptTables {
    by_rule: HashMap<&'static str, AttemptTable>,
    /// The number of the last attempt.
    last: i64,
}

#[derive(Debug, Default)]
struct AttemptTable {
    /// Numbers and times, the oldest first.
    by_key: HashMap<String, VecDeque<(i64, Instant)>>,
    sweep_at: usize,
}

impl AttemptTable {
    fn begin(&mut self, rule: AttemptRule, key: &str, number: i64, now: Instant) -> Attempt {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < rule.window;
        if let Some(times) = self.by_key.get_mut(key) {
            times.retain(|(_, at)| is_recent(*at));
            if let Some((_, oldest)) = times.front()
                && times.len() >= rule.max as usize
            {
                return Attempt::MustWait((*oldest + rule.window).saturating_duration_since(now));
            }
        } else if self.by_key.len() >= self.sweep_at.max(SWEEP_FROM) {
            self.by_key.retain(|_, times| times.back().is_some_and(|(_, at)| is_recent(*at)));
            self.sweep_at = self.by_key.len() * 2;
        }
        self.by_key.entry(key.to_owned()).or_default().push_back((number, now));
        Attempt::Counted(number)
    }

    fn withdraw(&mut self, key: &str, number: i64) {
        if let Some(times) = self.by_key.get_mut(key) {
            times.retain(|(each, _)| *each != number);
        }
    }
}

impl RecentAttempts {
    fn with<T>(&self, use_them: impl FnOnce(&mut AttemptTables) -> T) -> T {
        // Counting cannot leave a table half changed, so a panic elsewhere does not spoil it.
        use_them(&mut self.tables.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl AttemptStore for RecentAttempts {
    async fn begin(&self, rule: AttemptRule, key: &str) -> Result<Attempt, StoreError> {
        Ok(self.with(|tables| {
            tables.last += 1;
            let table = tables.by_rule.entry(rule.name).or_default();
            table.begin(rule, key, tables.last, Instant::now())
        }))
    }

    async fn withdraw(&self, rule: AttemptRule, key: &str, number: i64) -> Result<(), StoreError> {
        self.with(|tables| tables.by_rule.entry(rule.name).or_default().withdraw(key, number));
        Ok(())
    }

    async fn forget(&self, rule: AttemptRule, key: &str) -> Result<(), StoreError> {
        self.with(|tables| tables.by_rule.entry(rule.name).or_default().by_key.remove(key));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: AttemptRule = AttemptRule { name: "test", max: 3, window: Duration::from_mins(1) };

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn the_attempt_over_the_limit_waits_until_the_oldest_is_forgotten() {
        let start = Instant::now();
        let mut table = AttemptTable::default();
        for at in [0, 10, 20] {
            assert_eq!(table.begin(RULE, "a", 7, start + secs(at)), Attempt::Counted(7));
        }
        assert_eq!(table.begin(RULE, "a", 8, start + secs(20)), Attempt::MustWait(secs(40)));
        assert_eq!(table.begin(RULE, "b", 9, start + secs(20)), Attempt::Counted(9));
        assert_eq!(table.begin(RULE, "a", 10, start + secs(60)), Attempt::Counted(10));
        assert_eq!(table.begin(RULE, "a", 11, start + secs(60)), Attempt::MustWait(secs(10)));
    }

    #[test]
    fn forgotten_keys_leave_the_table() {
        let start = Instant::now();
        let mut table = AttemptTable::default();
        for key in 0..SWEEP_FROM {
            table.begin(RULE, &key.to_string(), 0, start);
        }
        table.begin(RULE, "one more", 0, start + secs(61));
        assert_eq!(table.by_key.len(), 1);
    }
}
