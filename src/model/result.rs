//! How games end.

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
