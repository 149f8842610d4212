//! How hard a character of the house is to beat, for people who choose an opponent.

use std::fmt;

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

impl Level {
    /// The hardest one.
    const MAX: u8 = 8;

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
    fn heights_go_from_nothing_to_one() {
        let tenths = [1, 8].map(|n| (10.0 * Level::try_from(n).unwrap().height()).to_string());
        assert_eq!(tenths, ["0", "10"]);
    }
}
