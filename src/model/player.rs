//! Who plays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{PlayerId, PlayerName};

/// What sort of player somebody is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlayerKind {
    /// A person with an account.
    Human,
    /// A program, remote or in the house.
    Bot,
    /// A person without an account.
    Guest,
}

/// The two sorts that `accepts` and `seek` distinguish. Guests are people.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpponentKind {
    /// People, guests too.
    Human,
    /// Programs.
    Bot,
}

impl From<PlayerKind> for OpponentKind {
    fn from(kind: PlayerKind) -> Self {
        match kind {
            PlayerKind::Human | PlayerKind::Guest => Self::Human,
            PlayerKind::Bot => Self::Bot,
        }
    }
}

/// Who a player is, as sessions and rooms carry it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Stays the same for ever.
    pub id: PlayerId,
    pub name: PlayerName,
    /// Person, bot or guest.
    pub kind: PlayerKind,
    /// The account that owns a bot.
    pub owner: Option<PlayerId>,
}

impl Identity {
    /// Who stands behind a player: a bot's owner, or the player itself.
    pub(crate) fn family(&self) -> &PlayerId {
        self.owner.as_ref().unwrap_or(&self.id)
    }
}
