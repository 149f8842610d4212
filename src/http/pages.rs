//! The pages that people see: rendered here in full, so that they read without script; the modules in `web/static`
//! bring them to life.
//!
//! Each page is a template with a struct of what it shows, built from stored and wire types, and a thin handler.

mod account;
mod bots;
mod challenge;
mod docs;
mod drawing;
mod error;
mod game;
mod layout;
mod leaderboard;
mod live;
mod lobby;
mod parts;
mod player;
mod tv;
mod words;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{Html, Response};
use axum::routing::get;

use self::error::PageError;
use super::state::AppState;

/// A page, or why there is none.
type Page = Result<Html<String>, PageError>;

/// What pages may load and do: everything from this site, nothing inline, no frames around them, and no text turned
/// into markup by scripts.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every page beside its policy.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    // Pages differ by who asks and what is going on.
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// The routes of all pages.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(lobby::page))
        .route("/game/{id}", get(game::page))
        .route("/tv", get(tv::page))
        .route("/leaderboard", get(leaderboard::page))
        .route("/player/{name}", get(player::page))
        .route("/bots", get(bots::page))
        .route("/challenge/{id}", get(challenge::page))
        .route("/account", get(account::page))
        .route("/docs", get(docs::index))
        .route("/docs/{name}", get(docs::page))
        .layer(map_response(with_headers))
}

/// The page for an address where nothing is.
pub async fn not_found(visitor: layout::Visitor) -> Response {
    with_headers(error::not_found(visitor)).await
}

async fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}
