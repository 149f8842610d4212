//! Where a stone can be dropped.

use std::fmt;

use super::Variant;

/// A column, counted from the left: 0 to 11 inside, 1 to 12 in notation and on the wire.
///
/// A column knows no board; [`super::Position::is_legal`] says whether it can be played.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Column(u8);

impl Column {
    /// The column at `index`, counted from 0; `None` from [`Variant::MAX_WIDTH`] on.
    pub fn from_index(index: usize) -> Option<Self> {
        u8::try_from(index).ok().filter(|&index| index < Variant::MAX_WIDTH).map(Self)
    }

    /// The column with `number`, counted from 1; `None` for 0 and above [`Variant::MAX_WIDTH`].
    pub fn from_number(number: u8) -> Option<Self> {
        (1..=Variant::MAX_WIDTH).contains(&number).then(|| Self(number - 1))
    }

    /// The column written as the base-36 `digit`, in either case: `1` is the leftmost, `c` the twelfth.
    pub fn from_digit(digit: char) -> Option<Self> {
        digit.to_digit(36).and_then(|number| u8::try_from(number).ok()).and_then(Self::from_number)
    }

    /// Counted from 0, as arrays are.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Counted from 1, as people and the wire do.
    pub fn number(self) -> u8 {
        self.0 + 1
    }

    /// The number as one lower-case base-36 digit, as in move lists.
    pub fn digit(self) -> char {
        const DIGITS: [char; Variant::MAX_WIDTH as usize] =
            ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c'];
        DIGITS[self.index()]
    }

    /// The column as far from the right edge as this one is from the left. The column must be on the board.
    pub fn mirror(self, variant: Variant) -> Self {
        Self(variant.width() - 1 - self.0)
    }

    /// Position of the column's lowest bit in a [`super::Bitboard`].
    #[inline]
    pub(crate) const fn shift(self, variant: Variant) -> u32 {
        self.0 as u32 * variant.stride()
    }

    /// For callers that have checked `index < Variant::MAX_WIDTH`.
    #[inline]
    pub(crate) const fn new_unchecked(index: u8) -> Self {
        debug_assert!(index < Variant::MAX_WIDTH, "no board is that wide");
        Self(index)
    }
}

impl Variant {
    /// All columns from left to right.
    pub fn columns(self) -> impl DoubleEndedIterator<Item = Column> + ExactSizeIterator + Clone {
        (0..self.width()).map(Column::new_unchecked)
    }

    /// Whether `column` is on this board.
    pub fn has_column(self, column: Column) -> bool {
        column.number() <= self.width()
    }
}

/// Prints the number, counted from 1.
impl fmt::Display for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_numbers_name_the_same_column() {
        for number in 1..=Variant::MAX_WIDTH {
            let column = Column::from_number(number).unwrap();
            assert_eq!(Column::from_digit(column.digit()), Some(column));
            assert_eq!(Column::from_index(column.index()), Some(column));
        }
        assert_eq!(Column::from_digit('C').map(Column::number), Some(12));
    }

    #[test]
    fn what_no_board_has_is_refused() {
        assert_eq!(Column::from_number(0), None);
        assert_eq!(Column::from_number(13), None);
        assert_eq!(Column::from_index(12), None);
        for digit in ['0', 'd', '-', ' ', '４'] {
            assert_eq!(Column::from_digit(digit), None, "{digit}");
        }
    }
}
