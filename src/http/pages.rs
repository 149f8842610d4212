//! The pages that people see: rendered here in full, so that they read without script; the modules in `web/static`
//! bring them to life.
//!
//! Each page is a template with a struct of what it shows, built from stored and wire types, and a thin handler.

mod account;
pub(super) mod admin;
mod analysis;
mod author;
mod bots;
mod bracket;
mod calendar;
mod challenge;
mod changed_moves;
mod characters;
mod chart;
mod classes;
mod correspondence;
mod docs;
mod drawing;
mod duel;
mod editor;
pub(super) mod embed;
mod error;
mod find;
mod friends;
mod gallery;
mod game;
mod glossary;
mod invite;
mod layout;
mod leaderboard;
mod learning;
mod lessons;
mod live;
mod lobby;
mod mailed;
mod moment;
mod offline;
mod papers;
mod parts;
mod pattern;
mod player;
mod puzzle_teaser;
mod puzzle_themes;
mod puzzles;
mod qr;
mod rules;
mod rush;
mod seasons;
mod settings;
mod status;
mod studies;
mod teach;
#[cfg(test)]
mod tests;
mod time_choice;
mod tournament_plans;
mod tournament_wall;
mod tournaments;
mod tv;
mod wall;
mod watched;
mod words;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{Html, Response};
use axum::routing::get;
use tower_http::compression::CompressionLayer;

use self::error::PageError;
pub(super) use self::layout::Visitor;
use super::state::AppState;

/// A page, or why there is none.
type Page = Result<Html<String>, PageError>;

/// Pages differ by who asks and what is going on, so nobody else may keep them.
const CACHING: HeaderValue = HeaderValue::from_static("no-cache, private");

/// The routes of all pages.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(lobby::page))
        .route("/game/{id}", get(game::page))
        .route("/tv", get(tv::page))
        .route("/wall", get(wall::page))
        .route("/embed/tv", get(embed::tv))
        .route("/embed/{id}", get(embed::page))
        .route("/offline", get(offline::page))
        .route("/find", get(find::page))
        .route("/rules", get(rules::page))
        .route("/learn", get(lessons::index))
        .route("/learn/glossary", get(glossary::page))
        .route("/glossary", get(glossary::short))
        .route("/learn/{name}", get(lessons::one))
        .route("/settings", get(settings::page))
        .route("/leaderboard", get(leaderboard::page))
        .route("/seasons", get(seasons::list))
        .route("/season/{name}", get(seasons::one))
        .route("/player/{name}", get(player::page))
        .route("/learning", get(learning::page))
        .route("/learning/{name}", get(learning::one))
        .route("/teach", get(teach::page))
        .route("/puzzles", get(puzzles::index))
        .route("/puzzles/daily", get(puzzles::daily))
        .route("/puzzles/rush", get(rush::rush))
        .route("/puzzles/rush/board", get(rush::board))
        .route("/puzzles/next", get(puzzles::next))
        .route("/puzzle/{id}", get(puzzles::one))
        .merge(position_pages())
        .merge(own_pages())
        .merge(meeting_pages())
        .merge(tournament_pages())
        .merge(class_pages())
        .merge(authors())
        .merge(papers())
        .layer(map_response(with_caching))
        .layer(from_fn(remember_language))
        // No page holds a secret that its length could give away: tokens are never in one.
        .layer(CompressionLayer::new())
}

/// The routes of the pages about positions, and what people show of them.
fn position_pages() -> Router<AppState> {
    Router::new()
        .route("/analysis", get(analysis::start))
        .route("/analysis/{moves}", get(analysis::page))
        .route("/p/{moves}", get(analysis::short))
        .route("/studies", get(studies::list))
        .route("/study/new", get(studies::new))
        .route("/study/{id}", get(studies::one))
        .route("/study/{id}/edit", get(studies::edit))
}

/// The routes of the pages about one's account and those whom one follows.
fn own_pages() -> Router<AppState> {
    Router::new()
        .route("/friends", get(friends::page))
        .route("/account", get(account::page))
        .route("/account/mail", get(mailed::verify))
        .route("/account/reset", get(mailed::reset))
}

/// The routes of the pages by which people come to a game with each other.
fn meeting_pages() -> Router<AppState> {
    Router::new()
        .route("/correspondence", get(correspondence::page))
        .route("/invite", get(invite::page))
        .route("/challenge/{id}", get(challenge::page))
        .route("/challenge/{id}/qr.svg", get(qr::challenge))
}

/// The routes of the pages about tournaments.
fn tournament_pages() -> Router<AppState> {
    Router::new()
        .route("/tournaments", get(tournaments::list))
        .route("/tournaments/new", get(tournament_plans::form))
        .route("/tournament/{id}", get(tournaments::one))
        .route("/tournament/{id}/qr.svg", get(qr::tournament))
        .route("/tournament/{id}/table", get(tournaments::table))
        .route("/tournament/{id}/wall", get(tournament_wall::page))
}

/// The routes of the pages of classes.
fn class_pages() -> Router<AppState> {
    Router::new()
        .route("/class", get(classes::door))
        .route("/class/{code}", get(classes::one))
        .route("/class/{code}/qr.svg", get(qr::class))
}

/// The routes of the pages about bots in general, and of the corner of their authors.
fn authors() -> Router<AppState> {
    Router::new()
        .route("/bots", get(bots::page))
        .route("/bots/new", get(author::new))
        .route("/bots/editor", get(editor::page))
        .route(editor::WORKER, get(editor::worker))
        .route("/bot/{name}", get(author::page))
        .route("/duel/{id}", get(duel::page))
        .route("/bots/gallery", get(gallery::page))
}

/// The routes of the pages to read: how the arena is, who runs it, how it is used.
fn papers() -> Router<AppState> {
    Router::new()
        .route("/status", get(status::page))
        .route("/privacy", get(papers::privacy))
        .route("/terms", get(papers::terms))
        .route("/imprint", get(papers::imprint))
        .route("/docs", get(docs::index))
        .route("/docs/{name}", get(docs::page))
        .route("/docs/images/{name}", get(docs::picture))
}

/// The page for an address where nothing is.
pub(crate) async fn not_found(visitor: layout::Visitor) -> Response {
    with_caching(error::not_found(&visitor)).await
}

/// Keeps a language that was chosen, for a year or until another one is.
async fn remember_language(request: Request, next: Next) -> Response {
    let chosen = layout::chosen_language(request.uri());
    let mut response = next.run(request).await;
    if let Some(language) = chosen {
        let cookie =
            format!("{}={}; Path=/; Max-Age=31536000; SameSite=Lax", layout::LANGUAGE, language.tag());
        response
            .headers_mut()
            .extend(HeaderValue::try_from(cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
    }
    response
}

async fn with_caching(mut response: Response) -> Response {
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(CACHING);
    response
}
