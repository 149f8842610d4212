//! Of whom a list or a fit is.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::player::PlayerKind;

/// Which players are listed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ListName")]
pub enum Population {
    /// Everybody, by the joint fit over all rated games.
    #[default]
    All,
    /// People with an account, by their live Elo.
    People,
    /// Remote and house bots, by the joint fit over the rated games between bots.
    Bots,
}

impl Population {
    /// Whether players of this kind belong to it. Guests never do.
    pub(crate) fn includes(self, kind: PlayerKind) -> bool {
        match kind {
            PlayerKind::Human => self != Self::Bots,
            PlayerKind::Bot => self != Self::People,
            PlayerKind::Guest => false,
        }
    }
}

impl FromStr for Population {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "people" => Ok(Self::People),
            "bots" => Ok(Self::Bots),
            _ => Err("list is all, people or bots"),
        }
    }
}
