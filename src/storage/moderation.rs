//! What operators do to players, and the log of all that they did.

use async_trait::async_trait;

use super::error::StoreError;
use super::record::StoredPlayer;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;

/// What an operator does to a player with an account or to a remote bot. It and its entry in the log become durable
/// together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measure {
    pub(crate) player: PlayerId,
    pub(crate) kind: MeasureKind,
    pub(crate) because: Because,
}

/// Why something is done, by whom and when: what the log keeps of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Because {
    /// One line, never empty.
    pub(crate) reason: String,
    /// Who says that it was they.
    pub(crate) by: String,
    pub(crate) at: UnixMillis,
}

/// What is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MeasureKind {
    /// Keeps the player and its bots out; a ban takes the place of the one before.
    Ban {
        /// When it ends by itself; never if `None`.
        until: Option<UnixMillis>,
    },
    /// Ends a ban. Refused as [`Refused::NotBanned`](super::store::Refused::NotBanned) if there is none.
    Unban,
    /// Gives another name. Refused as [`Refused::NameTaken`](super::store::Refused::NameTaken) if another player has
    /// it.
    Rename {
        /// By which it is called from now on.
        name: PlayerName,
    },
    /// Gives a person another password and ends all sessions.
    ResetPassword {
        /// PHC string of the new one.
        password: String,
    },
    /// Ends all sessions of a person, or all tokens of a bot.
    SignOut,
}

/// The kinds of entries of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AuditAction {
    Void,
    Ban,
    Unban,
    Rename,
    ResetPassword,
    SignOut,
}

impl MeasureKind {
    pub(crate) fn action(&self) -> AuditAction {
        match self {
            Self::Ban { .. } => AuditAction::Ban,
            Self::Unban => AuditAction::Unban,
            Self::Rename { .. } => AuditAction::Rename,
            Self::ResetPassword { .. } => AuditAction::ResetPassword,
            Self::SignOut => AuditAction::SignOut,
        }
    }

    /// What the log says of it beside the reason.
    pub(crate) fn detail(&self) -> Option<String> {
        match self {
            Self::Ban { until: Some(until) } => Some(format!("until {until}")),
            Self::Rename { name } => Some(format!("to {name}")),
            Self::Ban { until: None } | Self::Unban | Self::ResetPassword { .. } | Self::SignOut => None,
        }
    }
}

/// An entry of the log, which only grows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Counts all entries, from 1.
    pub(crate) number: u64,
    pub(crate) action: AuditAction,
    /// The id of what it was done to: a game, or a player.
    pub(crate) subject: String,
    /// More than the reason: until when, to what name.
    pub(crate) detail: Option<String>,
    pub(crate) reason: String,
    /// Who did it; not known of entries from before it was asked for.
    pub(crate) by: Option<String>,
    pub(crate) at: UnixMillis,
}

/// The part of a store that is for operators.
#[async_trait]
pub trait ModerationStore {
    /// The entries of the log with a number below `before`, the newest first, at most `limit`.
    async fn audit_log(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Players of a kind by name, without those of the house, behind a name, at most `limit`.
    async fn registered(
        &self,
        kind: PlayerKind,
        after: Option<&PlayerName>,
        limit: u32,
    ) -> Result<Vec<StoredPlayer>, StoreError>;
}
