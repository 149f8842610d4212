//! Strength in a word, for people who choose an opponent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strong a player is, roughly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strength {
    /// Loses to whoever looks out for threes.
    Beginner,
    /// Sees what is on the board.
    Casual,
    /// Looks some moves ahead.
    Skilled,
    /// Rarely makes a mistake that a person would see.
    Strong,
    /// Wins against nearly everybody.
    Expert,
}

impl Strength {
    /// The word for a rating, whose middle is 1500: each step is 200 points, a score of three in four against the one
    /// below.
    pub(crate) fn of_elo(elo: i32) -> Self {
        match elo {
            ..1200 => Self::Beginner,
            1200..1400 => Self::Casual,
            1400..1600 => Self::Skilled,
            1600..1800 => Self::Strong,
            1800.. => Self::Expert,
        }
    }

    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Beginner => "beginner",
            Self::Casual => "casual",
            Self::Skilled => "skilled",
            Self::Strong => "strong",
            Self::Expert => "expert",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_grow_with_the_rating() {
        let words = [-5000, 1199, 1200, 1500, 1799, 3000].map(|elo| Strength::of_elo(elo).as_str());
        assert_eq!(words, ["beginner", "beginner", "casual", "skilled", "strong", "expert"]);
    }
}
