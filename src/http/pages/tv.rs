//! The best game in progress, whichever it is.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::game::GameShown;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use crate::http::state::AppState;

/// Other games shown beside it.
const OTHERS_MAX: usize = 6;

#[derive(Template)]
#[template(path = "tv.html")]
struct Tv {
    frame: LayoutFrame,
    /// Nothing is played now if there is none.
    shown: Option<GameShown>,
    others: Vec<GameTile>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let best = state.arena.tv();
    let snapshot = match &best {
        Some(game) => state.arena.snapshot(&game.game).await,
        None => None,
    };
    let is_other = |game: &crate::model::ids::GameId| best.as_ref().is_none_or(|best| best.game != *game);
    let live = state.arena.live_games();
    let page = Tv {
        frame: visitor.frame(Tab::Watch, lang.text("site.watch")),
        shown: snapshot.map(|snapshot| GameShown::new(lang, &state.site, &snapshot, None)),
        others: live
            .iter()
            .filter(|game| is_other(&game.game))
            .take(OTHERS_MAX)
            .map(|game| GameTile::new(lang, game))
            .collect(),
    };
    Ok(Html(page.render()?))
}
