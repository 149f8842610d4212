//! Where games begin, and on which side.

pub(crate) use fourfold_arena::suite::OpeningKind;
use fourfold_engine::Side;
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
    /// Whoever accepts chooses: with moves that the challenger gives this is the pie rule.
    Opponent,
}

impl SideChoice {
    /// The challenger's, once whoever accepts has chosen a side.
    pub(crate) fn left_by(opponents: Side) -> Self {
        match opponents {
            Side::First => Self::Second,
            Side::Second => Self::First,
        }
    }
}
