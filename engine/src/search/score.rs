//! The exact scale of solved positions.

use std::fmt;
use std::ops::Neg;

use crate::board::{Position, Side, Variant};

/// How a game ends if both sides play perfectly, for the side to move: the sign of a [`Score`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Loss,
    Draw,
    Win,
}

impl Neg for Value {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }
}

/// Prints `win`, `draw` or `loss`.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        })
    }
}

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

    /// The score with this number.
    pub const fn new(value: i32) -> Self {
        Self(value)
    }

    /// The score of a win whose last stone makes `stones` on the board, for the side that places it.
    ///
    /// `stones` is at least 1 and at most the number of cells.
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
    pub fn loss(variant: Variant, stones: u32) -> Self {
        -Self::win(variant, stones)
    }

    /// As a number, negative for a loss.
    pub fn value(self) -> i32 {
        self.0
    }

    /// Who wins, without the distance.
    pub fn sign(self) -> Value {
        match self.0.signum() {
            0 => Value::Draw,
            1 => Value::Win,
            _ => Value::Loss,
        }
    }

    /// Plies until the game ends from `position`, whose score this is, both sides playing perfectly.
    pub fn plies_to_end(self, position: &Position) -> u32 {
        let variant = position.variant();
        let winner = match self.sign() {
            Value::Draw => return variant.cells() - position.ply(),
            Value::Win => position.side_to_move(),
            Value::Loss => position.side_to_move().opponent(),
        };
        // The inverse of `Score::win`.
        let left = self.0.unsigned_abs() - 1;
        let stones = match winner {
            Side::First => 2 * (variant.cells().div_ceil(2) - left) - 1,
            Side::Second => 2 * (variant.cells() / 2 - left),
        };
        stones.saturating_sub(position.ply())
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
    fn distances_are_counted_to_the_winning_stone() {
        for variant in ["7x6", "5x5"] {
            let variant: Variant = variant.parse().unwrap();
            let mut position = Position::new(variant);
            while position.ply() < 6 {
                position = position.play_unchecked(position.open_columns().next().unwrap());
                for stones in position.ply() + 1..=variant.cells() {
                    let score = Score::win(variant, stones);
                    let is_mine = (stones - position.ply()) % 2 == 1;
                    let score = if is_mine { score } else { -score };
                    assert_eq!(
                        score.plies_to_end(&position),
                        stones - position.ply(),
                        "{score} {position:?}"
                    );
                }
                assert_eq!(Score::DRAW.plies_to_end(&position), variant.cells() - position.ply());
            }
        }
    }

    #[test]
    fn an_odd_board_gives_the_first_side_one_stone_more() {
        check_win("5x5", 25, 1);
        check_win("5x5", 24, 1);
        check_win("5x5", 7, 10);
        check_win("5x5", 8, 9);
    }
}
