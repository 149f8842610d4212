//! Many games at once.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::characters::Cast;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::watched::{Opens, Watched};
use crate::http::state::AppState;

/// Boards on the wall: as many as a large screen shows. `web/static/wall-page.js` has the same number.
const BOARDS_MAX: usize = 12;

#[derive(Template)]
#[template(path = "wall.html")]
struct Wall {
    frame: LayoutFrame,
    games: Vec<Watched>,
    /// What further games are made from.
    blank: Watched,
    cast: Cast,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let cast = Cast::new(lang, &state.arena.open_bots());
    let mut games = Vec::new();
    for live in state.arena.live_games().iter().take(BOARDS_MAX) {
        // A game may have ended since.
        if let Some(game) = state.arena.snapshot(&live.game).await {
            games.push(Watched::new(lang, &game, &cast, Opens::Here));
        }
    }
    let frame = visitor.frame(Tab::Watch, lang.text("wall.title"));
    Ok(Html(Wall { frame, games, blank: Watched::blank(lang), cast }.render()?))
}
