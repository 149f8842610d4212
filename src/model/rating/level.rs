//! How hard a character of the house is to beat, for people who choose an opponent.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// From 1, which nobody loses to on purpose, to 8, which nobody beats who errs once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
pub struct Level(#[schemars(range(min = 1, max = 8))] u8);

/// A number that is no level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{0} is not a level from 1 to 8")]
pub struct NoLevel(u8);

/// A text that is no level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a level is a number from 1 to 8")]
pub struct NotALevel;

impl Level {
    /// The hardest one.
    const MAX: u8 = 8;

    /// Points from which on one plays like the second character, the third, and so on: halfway between what two
    /// neighbours were measured at. A test of the configuration holds them against the house.
    const FLOORS: [i32; Self::MAX as usize - 1] = [137, 377, 602, 840, 1114, 1393, 1635];

    /// All of them, the lowest first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (1..=Self::MAX).map(Self)
    }

    /// The character that plays most like somebody of a rating, on the scale on which `random` has 0.
    pub(crate) fn of_elo(elo: i32) -> Self {
        Self(Self::FLOORS.into_iter().fold(1, |level, floor| level + u8::from(elo >= floor)))
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// How far up it is: 0 for the first, 1 for the last.
    pub(crate) fn height(self) -> f64 {
        f64::from(self.0 - 1) / f64::from(Self::MAX - 1)
    }
}

impl TryFrom<u8> for Level {
    type Error = NoLevel;

    fn try_from(number: u8) -> Result<Self, NoLevel> {
        if (1..=Self::MAX).contains(&number) { Ok(Self(number)) } else { Err(NoLevel(number)) }
    }
}

impl FromStr for Level {
    type Err = NotALevel;

    fn from_str(text: &str) -> Result<Self, NotALevel> {
        let number = text.parse::<u8>().ok().filter(|_| !text.starts_with('+'));
        number.and_then(|number| Self::try_from(number).ok()).ok_or(NotALevel)
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level.0
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_eight() {
        let levels: Vec<u8> = (0..=u8::MAX).filter_map(|n| Some(Level::try_from(n).ok()?.number())).collect();
        assert_eq!(levels, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Level::try_from(9).unwrap_err().to_string(), "9 is not a level from 1 to 8");
    }

    #[test]
    fn ratings_are_of_the_character_that_plays_most_like_them() {
        let level = |elo| Level::of_elo(elo).number();
        assert_eq!([i32::MIN, 0, 136, 137, 750, 1634, 1635, i32::MAX].map(level), [1, 1, 1, 2, 4, 7, 8, 8]);
        assert!(Level::FLOORS.is_sorted());
    }

    #[test]
    fn what_is_typed_is_a_level_or_not() {
        assert_eq!("8".parse::<Level>().map(Level::number), Ok(8));
        for wrong in ["0", "9", "-1", "+1", "x", "", "1.5", "300"] {
            assert_eq!(wrong.parse::<Level>(), Err(NotALevel), "{wrong}");
        }
    }

    #[test]
    fn heights_go_from_nothing_to_one() {
        let tenths = [1, 8].map(|n| (10.0 * Level::try_from(n).unwrap().height()).to_string());
        assert_eq!(tenths, ["0", "10"]);
    }
}
