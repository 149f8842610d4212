//! What a self-test found, as it is kept and published.

use fourfold_arena::admission::{Check, CheckVerdict, Percentiles, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::GameId;

/// What a self-test of one version found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestReport {
    /// The bot's name.
    pub(crate) bot: String,
    /// Whether nothing failed.
    pub(crate) passed: bool,
    /// What was looked at, in this order.
    pub(crate) checks: Vec<TestCheck>,
    /// The games that were played for it.
    pub(crate) games: Vec<GameId>,
    /// How long a move may take, in milliseconds.
    pub(crate) move_limit_ms: u64,
    /// How long the bot took for its moves, in milliseconds, the network's part included.
    pub(crate) latency_ms: TestLatency,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestCheck {
    /// What it is called in the documentation.
    pub(crate) name: String,
    /// How it went: `passed`, `failed` or `skipped`.
    pub(crate) verdict: TestVerdict,
    /// What was seen, in words.
    pub(crate) note: String,
}

/// How one check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestVerdict {
    /// It was as it must be.
    Passed,
    /// It was not.
    Failed,
    /// There was nothing to see.
    Skipped,
}

/// Percentiles by nearest rank, in milliseconds; zeros if there was no move.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestLatency {
    /// Moves that were measured.
    pub(crate) count: usize,
    /// Half of the moves took no longer.
    pub(crate) p50: f64,
    /// Nine of ten.
    pub(crate) p90: f64,
    /// Ninety-nine of a hundred.
    pub(crate) p99: f64,
    /// The longest.
    pub(crate) max: f64,
}

impl TestReport {
    /// A report on these games.
    pub(crate) fn new(report: Report, games: Vec<GameId>) -> Self {
        let Percentiles { count, p50, p90, p99, max } = report.latency_ms;
        Self {
            bot: report.bot,
            passed: report.passed,
            checks: report.checks.into_iter().map(TestCheck::new).collect(),
            games,
            move_limit_ms: report.move_limit_ms,
            latency_ms: TestLatency { count, p50, p90, p99, max },
        }
    }

    /// The text that is kept.
    pub(crate) fn to_stored(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads [`Self::to_stored`] back; `None` if it is something else.
    pub(crate) fn from_stored(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl TestCheck {
    fn new(check: Check) -> Self {
        let verdict = match check.verdict {
            CheckVerdict::Passed => TestVerdict::Passed,
            CheckVerdict::Failed => TestVerdict::Failed,
            CheckVerdict::Skipped => TestVerdict::Skipped,
        };
        Self { name: check.name.to_owned(), verdict, note: check.note }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_report_is_read_back_as_it_was_kept() {
        let check = |name, verdict| Check { name, verdict, note: "“quoted”, \"so\" to speak".to_owned() };
        let checks = vec![check("handshake", CheckVerdict::Passed), check("turn", CheckVerdict::Failed)];
        let spent = vec![Duration::from_millis(3), Duration::from_millis(4)];
        let report = Report::new("Ada", Duration::from_secs(10), checks, spent);
        let report = TestReport::new(report, vec!["g1".parse().unwrap()]);
        assert!(!report.passed);
        assert_eq!(TestReport::from_stored(&report.to_stored()), Some(report));
        assert_eq!(TestReport::from_stored("{}"), None);
    }
}
