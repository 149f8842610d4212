//! The exact solver: the true value of every position, by searching to the end of the game.

mod answer;
pub mod book;
mod bounds;
mod geometry;
mod node;
mod order;
mod processor;
mod search;
mod table;

pub use crate::search::{Limits, Score, Value};
pub use answer::{ColumnScores, Solved, Unsolved};

use crate::board::{Position, Variant};
use crate::search::{Interrupted, NodeCounter};
use geometry::{AnySize, Geometry, Standard};
use node::{Node, Settled};
use search::Search;
use table::Table;

/// Memory for a transposition table, rounded down to a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableSize {
    bytes: usize,
}

impl TableSize {
    /// 4 MiB: from about five stones on, more makes no search faster.
    pub const DEFAULT: Self = Self { bytes: 4 << 20 };

    /// A size in units of 2^20 bytes; at least 4 MiB are used.
    #[must_use]
    pub fn from_mib(mib: u32) -> Self {
        Self { bytes: (mib as usize) << 20 }
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }
}

impl Default for TableSize {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Solves positions one after the other. What it finds out about one serves the next, which changes node counts
/// but never an answer.
#[derive(Debug)]
pub struct Solver {
    table: Option<Table>,
    size: TableSize,
    variant: Variant,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver with a table of [`TableSize::DEFAULT`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_table(TableSize::DEFAULT)
    }

    /// A solver with a table of this size. Memory is taken by the first search.
    #[must_use]
    pub fn with_table(size: TableSize) -> Self {
        Self { table: None, size, variant: Variant::STANDARD }
    }

    /// Forgets everything, so that the next search expands as many positions as that of a new solver.
    pub fn clear(&mut self) {
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }

    /// The score of a position of any variant, for the side to move. If the game is over, the one it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score(&mut self, position: &Position, limits: Limits<'_>) -> Result<Solved<Score>, Unsolved> {
        let range = i32::try_from(position.variant().cells()).unwrap_or(0);
        self.solve(position, limits, -range, range, None)
    }

    /// [`Solver::score`] for a caller who has a guess: a right one is proven by two searches, a wrong one costs a
    /// little more than none.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score_near(
        &mut self,
        position: &Position,
        guess: Score,
        limits: Limits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        let range = i32::try_from(position.variant().cells()).unwrap_or(0);
        self.solve(position, limits, -range, range, Some(guess))
    }

    /// Who wins, which takes about a quarter of the time that the distance takes.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn value(&mut self, position: &Position, limits: Limits<'_>) -> Result<Solved<Value>, Unsolved> {
        Ok(self.solve(position, limits, -1, 1, None)?.map(Score::sign))
    }

    /// The score of each legal move, for the side that makes it: none if the game is over.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds of the position's score that were proven until then.
    pub fn column_scores(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Solved<ColumnScores>, Unsolved> {
        let mut nodes = 0;
        let mut scored = Vec::new();
        for column in position.legal_columns() {
            let left = Limits { nodes: limits.nodes.map(|all| all.saturating_sub(nodes)), ..limits };
            let solved = self.score(&position.play_unchecked(column), left)?;
            nodes += solved.nodes;
            scored.push((column, -solved.value));
        }
        Ok(Solved { value: scored.into_iter().collect(), nodes })
    }

    fn solve(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
        lower: i32,
        upper: i32,
        guess: Option<Score>,
    ) -> Result<Solved<Score>, Unsolved> {
        if self.variant != position.variant() {
            self.clear();
            self.variant = position.variant();
        }
        if position.variant() == Variant::STANDARD {
            self.solve_in(Standard, position, limits, lower, upper, guess)
        } else {
            self.solve_in(AnySize::new(position.variant()), position, limits, lower, upper, guess)
        }
    }

    fn solve_in<G: Geometry>(
        &mut self,
        g: G,
        position: &Position,
        limits: Limits<'_>,
        mut lower: i32,
        mut upper: i32,
        guess: Option<Score>,
    ) -> Result<Solved<Score>, Unsolved> {
        let counter = NodeCounter::new(limits);
        if position.has_line_of_last_mover() {
            return Ok(Solved { value: Score::loss(position.variant(), position.ply()), nodes: 0 });
        }
        let root = Node::new(g, position.mine().bits(), position.mask().bits());
        let (node, moves, flipped) = match root.settle(g) {
            Settled::Known(score) => {
                return Ok(Solved { value: Score::new(score.clamp(lower, upper)), nodes: 0 });
            }
            Settled::Open { node, moves, flipped } => (node, moves, flipped),
        };
        if flipped {
            (lower, upper) = (-upper, -lower);
        }
        let known = bounds::of(g, &node);
        lower = lower.max(known.lower);
        upper = upper.min(known.upper).max(lower);
        let sign = |score: i32| Score::new(if flipped { -score } else { score });
        let guess = guess.map(|guess| if flipped { -guess.value() } else { guess.value() });
        let table = self.table.get_or_insert_with(|| Table::new(self.size.bytes()));
        let mut search = Search { geometry: g, table, counter, stack: Vec::with_capacity(64 * 12) };
        while lower < upper {
            let middle = (lower + upper).div_euclid(2);
            let window = match middle {
                m if m <= 0 && lower / 2 < m => lower / 2,
                m if m >= 0 && upper / 2 > m => upper / 2,
                m => m,
            };
            // A guess is proven from below, then from above; once it is refuted the range is halved as ever.
            let window = match guess {
                Some(guess) if guess > lower && guess <= upper => guess - 1,
                Some(guess) if guess == lower => guess,
                Some(_) | None => window,
            };
            let window = window.clamp(lower, upper - 1);
            match search.search(&node, moves, window) {
                Ok(found) if found <= window => upper = found.max(lower),
                Ok(found) => lower = found.min(upper),
                Err(Interrupted) => {
                    let (lower, upper) = (sign(lower), sign(upper));
                    return Err(Unsolved {
                        lower: lower.min(upper),
                        upper: lower.max(upper),
                        nodes: search.counter.nodes(),
                    });
                }
            }
        }
        Ok(Solved { value: sign(lower), nodes: search.counter.nodes() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::game::Game;

    #[test]
    fn a_win_at_the_end_is_found() {
        let game = Game::from_moves(Variant::STANDARD, "121212").unwrap();
        let stop = AtomicBool::new(false);
        let mut solver = Solver::new();
        let limits = Limits { nodes: None, stop: &stop };
        assert_eq!(solver.score(game.position(), limits).unwrap().value, Score::new(18));
    }
}
