//! Reports to the operators.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use fourfold_engine::Side;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::accounts::reporting::Complaint;
use crate::http::auth::Viewer;
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::{Identity, PlayerKind};
use crate::model::text::{Lines, check_text};
use crate::storage::StoredPlayer;
use crate::storage::reports::ReportReason;
use crate::storage::words::Word as _;

/// Characters of a note: what an operator reads in half a minute.
const NOTE_MAX: usize = 500;

/// A report to the operators.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Report {
    /// The name of whom it is about: an account, a guest, or a bot that is none of the house's.
    player: String,
    /// `name`, `cheating`, `stalling`, `harassment` or `other`.
    reason: String,
    /// At most 500 characters; needed if the reason is `other`.
    #[serde(default)]
    note: String,
    /// The id of a game that the player has played, if it is about one.
    #[serde(default)]
    game: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let report = Operation::post("/api/v1/reports", "Reports a player to the operators", Content::Nothing)
        .status(204)
        .body(schema_of::<Report>)
        .refusals(&[
            ApiCode::Unauthorized,
            ApiCode::Forbidden,
            ApiCode::Conflict,
            ApiCode::RateLimited,
            ApiCode::Busy,
            ApiCode::OriginNotAllowed,
        ]);
    vec![Endpoint::new("/api/v1/reports", post(add_report), [report])]
}

async fn add_report(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    viewer: Option<Viewer>,
    JsonBody(Report { player, reason, note, game }): JsonBody<Report>,
) -> Result<StatusCode, ApiError> {
    let reporter = reporter(&state, viewer)?;
    let reason = reason_of(&reason)?;
    let note = note_of(&note, reason)?;
    let player = reported(&state, &reporter, &player).await?;
    let game = match game {
        Some(id) => Some(game_of(&state, &id, &player.id).await?),
        None => None,
    };
    let complaint = Complaint { player: player.id, game, reason, note };
    state.accounts.report(from, &reporter, complaint).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whoever may report: people, with an account or as guests where guests play.
fn reporter(state: &AppState, viewer: Option<Viewer>) -> Result<Identity, ApiError> {
    let Some(Viewer { identity, .. }) = viewer else { return Err(ApiError::unauthorized("sign in first")) };
    match identity.kind {
        PlayerKind::Human => Ok(identity),
        PlayerKind::Guest if state.access.guests => Ok(identity),
        PlayerKind::Guest => Err(ApiError::unauthorized("sign in first")),
        PlayerKind::Bot => Err(ApiError::new(ApiCode::Forbidden, "people report, bots do not")),
    }
}

fn reason_of(text: &str) -> Result<ReportReason, ApiError> {
    let words: Vec<&str> = ReportReason::ALL.iter().map(|reason| reason.word()).collect();
    let unknown = || ApiError::bad_field("reason", format!("the reason is one of: {}", words.join(", ")));
    ReportReason::from_word(text).ok_or_else(unknown)
}

fn note_of(text: &str, reason: ReportReason) -> Result<String, ApiError> {
    let note = text.trim();
    if note.is_empty() && reason == ReportReason::Other {
        return Err(ApiError::bad_field("note", "a note is needed: nothing else says what it is about"));
    }
    check_text(note, NOTE_MAX, Lines::Many)
        .map_err(|bad| ApiError::bad_field("note", format!("the note {bad}")))?;
    Ok(note.to_owned())
}

async fn reported(state: &AppState, reporter: &Identity, name: &str) -> Result<StoredPlayer, ApiError> {
    let bad = |message: &str| ApiError::bad_field("player", message);
    let found = match name.parse::<PlayerName>() {
        Ok(name) => state.store.player_by_name(&name).await?,
        Err(_) => None,
    };
    let player = found.ok_or_else(|| bad("there is no player of this name"))?;
    if player.house {
        return Err(bad("the house answers for its bots: write to whoever runs the arena"));
    }
    if player.id == reporter.id || player.owner.as_ref() == Some(&reporter.id) {
        return Err(bad("nobody reports themselves"));
    }
    Ok(player)
}

/// The game, which the player has played.
async fn game_of(state: &AppState, id: &str, player: &PlayerId) -> Result<GameId, ApiError> {
    let bad = |message: &str| ApiError::bad_field("game", message);
    let found = match id.parse::<GameId>() {
        Ok(id) => state.store.game(&id).await?,
        Err(_) => None,
    };
    let game = found.ok_or_else(|| bad("there is no such game"))?;
    let has_played = Side::BOTH.iter().any(|side| game.spec.players[*side] == *player);
    if has_played { Ok(game.spec.id) } else { Err(bad("the player has not played this game")) }
}
