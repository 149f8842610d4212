//! How often somebody may try: pure counting, the caller says what time it is.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// From this many keys on, the table drops those whose attempts are all forgotten.
const SWEEP_FROM: usize = 1_024;

/// At most `max` attempts in any `window`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AttemptRule {
    pub(super) max: usize,
    pub(super) window: Duration,
}

/// Counts attempts by key. An attempt counts from its beginning, so that many at once do not slip through together;
/// whoever turns out to be right takes it back.
///
/// The table cannot be flooded: each key costs whoever fills it one slow hash.
#[derive(Debug)]
pub(super) struct Attempts<K> {
    rule: AttemptRule,
    by_key: HashMap<K, VecDeque<Instant>>,
    sweep_at: usize,
}

impl<K: Eq + Hash> Attempts<K> {
    pub(super) fn new(rule: AttemptRule) -> Self {
        Self { rule, by_key: HashMap::new(), sweep_at: SWEEP_FROM }
    }

    /// Says how long `key` must wait, if it must.
    pub(super) fn wait(&self, key: &K, now: Instant) -> Option<Duration> {
        let times = self.by_key.get(key)?;
        let mut recent = times.iter().filter(|at| now.saturating_duration_since(**at) < self.rule.window);
        let oldest = *recent.next()?;
        let count = 1 + recent.count();
        (count >= self.rule.max).then(|| (oldest + self.rule.window).saturating_duration_since(now))
    }

    /// Counts an attempt of `key`.
    pub(super) fn begin(&mut self, key: K, now: Instant) {
        if self.by_key.len() >= self.sweep_at {
            let window = self.rule.window;
            self.by_key.retain(|_, times| {
                times.back().is_some_and(|at| now.saturating_duration_since(*at) < window)
            });
            self.sweep_at = SWEEP_FROM.max(self.by_key.len() * 2);
        }
        let times = self.by_key.entry(key).or_default();
        times.push_back(now);
        if times.len() > self.rule.max {
            times.pop_front();
        }
    }

    /// Takes one attempt back, which was begun at `at`.
    pub(super) fn withdraw(&mut self, key: &K, at: Instant) {
        if let Some(times) = self.by_key.get_mut(key)
            && let Some(index) = times.iter().position(|time| *time == at)
        {
            times.remove(index);
        }
    }

    /// Forgets all attempts of `key`.
    pub(super) fn forget(&mut self, key: &K) {
        self.by_key.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: AttemptRule = AttemptRule { max: 3, window: Duration::from_mins(1) };

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn the_attempt_over_the_limit_waits_until_the_oldest_is_forgotten() {
        let start = Instant::now();
        let mut attempts = Attempts::new(RULE);
        for at in [0, 10, 20] {
            assert_eq!(attempts.wait(&"a", start + secs(at)), None);
            attempts.begin("a", start + secs(at));
        }
        assert_eq!(attempts.wait(&"a", start + secs(20)), Some(secs(40)));
        assert_eq!(attempts.wait(&"b", start + secs(20)), None);
        assert_eq!(attempts.wait(&"a", start + secs(60)), None);
        attempts.begin("a", start + secs(60));
        assert_eq!(attempts.wait(&"a", start + secs(60)), Some(secs(10)));
    }

    #[test]
    fn who_was_right_has_not_tried() {
        let start = Instant::now();
        let mut attempts = Attempts::new(RULE);
        for at in 0..3 {
            attempts.begin("a", start + secs(at));
        }
        attempts.withdraw(&"a", start + secs(1));
        assert_eq!(attempts.wait(&"a", start + secs(2)), None);
        attempts.forget(&"a");
        assert_eq!(attempts.by_key.len(), 0);
    }

    #[test]
    fn forgotten_keys_leave_the_table() {
        let start = Instant::now();
        let mut attempts = Attempts::new(RULE);
        for key in 0..SWEEP_FROM {
            attempts.begin(key, start);
        }
        attempts.begin(SWEEP_FROM, start + secs(61));
        assert_eq!(attempts.by_key.len(), 1);
    }
}
