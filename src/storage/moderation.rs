//! What operators do to players, what they order for the whole arena, and the log of all that they did.

use async_trait::async_trait;

use super::error::StoreError;
use super::record::StoredPlayer;
use crate::model::ids::{GameId, PlayerId, PlayerName, StudyId, TournamentId};
use crate::model::invitation::InvitationCode;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::system::config::IpNetwork;

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
        /// By which it was called, for the log.
        from: PlayerName,
        /// By which it is called from now on.
        name: PlayerName,
    },
    /// Takes away what a person shows of themselves: picture, flag and line.
    ClearProfile,
    /// Gives a person another password and ends all sessions.
    ResetPassword {
        /// PHC string of the new one.
        password: String,
    },
    /// Ends all sessions of a person, or all tokens of a bot.
    SignOut,
    /// Lets a player play, but ask nobody; it takes the place of the one before.
    Mute {
        /// When it ends by itself; never if `None`.
        until: Option<UnixMillis>,
    },
    /// Ends that. Refused as [`Refused::NotMuted`](super::store::Refused::NotMuted) if there is none.
    Unmute,
    /// Ends an account or a bot, as [`Write::Retire`](super::store::Write::Retire) does, with all its credentials.
    Delete {
        /// By which it is called from then on.
        name: PlayerName,
    },
    /// Somebody registers by an invitation: the player is about to be one. Refused as
    /// [`Refused::UsedUp`](super::store::Refused::UsedUp) if so many have before.
    Admit {
        code: InvitationCode,
        /// People who may register by it in all.
        uses: u32,
    },
    /// Makes an operator of a person's account. Refused as
    /// [`Refused::OperatorAlready`](super::store::Refused::OperatorAlready) if it is one.
    Appoint {
        /// From which the key of its second factor is made.
        salt: String,
        /// Digests of its codes for a lost phone.
        recovery: Vec<String>,
    },
    /// Ends that. Refused as [`Refused::NoOperator`](super::store::Refused::NoOperator) if it is none.
    Dismiss,
}

/// What an operator orders for the whole arena. The log is where it is kept: what holds is what was said last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    pub(crate) kind: OrderKind,
    pub(crate) because: Because,
}

/// What is ordered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderKind {
    /// No game begins any more; those under way go on.
    Pause,
    /// Games begin again.
    Resume,
    /// The daemon is about to stop. Holds for this daemon alone.
    Drain {
        /// When, at the latest.
        until: UnixMillis,
    },
    /// Every page says this.
    Announce {
        /// One line; empty for nothing.
        text: String,
        /// When it ends by itself; never if `None`.
        until: Option<UnixMillis>,
    },
    /// Nobody comes in from there.
    BanNetwork {
        network: IpNetwork,
        /// When it ends by itself; never if `None`.
        until: Option<UnixMillis>,
    },
    /// Ends that.
    UnbanNetwork { network: IpNetwork },
    /// Whoever has this code may register, so many people in all.
    Invite {
        code: InvitationCode,
        uses: u32,
        /// When it ends by itself; never if `None`.
        until: Option<UnixMillis>,
    },
    /// Ends that.
    Uninvite { code: InvitationCode },
    /// A node of a cluster leads only if nobody else can. The list of nodes says whether that holds.
    DrainNode { node: String },
    /// Ends all of that.
    UndoDrains,
}

/// What the log says that an order was given for, unless it is a network or the like.
const ARENA: &str = "arena";

impl OrderKind {
    pub(crate) fn action(&self) -> AuditAction {
        match self {
            Self::Pause => AuditAction::Pause,
            Self::Resume => AuditAction::Resume,
            Self::Drain { .. } => AuditAction::Drain,
            Self::Announce { .. } => AuditAction::Announce,
            Self::BanNetwork { .. } => AuditAction::BanNetwork,
            Self::UnbanNetwork { .. } => AuditAction::UnbanNetwork,
            Self::Invite { .. } => AuditAction::Invite,
            Self::Uninvite { .. } => AuditAction::Uninvite,
            Self::DrainNode { .. } => AuditAction::DrainNode,
            Self::UndoDrains => AuditAction::UndoDrains,
        }
    }

    /// The entry of the log that keeps it.
    pub(crate) fn entry(&self) -> AuditNote {
        let (subject, detail, until) = match self {
            Self::Pause | Self::Resume | Self::UndoDrains => (ARENA.to_owned(), None, None),
            Self::Drain { until } => (ARENA.to_owned(), None, Some(*until)),
            Self::Announce { text, until } => (ARENA.to_owned(), Some(text.clone()), *until),
            Self::BanNetwork { network, until } => (network.to_string(), None, *until),
            Self::UnbanNetwork { network } => (network.to_string(), None, None),
            Self::Invite { code, uses, until } => (code.to_string(), Some(uses.to_string()), *until),
            Self::Uninvite { code } => (code.to_string(), None, None),
            Self::DrainNode { node } => (node.clone(), None, None),
        };
        AuditNote { action: self.action(), subject, detail, until }
    }
}

