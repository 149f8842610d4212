//! The four ways a line can run.

use super::Variant;

/// A direction, walked from left to right or from bottom to top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Up a column.
    Vertical,
    /// Along a row, to the right.
    Horizontal,
    /// Down and to the right.
    Falling,
    /// Up and to the right.
    Rising,
}

impl Direction {
    pub const ALL: [Self; 4] = [Self::Vertical, Self::Horizontal, Self::Falling, Self::Rising];

    /// Bit distance between neighbours in a [`super::Bitboard`]: 1, 7, 6 and 8 on 7x6.
    pub(crate) const fn stride(self, variant: Variant) -> u32 {
        match self {
            Self::Vertical => 1,
            Self::Horizontal => variant.stride(),
            Self::Falling => variant.stride() - 1,
            Self::Rising => variant.stride() + 1,
        }
    }
}
