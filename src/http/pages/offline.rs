//! A page that browsers keep for when there is no connection: a board and a small bot, all in the page. The
//! service worker keeps the files that it names; `Script` names all modules.

use askama::Template;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::drawing::{BoardDrawing, Drawing};
use super::layout::{LayoutFrame, Tab, Visitor};

#[derive(Template)]
#[template(path = "offline.html")]
struct Offline {
    frame: LayoutFrame,
    board: BoardDrawing,
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = Offline {
        frame: visitor.frame(Tab::Elsewhere, lang.text("offline.title")),
        board: BoardDrawing::to_play(lang, Drawing::new(Variant::STANDARD, "")),
    };
    Ok(Html(page.render()?))
}
