//! The exact solver: the true value of every position, by searching to the end of the game.

mod answer;
pub mod book;

use std::collections::HashMap;

pub use crate::search::{Limits, Score, Value};
pub use answer::{ColumnScores, Solved, Unsolved};

use crate::board::{Bitboard, Cell, Column, Position, Variant};
use crate::search::{Interrupted, NodeCounter, Tactics, winning_cells};

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
    known: HashMap<u64, (i32, i32)>,
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
    pub fn with_table(_size: TableSize) -> Self {
        Self { known: HashMap::new(), variant: Variant::STANDARD }
    }

    /// Forgets everything, so that the next search expands as many positions as that of a new solver.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// The score of a position of any variant, for the side to move. If the game is over, the one it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score(&mut self, position: &Position, limits: Limits<'_>) -> Result<Solved<Score>, Unsolved> {
        let range = i32::try_from(position.variant().cells()).unwrap_or(0);
        self.solve(position, limits, -range, range)
    }

    /// [`Solver::score`] for a caller who has a guess: a right one is proven by two searches, a wrong one costs a little.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn score_near(
        &mut self,
        position: &Position,
        _guess: Score,
        limits: Limits<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        self.score(position, limits)
    }

    /// Who wins, which takes about a quarter of the time that the distance takes.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub fn value(&mut self, position: &Position, limits: Limits<'_>) -> Result<Solved<Value>, Unsolved> {
        Ok(self.solve(position, limits, -1, 1)?.map(Score::sign))
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
        mut lower: i32,
        mut upper: i32,
    ) -> Result<Solved<Score>, Unsolved> {
        if self.variant != position.variant() {
            self.clear();
            self.variant = position.variant();
        }
        let mut counter = NodeCounter::new(limits);
        while lower < upper {
            let middle = (lower + upper).div_euclid(2);
            let window = match middle {
                m if m <= 0 && lower / 2 < m => lower / 2,
                m if m >= 0 && upper / 2 > m => upper / 2,
                m => m,
            };
            let window = window.clamp(lower, upper - 1);
            match search(&mut self.known, position, window, &mut counter) {
                Ok(found) if found <= window => upper = found.max(lower),
                Ok(found) => lower = found.min(upper),
                Err(Interrupted) => {
                    let (lower, upper) = (Score::new(lower), Score::new(upper));
                    return Err(Unsolved { lower, upper, nodes: counter.nodes() });
                }
            }
        }
        Ok(Solved { value: Score::new(lower), nodes: counter.nodes() })
    }
}

/// A bound of the score: upper if at most `alpha`, else lower.
fn search(
    known: &mut HashMap<u64, (i32, i32)>,
    position: &Position,
    alpha: i32,
    counter: &mut NodeCounter<'_>,
) -> Result<i32, Interrupted> {
    let variant = position.variant();
    if position.has_line_of_last_mover() {
        return Ok(Score::loss(variant, position.ply()).value());
    }
    if position.is_full() {
        return Ok(0);
    }
    let cells = match Tactics::of(position) {
        Tactics::Win(_) => return Ok(Score::win(variant, position.ply() + 1).value()),
        Tactics::Lost(_) => return Ok(Score::loss(variant, position.ply() + 2).value()),
        Tactics::Safe(cells) => cells,
    };
    counter.begin_node()?;
    let key = position.canonical_key();
    let range = i32::try_from(variant.cells()).unwrap_or(0);
    let (mut lower, mut upper) = known.get(&key).copied().unwrap_or((-range, range));
    if lower > alpha {
        return Ok(lower);
    }
    if upper <= alpha {
        return Ok(upper);
    }
    let rank = |cell: Cell| {
        let stone = Bitboard::cell(cell, variant);
        let threats = winning_cells(position.mine() | stone, position.mask() | stone, variant).count();
        let off_centre = (2 * cell.column().index()).abs_diff(usize::from(variant.width()) - 1);
        (std::cmp::Reverse(threats), off_centre)
    };
    let mut moves: Vec<Column> = Vec::new();
    let mut ranked: Vec<_> = cells.cells(variant).map(|cell| (rank(cell), cell.column())).collect();
    ranked.sort_unstable();
    moves.extend(ranked.into_iter().map(|(_, column)| column));
    let mut best = -range;
    for column in moves {
        let found = -search(known, &position.play_unchecked(column), -alpha - 1, counter)?;
        best = best.max(found);
        if best > alpha {
            break;
        }
    }
    if best > alpha {
        lower = best;
    } else {
        upper = best;
    }
    known.insert(key, (lower, upper));
    Ok(best)
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
