//! Refusals: every one has a code, words, and a hint when waiting helps.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::GameId;

/// Why a request was refused. The set only grows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not one JSON object, nested too deep, or a key given twice.
    BadJson,
    /// A field is missing or its value is not allowed; `field` names it.
    BadField,
    /// The frame is over the limit.
    TooLarge,
    /// Credentials missing, unknown or revoked.
    Unauthorized,
    /// Known, but not allowed.
    Forbidden,
    /// The protocol version is not spoken here; `supported` lists those that are.
    BadVersion,
    /// Too many messages; `retry_ms` says when to go on.
    RateLimited,
    /// A daily or pair limit; `retry_ms` says when it ends.
    Quota,
    /// No new games now; `retry_ms` says when to ask again.
    Paused,
    /// The other side is to move; `ply` says where the game stands.
    NotYourTurn,
    /// That ply was played with another column, which `column` names.
    StalePly,
    /// The column is full or out of range; `retries_left` counts down.
    IllegalMove,
    /// The game has ended; `result` says how.
    GameOver,
    /// Unknown, or not yours to see.
    NoSuchGame,
    /// Unknown, or not yours to see.
    NoSuchChallenge,
    /// Nobody of that name.
    NoSuchPlayer,
    /// No house bot of that name.
    NoSuchBot,
    /// The other's `accepts` excludes it; `field` names what.
    NotAccepting,
    /// You or they are at `max_games`.
    Busy,
    /// The idempotency key was used with other content.
    Conflict,
    /// Our fault; `incident` stands in the log too.
    Internal,
}

impl ErrorCode {
    /// All of them.
    pub(crate) const ALL: [Self; 21] = [
        Self::BadJson,
        Self::BadField,
        Self::TooLarge,
        Self::Unauthorized,
        Self::Forbidden,
        Self::BadVersion,
        Self::RateLimited,
        Self::Quota,
        Self::Paused,
        Self::NotYourTurn,
        Self::StalePly,
        Self::IllegalMove,
        Self::GameOver,
        Self::NoSuchGame,
        Self::NoSuchChallenge,
        Self::NoSuchPlayer,
        Self::NoSuchBot,
        Self::NotAccepting,
        Self::Busy,
        Self::Conflict,
        Self::Internal,
    ];

    /// As it stands on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::BadField => "bad_field",
            Self::TooLarge => "too_large",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::BadVersion => "bad_version",
            Self::RateLimited => "rate_limited",
            Self::Quota => "quota",
            Self::Paused => "paused",
            Self::NotYourTurn => "not_your_turn",
            Self::StalePly => "stale_ply",
            Self::IllegalMove => "illegal_move",
            Self::GameOver => "game_over",
            Self::NoSuchGame => "no_such_game",
            Self::NoSuchChallenge => "no_such_challenge",
            Self::NoSuchPlayer => "no_such_player",
            Self::NoSuchBot => "no_such_bot",
            Self::NotAccepting => "not_accepting",
            Self::Busy => "busy",
            Self::Conflict => "conflict",
            Self::Internal => "internal",
        }
    }
}

/// Prints the code as it stands on the wire.
impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal on the wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireError {
    /// Stable and documented.
    pub code: ErrorCode,
    /// For a reader, with values.
    pub(crate) message: String,
    /// The game it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) game: Option<GameId>,
    /// The field at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// When to try again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_ms: Option<u64>,
    /// Where the game stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ply: Option<u32>,
    /// The column that was played at that ply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u8>,
    /// Illegal moves that this game still forgives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retries_left: Option<u8>,
    /// How the game ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<crate::model::result::GameResult>,
    /// Protocol versions spoken here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) supported: Option<Vec<u32>>,
    /// What to name when reporting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) incident: Option<String>,
    /// Whether the connection closes after this.
    pub(crate) fatal: bool,
}

impl WireError {
    /// A refusal that says nothing more than its words.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            game: None,
            field: None,
            retry_ms: None,
            ply: None,
            column: None,
            retries_left: None,
            result: None,
            supported: None,
            incident: None,
            fatal: false,
        }
    }

    /// A field that is missing or has a value that is not allowed.
    pub(crate) fn bad_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::new(ErrorCode::BadField, message) }
    }

    /// Adds the game it is about.
    pub(crate) fn in_game(self, game: &GameId) -> Self {
        Self { game: Some(game.clone()), ..self }
    }

    /// Adds when to try again.
    pub(crate) fn retry_in(self, wait: std::time::Duration) -> Self {
        Self { retry_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)), ..self }
    }

    /// Announces that the connection closes after this.
    pub(crate) fn fatal(self) -> Self {
        Self { fatal: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_called_as_on_the_wire() {
        let listed = ErrorCode::ALL.map(|code| serde_json::to_value(code).unwrap());
        assert_eq!(listed.to_vec(), ErrorCode::ALL.map(ErrorCode::as_str));
        let schema = schemars::schema_for!(ErrorCode).to_value();
        let known: Vec<_> =
            schema["oneOf"].as_array().unwrap().iter().map(|code| code["const"].clone()).collect();
        assert_eq!(listed.to_vec(), known);
    }
}
