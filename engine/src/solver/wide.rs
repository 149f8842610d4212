//! Boards above 64 bits, which only the solver knows: positions for it, and their scores.
//!
//! They cannot be played here, nor do bots know them, so what they have in common with a [`crate::Position`] ends with
//! moves and scores. [`WideVariant`] says which boards there are. The small ones are among them, so that both sizes of
//! a word can be held against each other.

mod position;
mod variant;

use std::num::NonZeroUsize;

pub use position::WidePosition;
pub use variant::{WideVariant, WideVariantError};

use super::answer::{ColumnScores, Solved, Unsolved};
use super::prover::{Ask, Prover, Subject};
use super::table::TableSize;
use crate::board::Column;
use crate::search::{Score, SearchLimits, Value};

/// What [`crate::solver::Solver`] is for boards of 64 bits: solves positions one after the other, and remembers.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use fourfold_engine::solver::wide::{WidePosition, WideSolver, WideVariant};
/// use fourfold_engine::solver::SearchLimits;
///
/// let variant: WideVariant = "8x8".parse()?;
/// let position = WidePosition::from_moves(variant, "121212")?;
/// let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
/// let solved = WideSolver::new().score(&position, limits)?;
/// assert_eq!(solved.value.value(), 29); // a win with the fourth of 32 stones
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WideSolver {
    prover: Prover<u128>,
}

impl Default for WideSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl WideSolver {
    /// A solver with a table of [`TableSize::DEFAULT`] and one thread.
    pub fn new() -> Self {
        Self::with_table(TableSize::DEFAULT)
    }

    /// A solver with a table of this size and one thread.
    pub fn with_table(size: TableSize) -> Self {
        Self { prover: Prover::new(size) }
    }

    /// The same with more threads, the caller's among them. Node counts then differ from run to run.
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { prover: self.prover.with_threads(threads) }
    }

    /// The score of a position, for the side to move. If the game is over, the one it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score(
        &mut self,
        position: &WidePosition,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        position.solve(&mut self.prover, Ask::score(limits))
    }

    /// Who wins.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then, as far as they are from -1 to
    /// 1.
    pub fn value(
        &mut self,
        position: &WidePosition,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Value>, Unsolved> {
        self.prover.value(position, limits)
    }

    /// The score of each legal move, for the side that makes it: none if the game is over.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds of the position's score that were proven until then.
    pub fn column_scores(
        &mut self,
        position: &WidePosition,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<ColumnScores>, Unsolved> {
        self.prover.column_scores(position, limits)
    }
}

impl Subject for WidePosition {
    type Word = u128;

    fn legal_columns(&self) -> impl Iterator<Item = Column> {
        self.legal_columns()
    }

    fn after(&self, column: Column) -> Self {
        self.play_unchecked(column)
    }

    fn solve(&self, prover: &mut Prover<u128>, ask: Ask<'_>) -> Result<Solved<Score>, Unsolved> {
        prover.solve_on(self.variant().geometry(), self.mine(), self.mask(), ask)
    }
}

#[cfg(test)]
mod tests;
