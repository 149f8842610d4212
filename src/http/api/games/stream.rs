//! All records as one long answer, of which only a page or two are in memory.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use tracing::warn;

use super::{FOR_THE_ASKER, seen_by};
use crate::http::auth::Viewer;
use crate::http::endpoint::{Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::record_query;
use crate::http::request::QueryParameters;
use crate::http::state::AppState;
use crate::model::bounded::BoundedLong;
use crate::model::ids::PlayerId;
use crate::storage::records::export::{ExportFormat, RecordReader};
use crate::storage::store::GameQuery;

/// How many games somebody wants: a stream has no end of its own.
type StreamLength = BoundedLong<1, { u64::MAX }>;

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    about: "At most so many games; all if left out",
    schema: schema_of::<StreamLength>,
};

pub(super) const COMPACT: Parameter = Parameter {
    name: "compact",
    about: "Whether records are short: names, moves and result alone",
    schema: schema_of::<bool>,
};

pub(super) async fn games(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<Response, ApiError> {
    let is_compact = parameters.optional::<bool>("compact")?.unwrap_or_default();
    let format = if is_compact { ExportFormat::Compact } else { ExportFormat::Ndjson };
    let limit = parameters.optional::<StreamLength>("limit")?.map(StreamLength::number);
    // No arena has as many games as a smaller number cannot count.
    let limit = limit.map_or(u32::MAX, |limit| u32::try_from(limit).unwrap_or(u32::MAX));
    let (query, filter) = record_query::read(&*state.store, &parameters, limit).await?;
    let query = GameQuery { seen_by: seen_by(viewer.as_ref()), ..query };
    Ok(answer(RecordReader::chosen(Arc::clone(&state.store), query, filter), format, Bytes::new()))
}

/// All finished games of one player after a first line.
pub(in crate::http::api) fn games_of(state: AppState, player: PlayerId, head: Bytes) -> Response {
    let query = GameQuery { player: Some(player), limit: u32::MAX, ..GameQuery::default() };
    answer(RecordReader::new(state.store, query), ExportFormat::Ndjson, head)
}

/// If the store fails in between, the answer breaks off without its end: reading on from the last number gets the rest.
fn answer(reader: RecordReader, format: ExportFormat, head: Bytes) -> Response {
    let pages = reader.into_text(format).inspect(|page| {
        if let Err(error) = page {
            warn!(error = %error, "a stream of records ends early");
        }
    });
    let body = Body::from_stream(stream::iter([Ok(head)]).chain(pages));
    (FOR_THE_ASKER, [(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}
