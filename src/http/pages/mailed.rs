//! The pages to which links in mails lead: a new password, and whether an address is somebody's.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::state::AppState;

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetPage {
    frame: LayoutFrame,
}

#[derive(Template)]
#[template(path = "verify-mail.html")]
struct VerifyPage {
    frame: LayoutFrame,
}

/// Where whoever has forgotten a password asks for a link, and where that leads.
pub(super) async fn reset(State(state): State<AppState>, visitor: Visitor) -> Page {
    let frame = frame(&state, visitor, "mail.reset_title")?;
    Ok(Html(ResetPage { frame }.render()?))
}

/// Where the link leads that verifies an address.
pub(super) async fn verify(State(state): State<AppState>, visitor: Visitor) -> Page {
    let frame = frame(&state, visitor, "mail.verify_title")?;
    Ok(Html(VerifyPage { frame }.render()?))
}

fn frame(state: &AppState, visitor: Visitor, title: &'static str) -> Result<LayoutFrame, PageError> {
    if state.mailer.is_none() {
        return Err(PageError::not_found(visitor));
    }
    Ok(visitor.frame(Tab::Account, visitor.language().text(title)))
}
