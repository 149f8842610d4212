//! A page that browsers keep for when there is no connection: a board and a small bot, all in the page.

use askama::Template;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::drawing::{Board, Drawing};
use super::layout::{Frame, Tab, Visitor};

/// Modules that the page runs, each named so that the service worker finds and keeps it.
const MODULES: [&str; 9] = [
    "announce.js",
    "board.js",
    "dom.js",
    "drawing.js",
    "offline-bot.js",
    "rules.js",
    "sound.js",
    "texts.js",
    "words.js",
];

#[derive(Template)]
#[template(path = "offline.html")]
struct Offline {
    frame: Frame,
    modules: [&'static str; 9],
    board: Board,
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = Offline {
        frame: visitor.frame(Tab::Elsewhere, lang.text("offline.title")),
        modules: MODULES,
        board: Board::to_play(lang, Drawing::new(Variant::STANDARD, "")),
    };
    Ok(Html(page.render()?))
}
