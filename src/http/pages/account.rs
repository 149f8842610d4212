//! Signing up, in and out; bots of one's own.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::layout::{Frame, Tab, Visitor};
use crate::http::state::AppState;
use crate::protocol::terms::PlayerKind;

/// The shell lines that start a bot of the Python kit. What stands in braces is filled in by the page, where the token
/// is seen, this once.
const START_LINES: &str = "cd bots/kits/python
python -m venv .venv && . .venv/bin/activate
pip install -e .
export FOURFOLD_URL={socket}
export FOURFOLD_TOKEN={token}
python examples/random_bot.py";

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    frame: Frame,
    /// People own bots; somebody who comes with a bot's token does not.
    may_own_bots: bool,
    bots: Vec<String>,
    start_lines: &'static str,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let owner =
        visitor.signed_in().map(|viewer| &viewer.identity).filter(|who| who.kind == PlayerKind::Human);
    let bots = match owner {
        Some(owner) => state.store.bots_of(&owner.id).await?,
        None => Vec::new(),
    };
    let page = Account {
        frame: visitor.frame(
            Tab::Account,
            visitor.language().text(if owner.is_some() { "account.yours" } else { "account.sign_in" }),
        ),
        may_own_bots: owner.is_some(),
        bots: bots.iter().map(|bot| bot.name.to_string()).collect(),
        start_lines: START_LINES,
    };
    Ok(Html(page.render()?))
}
