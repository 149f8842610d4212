//! What happens, line by line as it happens, for `curl -N`: one game, or every game that ends.
//!
//! The lines are messages of the WebSocket protocol without their numbers. Nothing is kept for a slow reader: when its
//! queue is full, the answer ends, and who asks again begins with a snapshot.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::stream;

use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::protocol::{Frame, ServerMessage};
use crate::session::line_feed::{FeedOf, LineFeed, NoFeed};

/// An empty line is sent after so long without a message, so that both ends notice when the connection is gone.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// When to come back if there are too many feeds.
const RETRY: Duration = Duration::from_secs(30);

pub(super) fn endpoints() -> Vec<Endpoint> {
    let results = Operation::get(
        "/api/v1/live/feed",
        "Streams a line for every game that ends, for as long as one listens",
        Content::Lines(schema_of::<ServerMessage>),
    )
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy]);
    let game = Operation::get(
        "/api/v1/games/{id}/feed",
        "Streams a game in progress, a line for each event, up to its end",
        Content::Lines(schema_of::<ServerMessage>),
    )
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy]);
    vec![
        Endpoint::new("/api/v1/live/feed", get(all_results), [results]),
        Endpoint::new("/api/v1/games/{id}/feed", get(one_game), [game]),
    ]
}

async fn all_results(State(state): State<AppState>) -> Result<Response, ApiError> {
    answer(&state, &FeedOf::Results)
}

async fn one_game(State(state): State<AppState>, part: PathPart) -> Result<Response, ApiError> {
    answer(&state, &FeedOf::Game(part.parse("live game")?))
}

fn answer(state: &AppState, what: &FeedOf) -> Result<Response, ApiError> {
    let feed = state.arena.follow(what).map_err(|refused| match refused {
        NoFeed::NotLive => ApiError::not_found("live game"),
        NoFeed::TooMany => ApiError::new(ApiCode::Busy, "too many feeds are open").retry_in(RETRY),
    })?;
    let lines = stream::unfold(Some(feed), async |feed| next_line(feed?).await);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that gather answers would make live news old.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// The next line, and the feed unless that was the last one.
async fn next_line(mut feed: LineFeed) -> Option<(Result<Bytes, Infallible>, Option<LineFeed>)> {
    let Ok(message) = tokio::time::timeout(SILENCE_MAX, feed.next()).await else {
        return Some((Ok(Bytes::from_static(b"\n")), Some(feed)));
    };
    let frame = message?;
    let is_last = matches!(frame.message(), ServerMessage::GameEnd(_));
    Some((Ok(line(&frame)), (!is_last).then_some(feed)))
}

fn line(frame: &Frame) -> Bytes {
    [frame.body(), "\n"].concat().into()
}
