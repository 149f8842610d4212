//! One place on the board.

use std::fmt;
use std::str::FromStr;

use super::{Column, Variant};

/// A cell, printed as in `d1`: column letter from the left, row number from the bottom.
///
/// A cell knows no board; [`Cell::is_on`] asks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    column: Column,
    row: u8,
}

impl Cell {
    /// The cell of `column` in the row at `row_index`, counted from 0 at the bottom; `None` above the tallest
    /// board.
    pub fn new(column: Column, row_index: usize) -> Option<Self> {
        let row = u8::try_from(row_index).ok().filter(|&row| row < Variant::MAX_HEIGHT)?;
        Some(Self { column, row })
    }

    /// The cell with the wire's `[column, row]`, both counted from 1; `None` if no board has it.
    pub fn from_numbers([column, row]: [u8; 2]) -> Option<Self> {
        Self::new(Column::from_number(column)?, usize::from(row.checked_sub(1)?))
    }

    pub fn column(self) -> Column {
        self.column
    }

    /// Counted from 0 at the bottom.
    pub fn row_index(self) -> usize {
        usize::from(self.row)
    }

    /// Counted from 1 at the bottom.
    pub fn row_number(self) -> u8 {
        self.row + 1
    }

    /// `[column, row]`, both counted from 1, row 1 at the bottom: the wire's form.
    pub fn numbers(self) -> [u8; 2] {
        [self.column.number(), self.row_number()]
    }

    /// Whether a board of this variant has the cell.
    pub fn is_on(self, variant: Variant) -> bool {
        variant.has_column(self.column) && self.row < variant.height()
    }

    /// The cell's bit in a [`super::Bitboard`]. The cell must be on the board.
    pub(super) fn bit_index(self, variant: Variant) -> u32 {
        debug_assert!(self.is_on(variant), "{self} is not on {variant}");
        self.column.shift(variant) + u32::from(self.row)
    }

    /// Reverses [`Cell::bit_index`] for a bit that is on the board.
    pub(super) fn from_bit_index(bit: u32, variant: Variant) -> Self {
        let part = |number: u32| u8::try_from(number).expect("a bit index is below 64");
        let column = Column::new_unchecked(part(bit / variant.stride()));
        Self { column, row: part(bit % variant.stride()) }
    }
}

/// Prints the column's letter and the row's number, such as `d1`.
impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = char::from(b'a' + self.column.number() - 1);
        formatter.pad(&format!("{letter}{}", self.row_number()))
    }
}

/// Reads what [`Cell`]'s `Display` prints.
impl FromStr for Cell {
    type Err = CellError;

    fn from_str(text: &str) -> Result<Self, CellError> {
        let parse = || {
            let (letter, row) = text.split_at_checked(1)?;
            let column = letter.bytes().next()?.checked_sub(b'a')? + 1;
            let is_plain = row.bytes().all(|byte| byte.is_ascii_digit()) && !row.starts_with('0');
            if is_plain { Self::from_numbers([column, row.parse().ok()?]) } else { None }
        };
        parse().ok_or_else(|| CellError { text: text.to_owned() })
    }
}

/// The text names no cell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a cell such as d1")]
pub struct CellError {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_print_as_letter_and_number() {
        assert_eq!(Cell::from_numbers([4, 1]).unwrap().to_string(), "d1");
        assert_eq!("l4".parse::<Cell>().unwrap().numbers(), [12, 4]);
        for text in ["", "d", "1", "d0", "d16", "m1", "D1", "d01", "d+1", "é1"] {
            assert!(text.parse::<Cell>().is_err(), "{text}");
        }
    }

    #[test]
    fn bits_and_cells_correspond() {
        for bit in (0..49).filter(|bit| bit % 7 != 6) {
            let cell = Cell::from_bit_index(bit, Variant::STANDARD);
            assert!(cell.is_on(Variant::STANDARD));
            assert_eq!(cell.bit_index(Variant::STANDARD), bit);
        }
    }

    #[test]
    fn a_board_ends_at_its_edges() {
        assert!(Cell::from_numbers([7, 6]).unwrap().is_on(Variant::STANDARD));
        assert!(!Cell::from_numbers([8, 6]).unwrap().is_on(Variant::STANDARD));
        assert!(!Cell::from_numbers([7, 7]).unwrap().is_on(Variant::STANDARD));
        assert_eq!(Cell::from_numbers([0, 1]), None);
        assert_eq!(Cell::from_numbers([1, 0]), None);
    }
}
