//! Whether the daemon lives, whether players should enter here, and whether it takes new games.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use tracing::warn;

use super::BUSY_RETRY;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::state::AppState;

/// So many nodes of a cluster leave the sockets of players to those that stand by: with two the other one would be the
/// only way in.
const NODES_TO_SPARE_THE_LEADER: u64 = 3;

/// All is well.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct HealthAnswer {
    /// `ok`; otherwise the answer is an error.
    status: &'static str,
}

const OK: HealthAnswer = HealthAnswer { status: "ok" };

pub(super) fn endpoints() -> Vec<Endpoint> {
    let healthz =
        Operation::get("/healthz", "Says that the process answers", Content::Json(schema_of::<HealthAnswer>));
    let entrance = Operation::get(
        "/healthz/players",
        "Says to balancers that players should enter here: not at the node that leads two others or more, nor where no place \
         is left or the one that leads is not reached",
        Content::Json(schema_of::<HealthAnswer>),
    )
    .refusals(&[ApiCode::NotFound]);
    let readyz = Operation::get(
        "/readyz",
        "Says that the store answers, new games may begin, and no part of the daemon pauses after failures",
        Content::Json(schema_of::<HealthAnswer>),
    )
    .refusals(&[ApiCode::NotReady]);
    vec![
        Endpoint::new("/healthz", get(async || Json(OK)), [healthz]),
        Endpoint::new("/healthz/players", get(entrance_for_players), [entrance]),
        Endpoint::new("/readyz", get(readiness), [readyz]),
    ]
}

/// A node that answers this itself leads, or is alone. It has enough to do with the games.
async fn entrance_for_players(State(state): State<AppState>) -> Result<Json<HealthAnswer>, ApiError> {
    if state.metrics.totals().nodes < NODES_TO_SPARE_THE_LEADER {
        return Ok(Json(OK));
    }
    Err(ApiError::new(ApiCode::NotFound, "this node leads: players enter by those that stand by"))
}

async fn readiness(State(state): State<AppState>) -> Result<Json<HealthAnswer>, ApiError> {
    let obstacle = state.arena.obstacle().map(|obstacle| format!("{}: {obstacle}", obstacle.as_str()));
    let mut reasons: Vec<String> =
        state.arena.closed().into_iter().chain(obstacle).chain(state.arena.pauses()).collect();
    // What cannot store anything is known to be out of order without being asked.
    if reasons.is_empty()
        && let Err(error) = state.store.ping().await
    {
        warn!(error = ?error, "the store does not answer");
        reasons.push("the store does not answer".to_owned());
    }
    let Some(first) = reasons.first() else { return Ok(Json(OK)) };
    let not_ready = ApiError::new(ApiCode::NotReady, first).retry_in(BUSY_RETRY);
    Err(ApiError { reasons, ..not_ready })
}
