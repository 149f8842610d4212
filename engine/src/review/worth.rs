//! What positions are worth, as far as sums of verdicts need it.

use super::judge::Judge;
use crate::board::{Column, Position};
use crate::search::{Score, SearchLimits, Value};
use crate::solver::{Solved, Unsolved};

/// What a [`Skill`](super::Skill) counts of a position before a move: a fraction of the work that the scores of all its
/// columns are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worth {
    /// The score of the best columns, for the side to move.
    pub score: Score,
    /// Whether some legal move throws away the position's value.
    pub is_decision: bool,
}

impl Worth {
    /// Whether the position is worth as much after a move with this score: a win, a draw or a loss.
    pub fn is_kept_by(&self, after: Score) -> bool {
        self.score.sign() == after.sign()
    }
}

impl Judge {
    /// What a position is worth in which the game goes on. `at_least` is the score of one of its moves: mostly the
    /// best.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with bounds of the score.
    pub fn worth(
        &mut self,
        position: &Position,
        at_least: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Worth>, Unsolved> {
        let Solved { value: score, nodes } = self.score_from(position, at_least, limits)?;
        let is_decided_by_that_move = at_least.sign() != score.sign();
        if is_decided_by_that_move {
            return Ok(Solved { value: Worth { score, is_decision: true }, nodes });
        }
        let left = limits.after(nodes);
        match self.has_mistake(position, score.sign(), left) {
            Ok(found) => {
                let worth = Worth { score, is_decision: found.value };
                Ok(Solved { value: worth, nodes: nodes + found.nodes })
            }
            Err(unsolved) => Err(Unsolved { lower: score, upper: score, nodes: nodes + unsolved.nodes }),
        }
    }

    /// Whether some legal move throws away the value of a position, which is known: whether it is a decision.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search; nothing is known then.
    pub fn has_mistake(
        &mut self,
        position: &Position,
        value: Value,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<bool>, Unsolved> {
        let none = |nodes| Ok(Solved { value: false, nodes });
        // What keeps a win scores 1 at least, what keeps a draw 0.
        let kept_from = match value {
            Value::Win => Score::new(1),
            Value::Draw => Score::DRAW,
            Value::Loss => return none(0),
        };
        let mut nodes = 0;
        for column in likely_mistakes_first(position) {
            let left = limits.after(nodes);
            let keeps = self.scores_at_least(position, column, kept_from, left)?;
            nodes += keeps.nodes;
            if !keeps.value {
                return Ok(Solved { value: true, nodes });
            }
        }
        none(nodes)
    }

    /// Whether a legal move scores so much or more, for the side that makes it.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search; nothing is known then.
    pub fn scores_at_least(
        &mut self,
        position: &Position,
        column: Column,
        score: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<bool>, Unsolved> {
        let child = position.play_unchecked(column);
        // It does unless the other side has more than its opposite.
        Ok(self.is_above(&child, -score, limits)?.map(|is_above| !is_above))
    }
}

/// The legal columns: those that let the other side win at once, then from the edges to the middle.
fn likely_mistakes_first(position: &Position) -> impl Iterator<Item = Column> + use<> {
    let last = usize::from(position.variant().width()) - 1;
    let mut columns: Vec<(bool, usize, Column)> = position
        .legal_columns()
        .map(|column| {
            let loses_at_once = position.play_unchecked(column).winning_columns().next().is_some();
            let from_edge = column.index().min(last - column.index());
            (!loses_at_once, from_edge, column)
        })
        .collect();
    columns.sort_unstable();
    columns.into_iter().map(|(_, _, column)| column)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rand::seq::IteratorRandom;

    use super::*;
    use crate::board::Variant;
    use crate::game::Game;
    use crate::rng;
    use crate::solver::Solver;

    /// A random game to its end.
    fn game(seed: u64) -> Game {
        let mut rng = rng::seeded(seed);
        let mut game = Game::new(Variant::STANDARD);
        while game.outcome().is_none() {
            let column = game.position().legal_columns().choose(&mut rng).unwrap();
            game.play(column).unwrap();
        }
        game
    }

    #[test]
    fn it_is_what_the_scores_of_all_columns_say() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &stop };
        let (mut all, mut judge) = (Judge::new(Solver::new()), Judge::new(Solver::new()));
        let mut decisions = 0;
        for seed in 0..40 {
            let mut game = game(seed);
            while game.ply() > 6 {
                game.undo();
                if game.ply() < 16 && game.ply() > 7 {
                    continue; // takes its time, and is no different
                }
                let scores = all.column_scores(game.position(), limits).unwrap().value;
                let best = scores.best().unwrap();
                let is_decision = scores.iter().any(|(_, score)| score.sign() != best.sign());
                decisions += u32::from(is_decision);
                for (column, score) in scores.iter() {
                    let worth = judge.worth(game.position(), score, limits).unwrap().value;
                    assert_eq!(worth, Worth { score: best, is_decision }, "{} {column}", game.notation());
                    for other in -3..=3 {
                        let other = Score::new(other);
                        let is_above = judge.scores_at_least(game.position(), column, other, limits);
                        assert_eq!(is_above.unwrap().value, score >= other, "{score} {other}");
                    }
                }
            }
        }
        assert!(decisions > 50, "{decisions}");
    }

    #[test]
    fn a_budget_that_is_spent_ends_it() {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: Some(100), stop: &stop };
        let game = Game::from_moves(Variant::STANDARD, "635211145114").unwrap();
        let unsolved = Judge::new(Solver::new()).worth(game.position(), Score::new(-9), limits).unwrap_err();
        assert!(unsolved.nodes <= 100 && unsolved.lower <= unsolved.upper);
    }

    #[test]
    fn mistakes_are_looked_for_where_they_are_likely() {
        // The first side threatens column 1: every other move loses at once.
        let game = Game::from_moves(Variant::STANDARD, "12121").unwrap();
        let order: Vec<u8> = likely_mistakes_first(game.position()).map(Column::number).collect();
        assert_eq!(order, [7, 2, 6, 3, 5, 4, 1]);
    }
}
