//! All records as one long answer, of which only a page at a time is in memory.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use tracing::warn;

use super::{player_of, since};
use crate::http::endpoint::{Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::request::{Cursor, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::BoundedLong;
use crate::model::ids::PlayerId;
use crate::storage::Store;
use crate::storage::records::players::PlayerCache;
use crate::storage::store::GameQuery;

/// Records read from the store at a time: some 60 KiB of text.
const PAGE: u32 = 100;

/// How many games somebody wants: a stream has no end of its own.
type StreamLength = BoundedLong<1, { u64::MAX }>;

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    about: "At most so many games; all if left out",
    schema: schema_of::<StreamLength>,
};

pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    about: "Only games with a higher number in the order in which they finished",
    schema: schema_of::<Cursor>,
};

/// Where the stream stands.
struct StreamProgress {
    store: Arc<dyn Store>,
    query: GameQuery,
    /// How many games may still come.
    left: u64,
}

pub(super) async fn games(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Response, ApiError> {
    let left = parameters.optional::<StreamLength>("limit")?.map(StreamLength::number);
    let query = GameQuery {
        after: parameters.cursor()?,
        since: since(&parameters)?,
        player: player_of(&state, &parameters).await?,
        newest_first: false,
        limit: PAGE,
    };
    Ok(answer(StreamProgress { store: state.store, query, left: left.unwrap_or(u64::MAX) }, Bytes::new()))
}

/// All finished games of one player after a first line.
pub(in crate::http::api) fn games_of(state: AppState, player: PlayerId, head: Bytes) -> Response {
    let query = GameQuery { player: Some(player), limit: PAGE, ..GameQuery::default() };
    answer(StreamProgress { store: state.store, query, left: u64::MAX }, head)
}

fn answer(progress: StreamProgress, head: Bytes) -> Response {
    let head = stream::iter([Ok(head)]);
    let pages = stream::unfold(Some(progress), async |progress| next_page(progress?).await);
    let body = Body::from_stream(head.chain(pages));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// The next lines, and where the stream stands after them; nothing at its end.
async fn next_page(progress: StreamProgress) -> StreamPart {
    match read_page(progress).await {
        Ok(page) => page,
        Err(error) => {
            // The head of the answer is sent: all that is left is to end it. Who reads on from the last number gets
            // the rest.
            warn!(code = ?error.code, "a stream of records ends early");
            None
        }
    }
}

type StreamPart = Option<(Result<Bytes, Infallible>, Option<StreamProgress>)>;

async fn read_page(mut progress: StreamProgress) -> Result<StreamPart, ApiError> {
    progress.query.limit = u32::try_from(progress.left.min(PAGE.into())).unwrap_or(PAGE);
    if progress.query.limit == 0 {
        return Ok(None);
    }
    let games = progress.store.finished_games(&progress.query).await?;
    let Some(last) = games.last() else { return Ok(None) };
    progress.query.after = last.settlement.as_ref().map(|settlement| settlement.number);
    progress.left = progress.left.saturating_sub(games.len() as u64);
    let mut lines = Vec::new();
    let mut players = PlayerCache::default();
    for game in &games {
        let record = players.record(&*progress.store, game).await?;
        serde_json::to_writer(&mut lines, &record).map_err(|error| ApiError::internal(&error))?;
        lines.push(b'\n');
    }
    // A page that is not full is the last one: asking again would find what finished in between, and never end.
    let is_last = games.len() < progress.query.limit as usize || progress.query.after.is_none();
    Ok(Some((Ok(lines.into()), (!is_last).then_some(progress))))
}
