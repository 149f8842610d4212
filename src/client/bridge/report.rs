//! What came of a bridge: counts, and how long the server took.

use std::time::Duration;

use fourfold_engine::Side;

use crate::model::result::GameResult;

/// What was played.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct BridgeSummary {
    pub games: u64,
    pub wins: u64,
    /// Draws, and games that do not count.
    pub draws: u64,
    pub losses: u64,
    /// Games that were lost by a fault of the player.
    pub faults: u64,
    /// Errors that the server sent.
    pub refusals: u64,
    /// From sending each move to its acknowledgement.
    pub latencies: Vec<Duration>,
}

impl BridgeSummary {
    pub(super) fn count(&mut self, result: GameResult, side: Side) {
        self.games += 1;
        match (result, side) {
            (GameResult::First, Side::First) | (GameResult::Second, Side::Second) => self.wins += 1,
            (GameResult::First, Side::Second) | (GameResult::Second, Side::First) => self.losses += 1,
            (GameResult::Draw | GameResult::Void, _) => self.draws += 1,
        }
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
        assert_eq!((summary.games, summary.wins, summary.draws, summary.losses), (3, 1, 1, 1));
    }
}
