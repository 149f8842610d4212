//! Why a room refuses what a player wants.

use std::time::Duration;

use thiserror::Error;

use crate::model::ids::GameId;
use crate::model::result::GameResult;
use crate::protocol::{ErrorCode, WireError};

/// Why a room refuses what a player wants.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum RoomRefusal {
    /// The other side is to move, or the ply has not come yet.
    #[error("it is not your turn, the game stands at ply {ply}")]
    NotYourTurn {
        /// Where the game stands.
        ply: u32,
    },
    /// That ply was played with another column.
    #[error("ply {stale} was played with column {column}")]
    StalePly {
        /// Where the game stands.
        ply: u32,
        /// The ply that was asked for.
        stale: u32,
        column: u8,
    },
    /// Nobody has played that ply: the game began after it.
    #[error("ply {stale} belongs to the opening, which has column {column} there")]
    OfOpening {
        /// Where the game stands.
        ply: u32,
        /// The ply that was asked for.
        stale: u32,
        column: u8,
    },
    /// The column is full or out of range.
    #[error("{message}")]
    Illegal {
        /// What is wrong with it.
        message: String,
        /// Illegal moves that are still forgiven.
        retries_left: u8,
    },
    /// The column is not a column at all.
    #[error("column must be a whole number from 1 to {width}")]
    Malformed {
        /// Columns of the board.
        width: u8,
        /// Illegal moves that are still forgiven; `None` if the ply was not due and nothing was counted.
        retries_left: Option<u8>,
    },
    /// The game has ended.
    #[error("the game is over")]
    GameOver { result: GameResult },
    /// Whoever asks does not play in this game.
    #[error("you do not play in this game")]
    NotAPlayer,
    /// Both sides have moved.
    #[error("a game can be aborted only before each side has moved")]
    TooLateToAbort,
    /// The opponent is there, or not gone for long enough.
    #[error("there is nothing to claim{}", match .wait { Some(_) => " yet", None => "" })]
    NothingToClaim {
        /// How long until there may be.
        wait: Option<Duration>,
    },
    /// Rated games have no takebacks, bots ask for none, and there must be a move to take back.
    #[error("{0}")]
    NoTakeback(&'static str),
    /// The game goes on.
    #[error("a rematch can be offered when the game is over")]
    NotOver,
    /// Only the players of a casual or finished game between connected people may do this.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// A teacher lets the games of the class stand still.
    #[error("the teacher has paused the class: your clock stands, and you move when it goes on")]
    StandsStill,
    /// The room is gone: some time after the end of its game, or because the daemon stops and keeps the game.
    #[error("the game is not open now")]
    Closed,
    /// The move could not be stored.
    #[error("too much is waiting to be stored")]
    Busy,
    /// The node that has the room does not answer.
    #[error("the game cannot be reached now")]
    Unreachable,
}

impl RoomRefusal {
    /// The refusal as it travels.
    pub(crate) fn to_wire(&self, game: &GameId) -> WireError {
        let error = WireError::new(self.code(), self.to_string()).in_game(game);
        match self {
            Self::NotYourTurn { ply } => WireError { ply: Some(*ply), ..error },
            Self::StalePly { ply, column, .. } | Self::OfOpening { ply, column, .. } => {
                WireError { ply: Some(*ply), column: Some(*column), ..error }
            }
            Self::Illegal { retries_left, .. } => WireError { retries_left: Some(*retries_left), ..error },
            Self::Malformed { retries_left, .. } => {
                WireError { retries_left: *retries_left, field: Some("column".into()), ..error }
            }
            Self::GameOver { result } => WireError { result: Some(*result), ..error },
            Self::NothingToClaim { wait: Some(wait) } => error.retry_in(*wait),
            Self::Closed | Self::Busy | Self::Unreachable => error.retry_in(Duration::from_secs(1)),
            Self::NotAPlayer
            | Self::TooLateToAbort
            | Self::NothingToClaim { wait: None }
            | Self::NoTakeback(_)
            | Self::NotOver
            | Self::StandsStill
            | Self::NotAllowed(_) => error,
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NotYourTurn { .. } => ErrorCode::NotYourTurn,
            Self::StalePly { .. } | Self::OfOpening { .. } => ErrorCode::StalePly,
            Self::Illegal { .. } => ErrorCode::IllegalMove,
            Self::Malformed { .. } => ErrorCode::BadField,
            Self::GameOver { .. } => ErrorCode::GameOver,
            Self::NotAPlayer
            | Self::TooLateToAbort
            | Self::NothingToClaim { .. }
            | Self::NoTakeback(_)
            | Self::NotOver
            | Self::NotAllowed(_) => ErrorCode::Forbidden,
            Self::Closed | Self::StandsStill => ErrorCode::Paused,
            Self::Busy | Self::Unreachable => ErrorCode::Busy,
        }
    }
}