/// The kinds of entries of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AuditAction {
    Void,
    CancelTournament,
    RemoveStudy,
    Ban,
    Unban,
    Rename,
    ClearProfile,
    ResetPassword,
    SignOut,
    Mute,
    Unmute,
    Delete,
    Pause,
    Resume,
    Drain,
    Announce,
    BanNetwork,
    UnbanNetwork,
    Invite,
    Uninvite,
    DrainNode,
    UndoDrains,
    Admit,
    Appoint,
    Dismiss,
    TakeReport,
    DismissReport,
    ResolveReport,
}

impl AuditAction {
    /// Those that are orders for the whole arena.
    pub(crate) const ORDERS: [Self; 10] = [
        Self::Pause,
        Self::Resume,
        Self::Drain,
        Self::Announce,
        Self::BanNetwork,
        Self::UnbanNetwork,
        Self::Invite,
        Self::Uninvite,
        Self::DrainNode,
        Self::UndoDrains,
    ];

    /// Whether the subject of such an entry is the id of a player.
    pub(crate) fn is_of_player(self) -> bool {
        ![Self::Void, Self::CancelTournament, Self::RemoveStudy].contains(&self)
            && !Self::ORDERS.contains(&self)
    }
}

impl MeasureKind {
    pub(crate) fn action(&self) -> AuditAction {
        match self {
            Self::Ban { .. } => AuditAction::Ban,
            Self::Unban => AuditAction::Unban,
            Self::Rename { .. } => AuditAction::Rename,
            Self::ClearProfile => AuditAction::ClearProfile,
            Self::ResetPassword { .. } => AuditAction::ResetPassword,
            Self::SignOut => AuditAction::SignOut,
            Self::Mute { .. } => AuditAction::Mute,
            Self::Unmute => AuditAction::Unmute,
            Self::Delete { .. } => AuditAction::Delete,
            Self::Admit { .. } => AuditAction::Admit,
            Self::Appoint { .. } => AuditAction::Appoint,
            Self::Dismiss => AuditAction::Dismiss,
        }
    }

    /// The entry of the log that is made with it.
    pub(crate) fn entry(&self, player: &PlayerId) -> AuditNote {
        let (detail, until) = match self {
            Self::Ban { until } | Self::Mute { until } => (None, *until),
            Self::Rename { from, name } => (Some(format!("from {from} to {name}")), None),
            Self::Admit { code, .. } => (Some(code.to_string()), None),
            Self::Unban
            | Self::ClearProfile
            | Self::ResetPassword { .. }
            | Self::SignOut
            | Self::Unmute
            | Self::Delete { .. }
            | Self::Appoint { .. }
            | Self::Dismiss => (None, None),
        };
        AuditNote { action: self.action(), subject: player.to_string(), detail, until }
    }
}

/// What an entry of the log says beside why, who and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AuditNote {
    pub(crate) action: AuditAction,
    /// What it is done to: the id of a game, a tournament, a study or a player, a network, an invitation, a node, or
    /// the arena.
    pub(crate) subject: String,
    pub(crate) detail: Option<String>,
    pub(crate) until: Option<UnixMillis>,
}

impl AuditNote {
    /// A game was taken out.
    pub(super) fn void(game: &GameId) -> Self {
        Self { action: AuditAction::Void, subject: game.to_string(), detail: None, until: None }
    }

    /// A tournament was called off.
    pub(super) fn cancel(tournament: &TournamentId) -> Self {
        let subject = tournament.to_string();
        Self { action: AuditAction::CancelTournament, subject, detail: None, until: None }
    }

    /// A study was taken away, of which the log keeps the title.
    pub(super) fn remove_study(study: &StudyId, title: String) -> Self {
        let subject = study.to_string();
        Self { action: AuditAction::RemoveStudy, subject, detail: Some(title), until: None }
    }
}

/// An entry of the log, which only grows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Counts all entries, from 1.
    pub(crate) number: u64,
    pub(crate) action: AuditAction,
    /// What it was done to: the id of a game or of a player, a network, an invitation, a node, or the arena.
    pub(crate) subject: String,
    /// More than the reason: to what name, what text, for how many, by which invitation.
    pub(crate) detail: Option<String>,
    /// When it ends by itself, of what does.
    pub(crate) until: Option<UnixMillis>,
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

    /// All orders for the whole arena, the oldest first: operators give few.
    async fn orders(&self) -> Result<Vec<AuditEntry>, StoreError>;

    /// How many people have registered by an invitation.
    async fn admitted(&self, code: &InvitationCode) -> Result<u32, StoreError>;

    /// Accounts and remote bots, those made last first, at most `limit`.
    async fn newest_registered(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError>;

    /// Players who are or were banned or muted until some time, by name, at most `limit`.
    async fn restricted(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError>;

    /// Players of a kind by name, without those of the house, behind a name, at most `limit`.
    async fn registered(
        &self,
        kind: PlayerKind,
        after: Option<&PlayerName>,
        limit: u32,
    ) -> Result<Vec<StoredPlayer>, StoreError>;
}
