//! Where games begin, and on which side.

pub(crate) use fourfold_arena::suite::OpeningKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The side a challenger wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SideChoice {
    /// The challenger moves first.
    First,
    /// The challenger moves second.
    Second,
    /// The server draws.
    #[default]
    Random,
}
