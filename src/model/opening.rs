//! Where games begin, and on which side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a game's opening comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpeningKind {
    /// The empty board.
    #[default]
    None,
    /// Drawn from the suite of openings whose exact value is a draw.
    Balanced,
    /// Named by the challenger.
    Given,
}

/// The side a challenger wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideChoice {
    /// The challenger moves first.
    First,
    /// The challenger moves second.
    Second,
    /// The server draws.
    #[default]
    Random,
}
