//! Studies that are taken away.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use serde::{Deserialize, Serialize};

use super::players::Reason;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathPart};
use crate::model::ids::StudyId;
use crate::study::studies::remove;

/// A study that was taken away.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RemovedStudy {
    pub(crate) study: StudyId,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/studies/{id}/remove", post(remove_study))]
}

async fn remove_study(
    State(control): State<Control>,
    id: PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<RemovedStudy>, Refusal> {
    let because = because.checked()?;
    let study: StudyId = id.parse("study")?;
    remove(&control.writer, &study, because).await.map_err(ApiError::from)?;
    Ok(Json(RemovedStudy { study }))
}
