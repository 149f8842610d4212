//! Tournaments. None are held yet: the list is empty, and every name in it unknown.

use axum::Json;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CURSOR, LIMIT};
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::request::Parameters;

/// A tournament.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Tournament {
    /// The last part of its link.
    id: String,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/tournaments",
        "Lists tournaments, the newest first",
        Content::Json(schema_of::<List<Tournament>>),
    )
    .parameters(&[LIMIT, CURSOR]);
    let one = Operation::get(
        "/api/v1/tournaments/{id}",
        "Shows a tournament's standings and crosstable",
        Content::Json(schema_of::<Tournament>),
    );
    vec![
        Endpoint::new("/api/v1/tournaments", get(tournaments), [list]),
        Endpoint::new("/api/v1/tournaments/{id}", get(tournament), [one]),
    ]
}

async fn tournaments(parameters: Parameters) -> Result<Json<List<Tournament>>, ApiError> {
    parameters.limit()?;
    parameters.cursor()?;
    Ok(Json(List::whole(Vec::new())))
}

async fn tournament() -> Result<Json<Tournament>, ApiError> {
    Err(ApiError::not_found("tournament"))
}
