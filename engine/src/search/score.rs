//! The exact scale of solved positions.

use std::fmt;
use std::ops::Neg;

use crate::board::{Side, Variant};

/// The exact value of a position for the side to move, both sides playing perfectly: the winner as fast, the
/// loser as slowly as possible.
///
/// 0 is a draw. +n is a win with the n-th stone counted from one's last, -n a loss to such a win of the
/// opponent. On 7x6 each side has 21 stones, so 18 is a win with one's fourth stone and 1 a win with the
/// last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Score(i32);

impl Score {
    pub const DRAW: Self = Self(0);

    /// The score of a win whose last stone makes `stones` on the board, for the side that places it.
    ///
    /// `stones` is at least 1 and at most the number of cells.
    #[must_use]
    pub fn win(variant: Variant, stones: u32) -> Self {
        debug_assert!((1..=variant.cells()).contains(&stones), "{stones} stones on {variant}");
        let winner = Side::to_move_at(stones - 1);
        // On a board with an odd number of cells the first side has one stone more.
        let (all, played) = match winner {
            Side::First => (variant.cells().div_ceil(2), stones.div_ceil(2)),
            Side::Second => (variant.cells() / 2, stones / 2),
        };
        Self((all - played + 1).cast_signed())
    }

    /// The same for the side that loses.
    #[must_use]
    pub fn loss(variant: Variant, stones: u32) -> Self {
        -Self::win(variant, stones)
    }

    /// As a number, negative for a loss.
    pub fn value(self) -> i32 {
        self.0
    }
}

impl Neg for Score {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

/// Prints the number, negative for a loss.
impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_win(variant: &str, stones: u32, expected: i32) {
        let variant = variant.parse().unwrap();
        assert_eq!(Score::win(variant, stones).value(), expected);
        assert_eq!(Score::loss(variant, stones).value(), -expected);
    }

    #[test]
    fn wins_count_from_the_last_stone() {
        check_win("7x6", 7, 18); // the first side's fourth stone
        check_win("7x6", 8, 18); // the second side's fourth stone
        check_win("7x6", 41, 1);
        check_win("7x6", 42, 1);
    }

    #[test]
    fn an_odd_board_gives_the_first_side_one_stone_more() {
        check_win("5x5", 25, 1);
        check_win("5x5", 24, 1);
        check_win("5x5", 7, 10);
        check_win("5x5", 8, 9);
    }
}
