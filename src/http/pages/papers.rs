//! What the law or good manners ask of a public site: who runs it, what is kept of whom, on what terms.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::docs;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::site::Site;
use crate::http::state::AppState;

/// What the daemon keeps of whom, true of every arena; the operator's own words take its place.
const PRIVACY: &str = include_str!("../../../web/papers/privacy.md");

#[derive(Template)]
#[template(path = "paper.html")]
struct Paper {
    frame: LayoutFrame,
    /// Made by us from the operator's file or our own; markup in them stays text.
    html: String,
    tongue: Tongue,
}

/// In which language a paper is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tongue {
    /// Ours is.
    English,
    /// Whatever the operator has written it in.
    TheOperators,
}

pub(super) async fn privacy(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.site.papers.privacy.text() {
        Some(own) => show(&visitor, "site.privacy", own, Tongue::TheOperators),
        None => show(&visitor, "site.privacy", &standard(&state.site), Tongue::English),
    }
}

pub(super) async fn terms(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.site.papers.terms.text() {
        Some(text) => show(&visitor, "site.terms", text, Tongue::TheOperators),
        None => Err(PageError::not_found(visitor)),
    }
}

pub(super) async fn imprint(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.site.papers.imprint.text() {
        Some(text) => show(&visitor, "site.imprint", text, Tongue::TheOperators),
        None => Err(PageError::not_found(visitor)),
    }
}

fn standard(site: &Site) -> String {
    let contact = match site.contact.link() {
        Some(link) => format!("[{}]({link})", site.contact.as_str()),
        None => "whoever gave you its address".to_owned(),
    };
    PRIVACY.replace("{contact}", &contact)
}

fn show(visitor: &Visitor, title: &'static str, text: &str, tongue: Tongue) -> Page {
    let frame = visitor.frame(Tab::Elsewhere, visitor.language().text(title));
    Ok(Html(Paper { frame, html: docs::render(text), tongue }.render()?))
}
