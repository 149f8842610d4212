//! What speeds a search up without changing its values.

use super::window::{Bound, Window};
use crate::board::{Column, Position, Variant};

/// Says in which order a search looks at moves, which it need not look at, and what it found before.
///
/// Whatever a guide does, the value of a search stays that of plain negamax. Only a guide that leaves out no
/// move and recalls nothing keeps the principal variation too.
pub trait Guide {
    /// Whether moves after the first are tried with a null window first: it pays if the first is mostly best.
    const NULL_WINDOWS: bool = false;

    /// What is known of `position` searched `depth` plies ahead. A value that is recalled ends the search of
    /// the position, so it must be good enough for `window`: exact, ≤ alpha and an upper bound, or ≥ beta and
    /// a lower bound.
    fn recall(&mut self, _position: &Position, _depth: u32, _window: Window) -> Recalled {
        Recalled::default()
    }

    /// The moves to search, at least one. `depth` is at least 1 and the game goes on; a move may be left out
    /// if it is no better than one that stays, in a search of this depth.
    fn moves(&mut self, position: &Position, depth: u32, best_before: Option<Column>) -> Moves;

    /// Takes note of what a search found.
    fn remember(&mut self, _position: &Position, _finding: Finding) {}
}

/// What a guide knows of a position.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Recalled {
    pub value: Option<i32>,
    /// The move that was best when the position was searched before, maybe to another depth.
    pub best: Option<Column>,
}

/// What a search found out about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    pub depth: u32,
    /// For the side to move.
    pub value: i32,
    pub bound: Bound,
    /// The best move, or the one that was good enough to end the search.
    pub best: Column,
}

/// A few columns in the order in which they are to be searched.
#[derive(Clone, Copy, Debug)]
pub struct Moves {
    columns: [Column; Variant::MAX_WIDTH as usize],
    count: usize,
}

impl Moves {
    pub const NONE: Self =
        Self { columns: [Column::new_unchecked(0); Variant::MAX_WIDTH as usize], count: 0 };

    /// Adds a column at the end. No column may be added twice.
    #[inline]
    pub fn push(&mut self, column: Column) {
        self.columns[self.count] = column;
        self.count += 1;
    }

    /// Adds a column before all of lower rank and behind all others. `ranks` holds the ranks of those so far,
    /// all of which were added in this way.
    #[inline]
    pub(super) fn insert_by_rank(
        &mut self,
        column: Column,
        rank: u32,
        ranks: &mut [u32; Variant::MAX_WIDTH as usize],
    ) {
        let mut place = self.count;
        while place > 0 && ranks[place - 1] < rank {
            (self.columns[place], ranks[place]) = (self.columns[place - 1], ranks[place - 1]);
            place -= 1;
        }
        (self.columns[place], ranks[place]) = (column, rank);
        self.count += 1;
    }

    pub fn as_slice(&self) -> &[Column] {
        &self.columns[..self.count]
    }
}

impl FromIterator<Column> for Moves {
    fn from_iter<I: IntoIterator<Item = Column>>(columns: I) -> Self {
        let mut moves = Self::NONE;
        columns.into_iter().for_each(|column| moves.push(column));
        moves
    }
}
