//! Pages that say that there is no page.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use thiserror::Error;
use tracing::error;

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

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: LayoutFrame,
    title: &'static str,
    words: &'static str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound(visitor) => not_found(&visitor),
            Self::Store(_) | Self::Puzzles(_) | Self::Read(_) | Self::Render(_) => {
                error!(error = ?self, "a page failed");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                say(status, &Visitor::unknown(), "error.failed", "error.failed_detail")
            }
        }
    }
}

/// The page for an address where nothing is.
pub(super) fn not_found(visitor: &Visitor) -> Response {
    say(StatusCode::NOT_FOUND, visitor, "error.nothing_here", "error.nothing_here_detail")
}

fn say(status: StatusCode, visitor: &Visitor, title: &'static str, words: &'static str) -> Response {
    let (title, words) = (visitor.language().text(title), visitor.language().text(words));
    let page = ErrorPage { frame: visitor.frame(Tab::Elsewhere, title), title, words };
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(_) => (status, words.to_owned()).into_response(),
    }
}
