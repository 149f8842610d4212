//! The exact solver: the true value of any position, found by searching to the end of the game.
//!
//! [`Solver::score`] is the distance too, [`Solver::value`] only who wins, [`Solver::column_scores`] the score of each
//! move. The answer never depends on limits, tables or threads; only how long it takes does.
//!
//! # How it works
//!
//! A score is narrowed by searches with a null window (`root`). A search (`search`) knows only positions with a free
//! choice: forced lines are played out at once (`node`). Of each child it takes first what the rules of the game and
//! two strategic arguments prove (`bounds`), then what the `table` remembers, and only then searches those that are
//! left, the most promising first (`order`). `geometry` has the boards as bits, `processor` knows what the
//! machine has.
//!
//! All of it is written once for two sizes of a `word`: 64 bits for the boards that are played, whose answers a
//! [`Solver`] gives, and 128 for [`wide`] ones. What both solvers share is in `prover`.
//!
//! Threads, if there are several, search the same window with the same table, each in an order of its own; the first
//! that finishes answers ("lazy SMP").
//!
//! # What was tried
//!
//! Beside what the modules name, on begin-medium, each against the search of its time:
//!
//! - Prefetching the children's places in the table: a third less time. Nothing else in the code is worth as much: half
//!   of the time went into waiting for memory.
//! - Children on one stack rather than in an array of each node, which has to be filled first: a quarter less time.
//! - Tables of 1, 2 and 4 MiB: 155.5k, 154.0k, 153.6k nodes.
//! - Compiling for the processor at hand (AVX-512 and all): no less time than with the `Instructions` of 2013, which
//!   are chosen at run time where they are there.

mod answer;
pub mod book;
mod bounds;
mod bucket;
mod geometry;
mod meter;
mod node;
mod order;
mod plain_bucket;
mod processor;
mod prover;
mod root;
mod search;
mod table;
mod versioned_bucket;
pub mod wide;
mod word;

use std::num::NonZeroUsize;

pub use crate::search::{Score, SearchLimits, Value};
pub use answer::{ColumnScores, Solved, Unsolved};
pub use table::TableSize;

use crate::board::{Column, Position, Variant};
use bucket::KnownBounds;
use geometry::{AnySize, Standard};
use prover::{ANY_SCORE, Ask, Prover, Subject};

/// Solves positions one after the other. What it finds out about one serves the next, which changes node counts
/// but never an answer.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use fourfold_engine::solver::{SearchLimits, Score, Solver};
/// use fourfold_engine::{Game, Variant};
///
/// let game = Game::from_moves(Variant::STANDARD, "34764727117542")?;
/// let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
/// let solved = Solver::new().score(game.position(), limits)?;
/// assert_eq!(solved.value.sign().to_string(), "win");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Solver {
    prover: Prover<u64>,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
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

    /// Forgets everything, so that the next search expands as many positions as that of a new solver.
    pub fn clear(&mut self) {
        self.prover.clear();
    }

    /// Forgets everything and gives the memory back, until the next search.
    pub fn release(&mut self) {
        self.prover.release();
    }

    /// Memory held for what was found out.
    pub fn bytes(&self) -> usize {
        self.prover.bytes()
    }

    /// The score of a position of any variant, for the side to move. If the game is over, the one it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        position.solve(&mut self.prover, Ask::score(limits))
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
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        position.solve(&mut self.prover, Ask { guess: Some(guess), ..Ask::score(limits) })
    }

    /// [`Solver::score`] for a caller who knows that it is at least so much, as whoever knows the score of one move
    /// does.
    /// Mostly it is no more, and one search proves that.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score_from(
        &mut self,
        position: &Position,
        at_least: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        let known = KnownBounds { lower: at_least.value(), ..ANY_SCORE };
        position.solve(&mut self.prover, Ask { limits, known, guess: Some(at_least) })
    }

    /// Whether the score of a position is above `alpha`: the one search of which all others are made.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search; nothing is known then.
    pub fn is_above(
        &mut self,
        position: &Position,
        alpha: Score,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<bool>, Unsolved> {
        let alpha = alpha.value();
        let known = KnownBounds { lower: alpha, upper: alpha + 1 };
        let found = position.solve(&mut self.prover, Ask { known, ..Ask::score(limits) })?;
        Ok(found.map(|score| score.value() > alpha))
    }

    /// Who wins, which takes about a quarter of the time that the distance takes.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then, as far as they are from -1 to
    /// 1.
    pub fn value(
        &mut self,
        position: &Position,
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
        position: &Position,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<ColumnScores>, Unsolved> {
        self.prover.column_scores(position, limits)
    }
}

impl Subject for Position {
    type Word = u64;

    fn legal_columns(&self) -> impl Iterator<Item = Column> {
        self.legal_columns()
    }

    fn after(&self, column: Column) -> Self {
        self.play_unchecked(column)
    }

    fn solve(&self, prover: &mut Prover<u64>, ask: Ask<'_>) -> Result<Solved<Score>, Unsolved> {
        let (mine, mask) = (self.mine().bits(), self.mask().bits());
        if self.variant() == Variant::STANDARD {
            prover.solve_on(Standard, mine, mask, ask)
        } else {
            prover.solve_on(AnySize::of(self.variant()), mine, mask, ask)
        }
    }
}

#[cfg(test)]
mod tests;
