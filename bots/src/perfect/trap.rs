//! Where the solver finds moves equal in value, the one that is hardest to answer.
//!
//! A trap is a position in which most of those who have to move go wrong. How likely that is, is what [`Level`] says of
//! players of some strength: they see what a reply leads to only if it is near, and take the rest for open. So a trap
//! is worth the chance that such a player gives value away in it: a fork that everybody sees is none, a quiet position
//! with one reply among seven, whose reason lies twelve plies ahead, is a good one.

use fourfold_engine::solver::{ColumnScores, Score};
use fourfold_engine::{Column, Position};

use super::level::Level;

/// Strengths for which traps are set, each with its share: beginners, who fall for anything, and those who are hard to
/// trap.
const LEVELS: [(u32, f64); 3] = [(4, 0.3), (8, 0.4), (12, 0.3)];

/// The columns that keep the value of a position, win, draw or loss, from the left.
pub(super) fn keeping(scores: &ColumnScores) -> impl Iterator<Item = (Column, Score)> + use<'_> {
    let best = scores.best().map(Score::sign);
    scores.iter().filter(move |(_, score)| Some(score.sign()) == best)
}

/// How likely whoever is to move in a position with these scores gives value away, from 0 to 1: the mean of some
/// strengths.
pub(super) fn worth(position: &Position, scores: &ColumnScores) -> f64 {
    let chance = |level| Level::new(level).map_or(0.0, |level| level.chance_to_err(position, scores));
    LEVELS.iter().map(|&(level, share)| share * chance(level)).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::review::Judge;
    use fourfold_engine::search::SearchLimits;
    use fourfold_engine::solver::Solver;
    use fourfold_engine::{Game, Variant};

    use super::*;

    fn worth_of(moves: &str) -> f64 {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let scores = Judge::new(Solver::new()).column_scores(game.position(), limits).unwrap().value;
        worth(game.position(), &scores)
    }

    #[test]
    fn a_threat_that_everybody_sees_is_no_trap_and_a_position_that_is_lost_is_none_at_all() {
        let seen = worth_of("41424"); // three on each other: to be parried at once
        assert!(seen < 0.2, "{seen}");
        let lost = worth_of("31415"); // three in the middle, open on both sides
        assert!(lost < 1e-9, "nothing is left to give away: {lost}");
        let quiet = worth_of("44"); // the first side wins by one column alone, for reasons far away
        assert!(quiet > 0.5, "{quiet}");
    }
}
