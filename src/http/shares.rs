//! What requests use up of their network's shares, by their routes.

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt as _;

use super::client_address::ClientAddress;
use super::endpoint::Verb;
use super::error::ApiError;
use super::state::AppState;
use super::{dumps, programs};
use crate::system::shares::{Held, Payer, Share};

/// Streams of many games, and large files.
const EXPORTS: [&str; 4] = ["/api/v1/games.ndjson", "/api/v1/account/export", programs::ROUTE, dumps::ROUTE];

/// Streams of events, for as long as somebody listens.
const FEEDS: [&str; 2] = ["/api/v1/live/feed", "/api/v1/games/{id}/feed"];

/// What reads much of the store for one answer.
const SEARCHES: [&str; 28] = [
    "/find",
    "/api/v1/leaderboard",
    "/api/v1/games",
    "/api/v1/games/{id}/review",
    "/api/v1/bots/{name}/games",
    "/api/v1/bots/{name}/record",
    "/api/v1/bots/{name}/duels",
    "/api/v1/duels/{id}",
    "/duel/{id}",
    "/api/v1/bots/{name}/mistakes",
    "/api/v1/bots/{name}/mistakes.tsv",
    "/bot/{name}",
    "/api/v1/players/{name}",
    "/api/v1/players/{name}/games",
    "/api/v1/players/{name}/ratings",
    "/api/v1/players/{name}/crosstable",
    "/api/v1/players/{name}/habits",
    "/api/v1/players/{name}/skill",
    "/api/v1/positions/{moves}",
    "/analysis",
    "/analysis/{moves}",
    "/bots",
    "/leaderboard",
    "/learning",
    "/learning/{name}",
    "/player/{name}",
    "/puzzles",
    "/tournament/{id}",
];

/// Below this, attempts are counted by who makes them, where that is known.
const COUNTED_THERE: &str = "/api/v1/puzzles/";

/// Below this nothing is stored: questions that are too long for an address, one for each move of a game.
const QUESTIONS: &str = "/api/v1/memory/";

/// What a request uses up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Nothing,
    /// One of the share.
    One(Share),
    /// One, and a place as long as the answer takes.
    Place(Share),
}

fn use_of(method: &Method, route: &str) -> Use {
    if !method.is_safe() {
        return match route {
            route if route.starts_with(COUNTED_THERE) => Use::Nothing,
            route if route.starts_with(QUESTIONS) => Use::One(Share::Search),
            _ => Use::One(Share::Change),
        };
    }
    match route {
        route if EXPORTS.contains(&route) => Use::Place(Share::Export),
        route if FEEDS.contains(&route) => Use::Place(Share::Feed),
        route if SEARCHES.contains(&route) => Use::One(Share::Search),
        _ => Use::Nothing,
    }
}

/// Whether what is done on a path may be refused because a share is used up.
pub(super) fn may_refuse(verb: Verb, path: &str) -> bool {
    let method = match verb {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Put => Method::PUT,
        Verb::Delete => Method::DELETE,
    };
    use_of(&method, path) != Use::Nothing
}

/// Middleware: draws on the network's shares, or refuses.
///
/// # Errors
///
/// 429 if the network has used its share up, 503 if all together have.
pub(super) async fn draw(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Some(route) = request.extensions().get::<MatchedPath>().cloned() else {
        return Ok(next.run(request).await);
    };
    let (parts, body) = request.into_parts();
    let ClientAddress(address) = ClientAddress::of(&state.site, &parts);
    let payer = Payer::stranger(address);
    let request = Request::from_parts(parts, body);
    match use_of(request.method(), route.as_str()) {
        Use::Nothing => Ok(next.run(request).await),
        Use::One(share) => {
            state.shares.spend(share, &payer)?;
            Ok(next.run(request).await)
        }
        Use::Place(share) => {
            let held = state.shares.hold(share, &payer)?;
            state.shares.spend(share, &payer)?;
            Ok(held_while_sent(next.run(request).await, held))
        }
    }
}

/// Gives the place back when the body has been sent, or nobody takes it any more.
fn held_while_sent(response: Response, held: Held) -> Response {
    response.map(|body| {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _kept = &held;
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_counted_and_what_only_looks_mostly_not() {
        assert_eq!(use_of(&Method::POST, "/api/v1/bots"), Use::One(Share::Change));
        assert_eq!(use_of(&Method::DELETE, "/api/v1/games"), Use::One(Share::Change));
        assert_eq!(use_of(&Method::POST, "/api/v1/puzzles/{id}/hints"), Use::Nothing);
        assert_eq!(use_of(&Method::POST, "/api/v1/memory/move"), Use::One(Share::Search));
        assert_eq!(use_of(&Method::HEAD, "/api/v1/games"), Use::One(Share::Search));
        assert_eq!(use_of(&Method::GET, "/api/v1/live/feed"), Use::Place(Share::Feed));
        assert_eq!(use_of(&Method::GET, "/api/v1/games.ndjson"), Use::Place(Share::Export));
        assert_eq!(use_of(&Method::GET, "/healthz"), Use::Nothing);
    }
}
