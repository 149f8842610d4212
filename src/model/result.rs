//! How games end.

use fourfold_engine::{Side, SideResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who won.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameResult {
    /// The side that moves first.
    First,
    /// The side that moves second.
    Second,
    /// Nobody, on a full board.
    Draw,
    /// Nobody, and it does not count.
    Void,
}

impl GameResult {
    /// The side that won, if any.
    pub(crate) fn winner(self) -> Option<Side> {
        match self {
            Self::First => Some(Side::First),
            Self::Second => Some(Side::Second),
            Self::Draw | Self::Void => None,
        }
    }

    /// What it is to a side; `None` if it does not count.
    pub(crate) fn seen_by(self, side: Side) -> Option<SideResult> {
        (self != Self::Void).then(|| SideResult::of(side, self.winner()))
    }
}

/// How it came to that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// A line was completed.
    Four,
    /// The board is full.
    Full,
    /// A side gave up.
    Resign,
    /// A side ran out of time.
    Time,
    /// A side broke the rules three times.
    Illegal,
    /// A side went away.
    Left,
    /// A side ended it before it began in earnest.
    Aborted,
    /// The arena ended it.
    Stopped,
    /// A house bot broke.
    BotFailed,
}

impl EndReason {
    /// Whether somebody aborted or left.
    pub(crate) fn is_departure(self) -> bool {
        match self {
            Self::Aborted | Self::Left => true,
            Self::Four
            | Self::Full
            | Self::Resign
            | Self::Time
            | Self::Illegal
            | Self::Stopped
            | Self::BotFailed => false,
        }
    }
}
