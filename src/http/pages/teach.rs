//! A blank pattern memory for whoever comes along, to be taught by playing it. What it knows stays in the browser; the
//! page's module asks `api::personal_memory` for its moves and lessons.

use askama::Template;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::drawing::{BoardDrawing, Drawing};
use super::layout::{LayoutFrame, Tab, Visitor};
use super::pattern::PatternCells;

#[derive(Template)]
#[template(path = "teach.html")]
struct TeachPage {
    frame: LayoutFrame,
    board: BoardDrawing,
    /// The empty board under all patterns.
    cells: PatternCells,
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = TeachPage {
        frame: visitor.frame(Tab::Learning, lang.text("teach.title")).described(lang.text("teach.lead")),
        board: BoardDrawing::to_play(lang, Drawing::new(Variant::STANDARD, "")),
        cells: PatternCells::new(),
    };
    Ok(Html(page.render()?))
}
