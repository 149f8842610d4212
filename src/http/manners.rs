//! What machines ask of a public site at addresses that are the same everywhere: robots.txt, a map, whom to tell of
//! holes, an icon.

use std::fmt::Write as _;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::site::host;
use super::state::AppState;
use crate::model::time::UnixMillis;

/// Pages that are worth finding and always there. Games and players are found by their links.
const MAPPED: [&str; 16] = [
    "/",
    "/rules",
    "/analysis",
    "/puzzles",
    "/puzzles/daily",
    "/tv",
    "/bots",
    "/bots/new",
    "/bots/editor",
    "/leaderboard",
    "/tournaments",
    "/learning",
    "/docs",
    "/offline",
    "/privacy",
    "/status",
];

/// What crawlers leave alone: what is for programs, for one person, or without end. Pictures are shown with links.
const ROBOTS: &str = "User-agent: *\n\
    Allow: /api/v1/games/*.gif\n\
    Allow: /api/v1/games/*.png\n\
    Allow: /api/v1/games/*.svg\n\
    Disallow: /api/\n\
    Disallow: /account\n\
    Disallow: /admin\n\
    Disallow: /challenge/\n\
    Disallow: /embed/\n\
    Disallow: /puzzles/next\n\
    Disallow: /p/\n";

/// How long what security.txt says holds, from whenever it is asked for: RFC 9116 advises less than a year.
const SECURITY_DAYS: i64 = 180;
const DAY_MS: i64 = 86_400_000;

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/robots.txt", get(robots))
        .route("/sitemap.xml", get(sitemap))
        .route("/.well-known/security.txt", get(security))
        .route("/favicon.ico", get(favicon))
}

/// Where the site is: as the operator says, else where it was asked for.
fn origin(state: &AppState, headers: &HeaderMap) -> String {
    match &state.site.public_url {
        Some(_) => state.site.url(""),
        None => format!("{}://{}", state.site.scheme(), host(headers).unwrap_or("localhost")),
    }
}

async fn robots(State(state): State<AppState>, headers: HeaderMap) -> String {
    format!("{ROBOTS}\nSitemap: {}/sitemap.xml\n", origin(&state, &headers))
}

async fn sitemap(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let origin = escaped(&origin(&state, &headers));
    let mut map = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for path in MAPPED {
        // Writing into a String cannot fail.
        let _ = writeln!(map, "<url><loc>{origin}{path}</loc></url>");
    }
    map.push_str("</urlset>\n");
    ([(header::CONTENT_TYPE, "application/xml; charset=utf-8")], map).into_response()
}

/// A host is what the asker says it is.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Nothing where the operator names nobody.
async fn security(State(state): State<AppState>) -> Response {
    let Some(contact) = state.site.contact.link() else { return StatusCode::NOT_FOUND.into_response() };
    let today = UnixMillis::now().0.div_euclid(DAY_MS) * DAY_MS;
    let expires = UnixMillis(today.saturating_add(SECURITY_DAYS * DAY_MS));
    let mut text = format!("Contact: {contact}\nExpires: {expires}\nPreferred-Languages: en\n");
    if state.site.public_url.is_some() {
        let _ = writeln!(text, "Canonical: {}", state.site.url("/.well-known/security.txt"));
    }
    text.into_response()
}

async fn favicon(headers: HeaderMap) -> Response {
    super::assets::favicon(&headers)
}
