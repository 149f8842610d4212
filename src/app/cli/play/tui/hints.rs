//! Who gives hints: the exact solver, and a searching bot where that would take too long.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{Bot, BotError, BotSpec, MoveBudget, registry, think};
use fourfold_engine::search::SearchLimits;
use fourfold_engine::solver::{ColumnScores, Solver};
use fourfold_engine::{Column, Position, Variant};

use super::game::{MoveKnowledge, MoveReport};
use super::thinker::MoveChooser;

/// The bot that is asked where the solver gives up.
pub(super) const ESTIMATOR: &str = "alphabeta";

/// A second is what people wait for gladly.
const ESTIMATE_MS: u64 = 1000;

/// Positions that the solver may expand: one or two seconds. On 7x6 that is enough from about the eighth move on.
const SOLVER_NODES_MAX: u64 = 3_000_000;

/// Finds the best move, exactly if it can.
pub(super) struct Adviser {
    solver: Solver,
    estimator: Box<dyn Bot>,
}

impl Adviser {
    /// An adviser for games of `variant`.
    ///
    /// # Errors
    ///
    /// Fails if the estimator does not play it.
    pub(super) fn new(variant: Variant) -> Result<Self, BotError> {
        let estimator = registry::build(&BotSpec::new(ESTIMATOR).with("ms", ESTIMATE_MS), variant)?;
        Ok(Self { solver: Solver::new(), estimator })
    }
}

impl MoveChooser for Adviser {
    fn think(&mut self, position: &Position, stop: &AtomicBool) -> Result<MoveReport, BotError> {
        let limits = SearchLimits { nodes: Some(SOLVER_NODES_MAX), stop };
        let solved = self.solver.column_scores(position, limits);
        if let Some(report) = solved.ok().and_then(|solved| exact(position, &solved.value)) {
            return Ok(report);
        }
        let budget = MoveBudget::default();
        think::choose_unless_stopped(&mut *self.estimator, position, budget, stop).map(MoveReport::from)
    }
}

/// The best column, of equal ones the one nearest to the middle; `None` if the game is over.
fn exact(position: &Position, scores: &ColumnScores) -> Option<MoveReport> {
    let score = scores.best()?;
    let width = usize::from(position.variant().width());
    // Twice the distance, to stay in whole numbers: the middle of an even board is between two columns.
    let from_middle = |column: &Column| (2 * column.index() + 1).abs_diff(width);
    let column = scores.best_columns().min_by_key(from_middle)?;
    Some(MoveReport { column, known: MoveKnowledge::Exactly(score) })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    #[test]
    fn a_position_that_can_be_solved_gets_an_exact_hint() {
        let game = Game::from_moves(Variant::STANDARD, "121314").unwrap();
        let mut adviser = Adviser::new(Variant::STANDARD).unwrap();
        let report = adviser.think(game.position(), &AtomicBool::new(false)).unwrap();
        assert_eq!(report.column.number(), 1);
        assert!(matches!(report.known, MoveKnowledge::Exactly(score) if score.value() == 18), "{report:?}");
    }

    #[test]
    fn a_stopped_adviser_gives_an_estimate_at_once() {
        let position = Position::new(Variant::STANDARD);
        let report =
            Adviser::new(Variant::STANDARD).unwrap().think(&position, &AtomicBool::new(true)).unwrap();
        assert!(!matches!(report.known, MoveKnowledge::Exactly(_)));
    }
}
