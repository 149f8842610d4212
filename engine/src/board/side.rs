//! The two sides, and data kept once for each.

use std::fmt;
use std::ops::{Add, Index, IndexMut};

/// A side, named by who moved first in the game. Colours exist only in the user interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    First,
    Second,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub fn opponent(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The side that plays when `ply` stones are on the board.
    pub fn to_move_at(ply: u32) -> Self {
        if ply.is_multiple_of(2) { Self::First } else { Self::Second }
    }
}

/// Prints `first` or `second`, as on the wire.
impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// One value for each side.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct BySide<T> {
    pub first: T,
    pub second: T,
}

impl<T> BySide<T> {
    /// Asks `value` for each side, the first side first.
    pub fn from_fn(mut value: impl FnMut(Side) -> T) -> Self {
        Self { first: value(Side::First), second: value(Side::Second) }
    }

    pub fn map<U>(self, mut convert: impl FnMut(T) -> U) -> BySide<U> {
        BySide { first: convert(self.first), second: convert(self.second) }
    }

    /// Both values together.
    pub fn sum(self) -> T
    where
        T: Add<Output = T>,
    {
        self.first + self.second
    }

    pub fn as_ref(&self) -> BySide<&T> {
        BySide { first: &self.first, second: &self.second }
    }
}

impl<T> Index<Side> for BySide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }
}

impl<T> IndexMut<Side> for BySide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_alternate_from_the_first() {
        assert_eq!(
            [0, 1, 2, 41].map(Side::to_move_at),
            [Side::First, Side::Second, Side::First, Side::Second]
        );
        assert_eq!(Side::BOTH.map(Side::opponent), [Side::Second, Side::First]);
    }

    #[test]
    fn each_side_finds_its_own_value() {
        let mut wins = BySide::from_fn(|side| side.to_string());
        wins[Side::Second].push('!');
        assert_eq!(wins.as_ref().map(String::len), BySide { first: 5, second: 7 });
        assert_eq!(wins[Side::First], "first");
    }
}
