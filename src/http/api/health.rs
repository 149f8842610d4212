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
        "Says that the store answers and new games may begin",
        Content::Json(schema_of::<HealthAnswer>),
    )
    .refusals(&[ApiCode::NotReady]);
    vec![
        Endpoint::new("/healthz", get(async || Json(OK)), [healthz]),
        Endpoint::new("/readyz", get(readiness), [readyz]),
    ]
}

async fn readiness(State(state): State<AppState>) -> Result<Json<HealthAnswer>, ApiError> {
    let not_ready = |message| ApiError::new(ApiCode::NotReady, message);
    if !state.arena.is_ready() {
        return Err(not_ready("the daemon takes no new games"));
    }
    state.store.ping().await.map_err(|error| {
        warn!(error = ?error, "the store does not answer");
        not_ready("the store does not answer")
    })?;
    Ok(Json(OK))
}
