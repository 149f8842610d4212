//! What came of a bridge: counts, and how long the server took.

use std::time::Duration;

use fourfold_engine::{Side, SideResult, WinDrawLoss};

use crate::model::result::GameResult;

/// What was played.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct BridgeSummary {
    /// Games that do not count are draws.
    pub(crate) score: WinDrawLoss,
    /// Games that were lost by a fault of the player.
    pub(crate) faults: u64,
    /// Errors that the server sent.
    pub(crate) refusals: u64,
    /// From sending each move to its acknowledgement.
    pub(crate) latencies: Vec<Duration>,
}

impl BridgeSummary {
    pub(super) fn count(&mut self, result: GameResult, side: Side) {
        self.score.count(SideResult::of(side, result.winner()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_from_the_bots_side() {
        let mut summary = BridgeSummary::default();
        summary.count(GameResult::First, Side::First);
        summary.count(GameResult::First, Side::Second);
        summary.count(GameResult::Void, Side::Second);
        assert_eq!(summary.score, WinDrawLoss { wins: 1, draws: 1, losses: 1 });
    }
}
