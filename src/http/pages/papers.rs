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
}

pub(super) async fn privacy(State(state): State<AppState>, visitor: Visitor) -> Page {
    let own = state.site.papers.privacy.text();
    show(&visitor, "site.privacy", &own.map_or_else(|| standard(&state.site), str::to_owned))
}

pub(super) async fn terms(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.site.papers.terms.text() {
        Some(text) => show(&visitor, "site.terms", text),
        None => Err(PageError::not_found(visitor)),
    }
}

pub(super) async fn imprint(State(state): State<AppState>, visitor: Visitor) -> Page {
    match state.site.papers.imprint.text() {
        Some(text) => show(&visitor, "site.imprint", text),
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

fn show(visitor: &Visitor, title: &'static str, text: &str) -> Page {
    let frame = visitor.frame(Tab::Elsewhere, visitor.language().text(title));
    Ok(Html(Paper { frame, html: docs::render(text) }.render()?))
}
