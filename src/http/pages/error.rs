//! Pages that say that there is no page.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use fourfold_engine::Variant;
use thiserror::Error;
use tracing::error;

use super::drawing::{Drawing, MiniBoard};
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::storage::StoreError;
use crate::study::puzzles::service::PuzzleError;

/// Why a page cannot be shown.
#[derive(Debug, Error)]
pub(super) enum PageError {
    /// Nothing is at this address.
    #[error("nothing is here")]
    NotFound(Box<Visitor>),
    /// Reading failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The puzzles cannot be read.
    #[error("the puzzles failed")]
    Puzzles(#[from] PuzzleError),
    /// What the page shows could not be read.
    #[error("{0}")]
    Read(String),
    /// A template failed.
    #[error("the page could not be rendered")]
    Render(#[from] askama::Error),
}

impl PageError {
    /// Nothing is at this address.
    pub(super) fn not_found(visitor: Visitor) -> Self {
        Self::NotFound(Box::new(visitor))
    }
}

/// A position to look at for whoever came for something else: Coral is to move and wins at once.
const MEANWHILE: &str = "445563";

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: LayoutFrame,
    title: &'static str,
    words: String,
    /// Where something may be found after all.
    search: Option<Search>,
}

/// The search of a page that is not there.
struct Search {
    /// What somebody has looked for, if it was a search.
    wanted: String,
    /// Names of players that are like it.
    similar: Vec<String>,
    board: MiniBoard,
    moves: &'static str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound(visitor) => not_found(&visitor),
            Self::Store(_) | Self::Puzzles(_) | Self::Read(_) | Self::Render(_) => {
                error!(error = ?self, "a page failed");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                let words = Visitor::unknown().language().text("error.failed_detail").to_owned();
                say(status, &Visitor::unknown(), "error.failed", words, None)
            }
        }
    }
}

/// The page for an address where nothing is.
pub(super) fn not_found(visitor: &Visitor) -> Response {
    let words = visitor.language().text("error.nothing_here_detail").to_owned();
    say(StatusCode::NOT_FOUND, visitor, "error.nothing_here", words, Some(Search::of("", Vec::new())))
}

/// The same for a search without a result; without a question it only asks.
pub(super) fn found_nothing(visitor: &Visitor, wanted: &str, similar: Vec<String>) -> Response {
    let lang = visitor.language();
    let search = Some(Search::of(wanted, similar));
    if wanted.is_empty() {
        let words = lang.text("error.find_detail").to_owned();
        return say(StatusCode::OK, visitor, "error.find_title", words, search);
    }
    let words = lang.fill("error.found_nothing", &[("wanted", wanted)]);
    say(StatusCode::NOT_FOUND, visitor, "error.nothing_here", words, search)
}

impl Search {
    fn of(wanted: &str, similar: Vec<String>) -> Self {
        let board = MiniBoard { drawing: Drawing::new(Variant::STANDARD, MEANWHILE) };
        Self { wanted: wanted.to_owned(), similar, board, moves: MEANWHILE }
    }
}

fn say(
    status: StatusCode,
    visitor: &Visitor,
    title: &'static str,
    words: String,
    search: Option<Search>,
) -> Response {
    let title = visitor.language().text(title);
    let page = ErrorPage { frame: visitor.frame(Tab::Elsewhere, title), title, words, search };
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(_) => (status, page.words).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Outcome, Variant};

    use super::MEANWHILE;

    #[test]
    fn who_comes_for_nothing_finds_the_one_column_that_wins() {
        let wins = |column: &&char| {
            let played = Game::from_moves(Variant::STANDARD, &format!("{MEANWHILE}{column}"));
            played.is_ok_and(|game| matches!(game.outcome(), Some(Outcome::Win { .. })))
        };
        assert_eq!(['1', '2', '3', '4', '5', '6', '7'].iter().filter(wins).collect::<Vec<_>>(), [&'7']);
        assert_eq!(MEANWHILE.len() % 2, 0, "Coral is to move");
    }
}
