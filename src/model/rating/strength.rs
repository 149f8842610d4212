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
    /// The word for a rating as it is shown, on whose scale `random` has 0. Between two words stands the middle of the
    /// strongest bot of the house that is called by the one and the weakest that is called by the other.
    pub(crate) fn of_elo(elo: i32) -> Self {
        match elo {
            ..500 => Self::Beginner,
            500..1060 => Self::Casual,
            1060..1190 => Self::Skilled,
            1190..1425 => Self::Strong,
            1425.. => Self::Expert,
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
        let words = [-5000, 499, 500, 1100, 1424, 3000].map(|elo| Strength::of_elo(elo).as_str());
        assert_eq!(words, ["beginner", "beginner", "casual", "skilled", "strong", "expert"]);
    }
}
