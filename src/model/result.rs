//! How games end.

use std::str::FromStr;

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

/// What a game came to for one of its players.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameOutcome {
    /// They won.
    Won,
    /// Nobody did.
    Drawn,
    /// They lost.
    Lost,
    /// The game does not count.
    Void,
}

impl GameOutcome {
    /// Of a result, for a side.
    pub(crate) fn of(result: GameResult, side: Side) -> Self {
        match result.seen_by(side) {
            Some(SideResult::Win) => Self::Won,
            Some(SideResult::Draw) => Self::Drawn,
            Some(SideResult::Loss) => Self::Lost,
            None => Self::Void,
        }
    }
}

impl GameOutcome {
    const ALL: [Self; 4] = [Self::Won, Self::Drawn, Self::Lost, Self::Void];

    /// As it is said in requests.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Drawn => "drawn",
            Self::Lost => "lost",
            Self::Void => "void",
        }
    }
}

impl FromStr for GameOutcome {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|outcome| outcome.word() == text);
        found.ok_or("outcome is won, drawn, lost or void")
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
