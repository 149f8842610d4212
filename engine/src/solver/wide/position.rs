//! Stones plus who plays, on boards that fit 128 bits.

use super::variant::WideVariant;
use crate::board::{Column, IllegalMove};
use crate::game::ReplayError;
use crate::notation;
use crate::solver::geometry::Geometry;

/// What a [`crate::Position`] is, on a [`WideVariant`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WidePosition {
    variant: WideVariant,
    /// Stones of the side to move.
    mine: u128,
    /// Stones of both sides.
    mask: u128,
}

impl WidePosition {
    /// The empty board.
    pub fn new(variant: WideVariant) -> Self {
        Self { variant, mine: 0, mask: 0 }
    }

    /// The position after a move list such as `44353`; `-` and the empty string are the empty list.
    ///
    /// # Errors
    ///
    /// Fails if the text is no move list or a move breaks the rules.
    pub fn from_moves(variant: WideVariant, moves: &str) -> Result<Self, ReplayError> {
        let mut position = Self::new(variant);
        let columns = notation::parse_moves(moves).map_err(|error| error.on(variant.width()))?;
        for (column, number) in columns.into_iter().zip(1..) {
            position = position.play(column).map_err(|reason| ReplayError::Illegal { number, reason })?;
        }
        Ok(position)
    }

    pub const fn variant(&self) -> WideVariant {
        self.variant
    }

    /// Number of stones on the board.
    pub const fn ply(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Plays a stone for the side to move.
    ///
    /// # Errors
    ///
    /// Fails if the game is over, or the column is full or not on the board.
    pub fn play(self, column: Column) -> Result<Self, IllegalMove> {
        if self.is_over() {
            return Err(IllegalMove::GameOver);
        }
        if column.number() > self.variant.width() {
            return Err(IllegalMove::NoSuchColumn { column, width: self.variant.width() });
        }
        if self.landing(column) == 0 {
            return Err(IllegalMove::ColumnFull { column });
        }
        Ok(self.play_unchecked(column))
    }

    /// Plays a stone in a column that the caller knows to be open; the result is nonsense if it is not.
    pub fn play_unchecked(self, column: Column) -> Self {
        Self { variant: self.variant, mine: self.theirs(), mask: self.mask | self.landing(column) }
    }

    /// The columns that can be played, from the left: none once the game is over.
    pub fn legal_columns(&self) -> impl Iterator<Item = Column> + use<> {
        let position = *self;
        let is_over = self.is_over();
        let columns = (0..usize::from(self.variant.width())).filter_map(Column::from_index);
        columns.filter(move |&column| !is_over && position.landing(column) != 0)
    }

    /// Whether a side has a line or no cell is empty.
    pub fn is_over(&self) -> bool {
        let geometry = self.variant.geometry();
        geometry.has_line(self.theirs()) || self.mask == geometry.full()
    }

    pub(super) const fn mine(&self) -> u128 {
        self.mine
    }

    pub(super) const fn mask(&self) -> u128 {
        self.mask
    }

    /// Stones of the side that moved last.
    const fn theirs(&self) -> u128 {
        self.mask ^ self.mine
    }

    /// The cell on which a stone in `column`, which is on the board, would land; none if the column is full.
    fn landing(&self, column: Column) -> u128 {
        let geometry = self.variant.geometry();
        let lowest = 1 << (u32::from(column.number() - 1) * geometry.stride());
        geometry.playable(self.mask) & geometry.column_of(lowest)
    }
}
