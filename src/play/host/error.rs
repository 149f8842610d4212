//! Why a game cannot begin.

use std::time::Duration;

use crate::system::bot_files::BotFileError;
use thiserror::Error;

use crate::model::player::Identity;
use crate::play::correspondence;
use crate::play::host::admission::{GUEST_GAMES_MAX, Untested};
use crate::play::incident::failure;
use crate::play::room::state::UnplayableOpening;
use crate::play::share;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::store::StoreError;
use crate::storage::writer::{Obstacle, WriteError};
use crate::system::shares::Refusal;

/// When a refused start may be tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Why a game cannot begin.
#[derive(Debug, Error)]
pub(crate) enum StartError {
    /// The daemon begins no games now.
    #[error("no new games begin now")]
    Paused,
    /// An operator has ordered that none begins, for this reason.
    #[error("no new games begin now: {0}")]
    Ordered(String),
    /// A player has enough games.
    #[error("{name} has as many games as it takes")]
    PlayerBusy { name: String },
    /// A guest has enough games.
    #[error("{name} is a guest and has {GUEST_GAMES_MAX} games, which is as many as guests may have")]
    GuestBusy { name: String },
    /// A player has enough games by correspondence.
    #[error("{name} has {max} games by correspondence, which is as many as there may be", max = correspondence::GAMES_MAX)]
    CorrespondenceBusy { name: String },
    /// A player has aborted too many games.
    #[error("{name} has aborted or left many games within an hour and waits before the next one begins")]
    Aborted { name: String, wait: Duration },
    /// A bot of the house is a program that fails again and again.
    #[error("{name} is a program that has failed in game after game, and pauses")]
    ProgramPaused { name: String, wait: Duration },
    /// The network of a player has used up its share.
    #[error("{refusal}")]
    Share { name: String, refusal: Refusal },
    /// There are as many games as fit here.
    #[error("the arena has as many games as it takes")]
    ArenaFull,
    /// The machine has enough to do.
    #[error("the arena is busy")]
    ArenaBusy,
    /// A house bot does not play this variant, or cannot be built.
    #[error(transparent)]
    Bot(#[from] BotFileError),
    /// The opening is not playable.
    #[error(transparent)]
    Opening(#[from] UnplayableOpening),
    /// A remote bot must pass the self-test first.
    #[error(transparent)]
    Untested(#[from] Untested),
    /// Nothing can be stored for now.
    #[error("no game can begin: {0}")]
    Obstructed(Obstacle),
    /// The stored events make no game.
    #[error("the stored game cannot be: {0}")]
    Unreadable(String),
    /// The store failed.
    #[error("the game could not be stored")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Obstacle::of(&error).map_or_else(|| Self::Store(Box::new(error)), Self::Obstructed)
    }
}

impl From<WriteError> for StartError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Busy => Self::ArenaBusy,
            WriteError::Obstructed(obstacle) => Self::Obstructed(obstacle),
            other @ (WriteError::Refused(_) | WriteError::Store(_)) => Self::Store(Box::new(other)),
        }
    }
}

impl StartError {
    /// Whether no player and no rule is why, but the state of the arena: the same game may begin in a while.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Paused | Self::Ordered(_) | Self::ArenaBusy | Self::ArenaFull | Self::Obstructed(_)
        )
    }

    /// Whether this player is why: it will not be otherwise soon.
    pub(crate) fn is_about(&self, player: &Identity) -> bool {
        match self {
            Self::PlayerBusy { name }
            | Self::GuestBusy { name }
            | Self::CorrespondenceBusy { name }
            | Self::Aborted { name, .. }
            | Self::ProgramPaused { name, .. }
            | Self::Share { name, .. }
            | Self::Untested(Untested { name, .. }) => *name == player.name.to_string(),
            Self::Bot(_) | Self::Opening(_) | Self::Unreadable(_) | Self::Store(_) => true,
            Self::Paused | Self::Ordered(_) | Self::ArenaBusy | Self::ArenaFull | Self::Obstructed(_) => {
                false
            }
        }
    }

    /// The refusal as it travels.
    pub(crate) fn to_wire(&self) -> WireError {
        let message = self.to_string();
        match self {
            Self::Paused | Self::Ordered(_) => WireError::new(ErrorCode::Paused, message).retry_in(RETRY),
            Self::PlayerBusy { .. } | Self::ArenaBusy | Self::ArenaFull | Self::Obstructed(_) => {
                WireError::new(ErrorCode::Busy, message).retry_in(RETRY)
            }
            Self::GuestBusy { .. } | Self::CorrespondenceBusy { .. } => {
                WireError::new(ErrorCode::Quota, message).retry_in(RETRY)
            }
            Self::Aborted { wait, .. } => WireError::new(ErrorCode::Quota, message).retry_in(*wait),
            Self::ProgramPaused { wait, .. } => WireError::new(ErrorCode::Busy, message).retry_in(*wait),
            Self::Share { refusal, .. } => share::refusal(refusal),
            Self::Bot(_) => WireError::bad_field("variant", message),
            Self::Opening(_) => WireError::bad_field("opening", message),
            Self::Untested(_) => WireError::new(ErrorCode::Forbidden, message),
            Self::Unreadable(_) => failure("the game could not begin", self),
            Self::Store(cause) => failure("the game could not be stored", &**cause),
        }
    }
}
