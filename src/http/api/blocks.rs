//! Whom people block.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, put};
use schemars::JsonSchema;
use serde::Serialize;

use super::account::{both, person};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::storage::follows::TiedPlayer;

/// Whom one blocks.
#[derive(Debug, Serialize, JsonSchema)]
struct Blocks {
    /// At most 200, by name.
    blocks: Vec<BlockView>,
}

/// Somebody whom one blocks.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Block")]
struct BlockView {
    name: PlayerName,
    kind: PlayerKind,
    /// Since when, RFC 3339.
    since: String,
}

impl From<TiedPlayer> for BlockView {
    fn from(tied: TiedPlayer) -> Self {
        let TiedPlayer { id: _, name, kind, house: _, is_mutual: _, since } = tied;
        Self { name, kind, since: since.to_string() }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/blocks",
        "Lists whom one blocks, who learn nothing of it",
        Content::Json(schema_of::<Blocks>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    let block = Operation::put(
        "/api/v1/account/blocks/{name}",
        "Blocks a player: no challenges, pairings, rematches, takebacks and reactions between the two any more, and neither follows the other",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Conflict, ApiCode::Busy]);
    let unblock = Operation::delete(
        "/api/v1/account/blocks/{name}",
        "Blocks somebody no more; nothing if one did not",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Busy]);
    vec![
        Endpoint::new("/api/v1/account/blocks", get(show_blocks), [show]),
        Endpoint::new("/api/v1/account/blocks/{name}", put(add_block).delete(remove_block), [block, unblock]),
    ]
}

async fn show_blocks(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    let player = person(session)?.identity.id;
    let blocks = state.accounts.blocked_by(&player).await?.into_iter().map(BlockView::from).collect();
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Blocks { blocks })))
}

async fn add_block(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    name: PathPart,
) -> Result<StatusCode, ApiError> {
    let (player, blocked) = both(&state, session, &name).await?;
    state.accounts.block(&player, &blocked).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_block(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    name: PathPart,
) -> Result<StatusCode, ApiError> {
    let (player, blocked) = both(&state, session, &name).await?;
    state.accounts.unblock(&player, &blocked).await?;
    Ok(StatusCode::NO_CONTENT)
}
