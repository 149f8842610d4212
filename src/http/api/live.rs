//! Games in progress.

use axum::Json;
use axum::extract::State;
use axum::routing::get;

use super::LIMIT;
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::request::QueryParameters;
use crate::http::state::AppState;
use crate::protocol::server::LiveGame;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let live = Operation::get(
        "/api/v1/live",
        "Lists games in progress, the best rated first",
        Content::Json(schema_of::<List<LiveGame>>),
    )
    .parameters(&[LIMIT]);
    vec![Endpoint::new("/api/v1/live", get(live_games), [live])]
}

async fn live_games(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<List<LiveGame>>, ApiError> {
    let limit = parameters.limit()? as usize;
    let mut games = state.arena.live_games();
    games.truncate(limit);
    Ok(Json(List::whole(games)))
}
