//! Conditional moves of one's games by correspondence.

use axum::Json;
use axum::extract::State;
use axum::routing::put;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::model::ids::GameId;
use crate::play::host::ConditionalRefusal;

/// What one answers if the opponent plays so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConditionalLines {
    /// Up to 20 lines: in each a move of the opponent and one's answer, in turns, as columns from 1, up to 20 in all.
    lines: Vec<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let path = "/api/v1/games/{id}/conditional";
    let show = Operation::get(
        path,
        "Shows what one has said in advance in a game by correspondence, as far as it may still come",
        Content::Json(schema_of::<ConditionalLines>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound]);
    let say = Operation::put(
        path,
        "Says what one answers in a game by correspondence if the opponent plays so; no lines take it back",
        Content::Json(schema_of::<ConditionalLines>),
    )
    .body(schema_of::<ConditionalLines>)
    .signed_in()
    .refusals(&[
        ApiCode::Forbidden,
        ApiCode::NotFound,
        ApiCode::Conflict,
        ApiCode::OriginNotAllowed,
        ApiCode::Busy,
    ]);
    vec![Endpoint::new(path, put(say_lines).get(show_lines), [show, say])]
}

async fn show_lines(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    id: PathPart,
) -> Result<Json<ConditionalLines>, ApiError> {
    let player = person(session)?.identity.id;
    let game: GameId = id.parse("game")?;
    let lines = state.arena.said_in_advance(&game, &player).await?;
    Ok(Json(ConditionalLines { lines }))
}

async fn say_lines(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    id: PathPart,
    JsonBody(ConditionalLines { lines }): JsonBody<ConditionalLines>,
) -> Result<Json<ConditionalLines>, ApiError> {
    let player = person(session)?.identity.id;
    let game: GameId = id.parse("game")?;
    let lines = state.arena.say_in_advance(&game, &player, &lines).await?;
    Ok(Json(ConditionalLines { lines }))
}

impl From<ConditionalRefusal> for ApiError {
    fn from(refusal: ConditionalRefusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            ConditionalRefusal::NoSuchGame => Self::new(ApiCode::NotFound, message),
            ConditionalRefusal::YourMove => Self::new(ApiCode::Conflict, message),
            ConditionalRefusal::Lines(_) => Self::bad_field("lines", message),
            ConditionalRefusal::Store(error) => error.into(),
            ConditionalRefusal::Write(error) => error.into(),
        }
    }
}
