//! A game for the pages of others, in an `<iframe>`: one that is named, or the best that is played.
//!
//! These pages alone may be framed; [`PATH`] is what the security headers go by. There is nothing in them to click by
//! mistake but a link to the game, and they act for nobody: browsers send no cookie of ours from a foreign page.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Html;

use super::Page;
use super::characters::Cast;
use super::error::PageError;
use super::game::stored_snapshot;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::watched::{Opens, Watched};
use crate::http::state::AppState;
use crate::model::ids::GameId;

/// Where all pages lie that others may put into theirs.
pub(in crate::http) const PATH: &str = "/embed/";

#[derive(Template)]
#[template(path = "embed.html")]
struct Embed {
    frame: LayoutFrame,
    /// Nothing is played now if there is none.
    game: Option<Watched>,
    cast: Cast,
    /// Whether it goes on to the next game when one is over.
    is_tv: bool,
}

/// One game, live or over.
pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Page {
    let Ok(id) = id.parse::<GameId>() else { return Err(PageError::not_found(visitor)) };
    let Some(stored) = state.shown_game(&id, |_| false).await? else {
        return Err(PageError::not_found(visitor));
    };
    let snapshot = stored_snapshot(&state, stored, None).await?.0;
    let players = &snapshot.players;
    let title = format!("{} – {}", players.first.name.spoken(), players.second.name.spoken());
    let cast = Cast::new(visitor.language(), &state.arena.open_bots()).among(&snapshot.players);
    let game = Watched::new(visitor.language(), &snapshot, &cast, Opens::InNewTab);
    let page = Embed {
        frame: visitor.frame(Tab::Elsewhere, title).themed(themes(query.as_deref())),
        game: Some(game),
        cast,
        is_tv: false,
    };
    Ok(Html(page.render()?))
}

/// The best game in progress.
pub(super) async fn tv(State(state): State<AppState>, visitor: Visitor, RawQuery(query): RawQuery) -> Page {
    let lang = visitor.language();
    let cast = Cast::new(lang, &state.arena.open_bots());
    let snapshot = match state.arena.tv() {
        Some(best) => state.arena.snapshot(&best.game).await,
        None => None,
    };
    let page = Embed {
        frame: visitor.frame(Tab::Elsewhere, lang.text("tv.best")).themed(themes(query.as_deref())),
        game: snapshot.map(|game| Watched::new(lang, &game, &cast, Opens::InNewTab)),
        cast,
        is_tv: true,
    };
    Ok(Html(page.render()?))
}

/// What the page around the frame says of colours and board: `?theme=dark&theme=walnut`.
fn themes(query: Option<&str>) -> impl Iterator<Item = &str> {
    query.unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("theme="))
}
