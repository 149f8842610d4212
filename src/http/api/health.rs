//! Whether the daemon lives, and whether it takes new games.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use tracing::warn;

use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::state::AppState;

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
    let readyz = Operation::get(
        "/readyz",
        "Says that the store answers, new games may begin, and no part of the daemon pauses after failures",
        Content::Json(schema_of::<HealthAnswer>),
    )
    .refusals(&[ApiCode::NotReady]);
    vec![
        Endpoint::new("/healthz", get(async || Json(OK)), [healthz]),
        Endpoint::new("/readyz", get(readiness), [readyz]),
    ]
}

async fn readiness(State(state): State<AppState>) -> Result<Json<HealthAnswer>, ApiError> {
    let not_ready = |message: &str| ApiError::new(ApiCode::NotReady, message);
    if !state.arena.is_ready() {
        return Err(not_ready("the daemon takes no new games"));
    }
    let mut reasons = state.arena.pauses();
    if let Some(obstacle) = state.arena.obstacle() {
        reasons.insert(0, format!("{}: {obstacle}", obstacle.as_str()));
    }
    if let Some(first) = reasons.first() {
        return Err(ApiError { reasons: reasons.clone(), ..not_ready(first) });
    }
    state.store.ping().await.map_err(|error| {
        warn!(error = ?error, "the store does not answer");
        not_ready("the store does not answer")
    })?;
    Ok(Json(OK))
}
