//! A bot in the browser: a program that is written in the page and runs in a worker there. Nothing of it runs here.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use fourfold_engine::Variant;

use super::Page;
use super::drawing::{BoardDrawing, Drawing};
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::kits;
use crate::http::state::AppState;
use crate::model::player::PlayerKind;

/// Where the worker is, which is no file among the others: it has a policy of its own.
pub(super) const WORKER: &str = "/bots/editor/worker.js";

const WORKER_SCRIPT: &str = include_str!("../../../web/static/bot-worker.js");

/// What one begins with: it wins if it can and blocks if it must, so that there is something to see and to mend.
const SAMPLE: &str = include_str!("../../../web/editor-sample.js");

/// Text becomes code in the worker, and nothing can be reached from it: no network, no other worker, no script.
const WORKER_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; script-src 'unsafe-eval'");

#[derive(Template)]
#[template(path = "editor.html")]
struct EditorPage {
    frame: LayoutFrame,
    sample: &'static str,
    worker: &'static str,
    /// The module of the JavaScript kit, by which a bot connects.
    kit: &'static str,
    /// Bots of the house, from weak to strong.
    house: Vec<String>,
    /// Bots of the visitor's.
    bots: Vec<String>,
    board: BoardDrawing,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let owner = visitor.signed_in().map(|viewer| &viewer.identity);
    let bots = match owner.filter(|who| who.kind == PlayerKind::Human) {
        Some(owner) => state.store.bots_of(&owner.id).await?,
        None => Vec::new(),
    };
    let house = state.arena.open_bots().into_iter().filter(|bot| bot.house);
    let page = EditorPage {
        sample: SAMPLE,
        worker: WORKER,
        kit: kits::BROWSER_MODULE,
        house: house.map(|bot| bot.player.name.to_string()).collect(),
        bots: bots.iter().map(|bot| bot.name.to_string()).collect(),
        board: BoardDrawing::to_show(lang, Drawing::new(Variant::STANDARD, "")),
        frame: visitor.frame(Tab::Bots, lang.text("editor.title")),
    };
    Ok(Html(page.render()?))
}

pub(super) async fn worker() -> Response {
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("text/javascript")),
        (header::CONTENT_SECURITY_POLICY, WORKER_POLICY),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ]);
    (headers, WORKER_SCRIPT).into_response()
}
