//! What a self-test found.

use std::time::Duration;

use serde::Serialize;

/// How one check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    Passed,
    Failed,
    /// There was nothing to see.
    Skipped,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub verdict: CheckVerdict,
    /// What was seen, in words.
    pub note: String,
}

/// Percentiles of a duration, in milliseconds; zeros if nothing was measured.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Percentiles {
    /// How many were measured.
    pub count: usize,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

impl Percentiles {
    /// By nearest rank.
    pub fn of(mut measured: Vec<Duration>) -> Self {
        measured.sort_unstable();
        let at = |percent: usize| {
            let rank = (measured.len() * percent).div_ceil(100).max(1);
            measured.get(rank - 1).map_or(0.0, |duration| duration.as_secs_f64() * 1000.0)
        };
        Self { count: measured.len(), p50: at(50), p90: at(90), p99: at(99), max: at(100) }
    }
}

/// What a self-test found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    pub bot: String,
    pub passed: bool,
    pub checks: Vec<Check>,
    pub move_limit_ms: u64,
    /// From a question wholly sent to its answer received.
    pub latency_ms: Percentiles,
}

impl Report {
    /// An entrant passes if nothing failed.
    pub fn new(bot: &str, limit: Duration, checks: Vec<Check>, spent: Vec<Duration>) -> Self {
        Self {
            bot: bot.to_owned(),
            passed: checks.iter().all(|check| check.verdict != CheckVerdict::Failed),
            checks,
            move_limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            latency_ms: Percentiles::of(spent),
        }
    }

    pub fn is_passed(&self) -> bool {
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let hundred = (1..=100).rev().map(Duration::from_millis).collect();
        let percentiles = Percentiles::of(hundred);
        let Percentiles { count, p50, p90, p99, max } = percentiles;
        assert_eq!((count, p50, p90, p99, max), (100, 50.0, 90.0, 99.0, 100.0));
        assert_eq!(Percentiles::of(Vec::new()), Percentiles::default());
    }
}
