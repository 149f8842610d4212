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
//! left, the most promising first (`order`). `geometry` has the boards as bits, `processor` the one instruction that
//! Rust does not have.
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
//! - Compiling for the processor at hand (AVX-512 and all): 5 to 10 % less time, so that no code is chosen at run time.

mod answer;
pub mod book;
mod bounds;
mod geometry;
mod meter;
mod node;
mod order;
mod processor;
mod root;
mod search;
mod table;

use std::num::NonZeroUsize;

pub use crate::search::{Score, SearchLimits, Value};
pub use answer::{ColumnScores, Solved, Unsolved};

use crate::board::{Column, Position, Variant};
use geometry::{AnySize, Geometry, Standard};
use node::Node;
use root::Root;
use table::{BoundsTable, KnownBounds};

/// Memory for a transposition table, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableSize {
    bytes: usize,
}

impl TableSize {
    /// 4 MiB, which is also the least. From about five stones on, more makes no search of 7x6 faster.
    pub const DEFAULT: Self = Self { bytes: BoundsTable::BYTES_MIN };

    /// A size in units of 2^20 bytes. The greatest power of two that is not larger is used, but no less than
    /// [`TableSize::DEFAULT`].
    pub fn from_mib(mib: u32) -> Self {
        Self { bytes: (mib as usize).saturating_mul(1 << 20).max(Self::DEFAULT.bytes) }
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
    /// `None` until the first search, so that a solver that is never asked costs nothing.
    table: Option<BoundsTable>,
    size: TableSize,
    threads: NonZeroUsize,
    /// The variant whose positions are in the table.
    variant: Variant,
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
        Self { table: None, size, threads: NonZeroUsize::MIN, variant: Variant::STANDARD }
    }

    /// The same with more threads, the caller's among them. Node counts then differ from run to run.
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Forgets everything, so that the next search expands as many positions as that of a new solver.
    pub fn clear(&mut self) {
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }

    /// Forgets everything and gives the memory back, until the next search.
    pub fn release(&mut self) {
        self.table = None;
    }

    /// Memory held for what was found out.
    pub fn bytes(&self) -> usize {
        self.table.as_ref().map_or(0, BoundsTable::bytes)
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
        self.solve(position, limits, ANY_SCORE, None)
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
        self.solve(position, limits, ANY_SCORE, Some(guess))
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
        self.solve(position, limits, KnownBounds { lower: at_least.value(), ..ANY_SCORE }, Some(at_least))
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
        let window = KnownBounds { lower: alpha, upper: alpha + 1 };
        Ok(self.solve(position, limits, window, None)?.map(|score| score.value() > alpha))
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
        Ok(self.solve(position, limits, ANY_SIGN, None)?.map(Score::sign))
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
        // The best score first: no column is above it, and the table then knows a lot about all of them.
        let best = self.score(position, limits)?;
        let mut nodes = best.nodes;
        let mut scored: Vec<(Column, Score)> = Vec::new();
        for column in position.legal_columns() {
            let left = limits.after(nodes);
            let known = KnownBounds { lower: -best.value.value(), ..ANY_SCORE };
            match self.solve(&position.play_unchecked(column), left, known, None) {
                Ok(solved) => {
                    nodes += solved.nodes;
                    scored.push((column, -solved.value));
                }
                Err(unsolved) => {
                    let nodes = nodes + unsolved.nodes;
                    return Err(Unsolved { lower: best.value, upper: best.value, nodes });
                }
            }
        }
        Ok(Solved { value: scored.into_iter().collect(), nodes })
    }

    fn solve(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
        known: KnownBounds,
        guess: Option<Score>,
    ) -> Result<Solved<Score>, Unsolved> {
        if position.variant() == Variant::STANDARD {
            self.solve_in(Standard, position, limits, known, guess)
        } else {
            self.solve_in(AnySize::new(position.variant()), position, limits, known, guess)
        }
    }

    /// The score of a position as far as it is within the bounds `known`, else the nearer of them.
    fn solve_in<G: Geometry>(
        &mut self,
        geometry: G,
        position: &Position,
        limits: SearchLimits<'_>,
        known: KnownBounds,
        guess: Option<Score>,
    ) -> Result<Solved<Score>, Unsolved> {
        let variant = position.variant();
        if position.has_line_of_last_mover() {
            let score = Score::loss(variant, position.ply()).value().clamp(known.lower, known.upper);
            return Ok(Solved { value: Score::new(score), nodes: 0 });
        }
        let threads = self.threads;
        let table = self.table_of(variant, geometry.key_bits());
        let mut root = Root { geometry, table, limits, threads, nodes: 0 };
        let node = Node::new(geometry, position.mine().bits(), position.mask().bits());
        match root.solve(node, known, guess.map(Score::value)) {
            Ok(score) => Ok(Solved { value: Score::new(score), nodes: root.nodes }),
            Err(KnownBounds { lower, upper }) => {
                let (lower, upper) = (Score::new(lower), Score::new(upper));
                Err(Unsolved { lower, upper, nodes: root.nodes })
            }
        }
    }

    /// The table, emptied if it is that of another variant.
    fn table_of(&mut self, variant: Variant, key_bits: u32) -> &BoundsTable {
        if self.variant != variant {
            self.variant = variant;
            match &mut self.table {
                Some(table) if table.is_for(key_bits) => table.clear(),
                table => *table = None,
            }
        }
        self.table.get_or_insert_with(|| BoundsTable::new(self.size.bytes, key_bits))
    }
}

/// Beyond every score of every variant.
const ANY_SCORE: KnownBounds = KnownBounds { lower: -31, upper: 31 };
/// What tells a win from a draw and a loss.
const ANY_SIGN: KnownBounds = KnownBounds { lower: -1, upper: 1 };

#[cfg(test)]
mod tests;
