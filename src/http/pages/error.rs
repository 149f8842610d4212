//! Pages that say that there is no page.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use thiserror::Error;
use tracing::error;

use super::layout::{Frame, Tab, Visitor};
use crate::storage::StoreError;

/// Why a page cannot be shown.
#[derive(Debug, Error)]
pub(super) enum PageError {
    /// Nothing is at this address.
    #[error("nothing is here")]
    NotFound(Box<Visitor>),
    /// Reading failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
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
struct ErrorPage<'a> {
    frame: Frame,
    title: &'a str,
    words: &'a str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound(visitor) => not_found(&visitor),
            Self::Store(_) | Self::Render(_) => {
                error!(error = ?self, "a page failed");
                let words = "Something failed on our side. Please try again in a moment.";
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                say(status, &Visitor::unknown(), "That did not work", words)
            }
        }
    }
}

/// The page for an address where nothing is.
pub(super) fn not_found(visitor: &Visitor) -> Response {
    let words = "There is no page at this address. Perhaps the game or invitation has ended, or the link lost a letter.";
    say(StatusCode::NOT_FOUND, visitor, "Nothing here", words)
}

fn say(status: StatusCode, visitor: &Visitor, title: &str, words: &str) -> Response {
    let page = ErrorPage { frame: visitor.frame(Tab::Elsewhere, title), title, words };
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(_) => (status, words.to_owned()).into_response(),
    }
}
