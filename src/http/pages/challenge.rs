//! The page behind an invitation's link.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::error::PageError;
use super::layout::{Frame, Tab, Visitor};
use super::parts::PlayerTag;
use super::{Page, words};
use crate::http::state::AppState;
use crate::ids::ChallengeId;
use crate::protocol::server::Offer;
use crate::protocol::terms::SideChoice;

#[derive(Template)]
#[template(path = "challenge.html")]
struct Challenge {
    frame: Frame,
    id: String,
    is_mine: bool,
    from: PlayerTag,
    from_name: String,
    time: String,
    kind: &'static str,
    board: String,
    games: String,
    /// Who begins, from the point of view of whoever accepts.
    begins: String,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let Ok(id) = id.parse::<ChallengeId>() else { return Err(PageError::not_found(visitor)) };
    let Some(offer) = state.arena.challenge(&id).await else { return Err(PageError::not_found(visitor)) };
    let is_mine = visitor.is(&offer.from.id);
    let from_name = offer.from.name.to_string();
    let title = if is_mine { "Your invitation".to_owned() } else { format!("{from_name} invites you") };
    let variant = offer.terms.variant.0;
    let page = Challenge {
        frame: visitor.frame(Tab::Elsewhere, title),
        id: id.to_string(),
        is_mine,
        from: PlayerTag::new(&offer.from),
        time: words::time_control(offer.terms.time),
        kind: if offer.terms.rated { "Rated" } else { "Casual" },
        board: format!("{} × {}, {} in a row wins", variant.width(), variant.height(), variant.connect()),
        games: match offer.terms.games {
            1 => "One game".to_owned(),
            games => format!("{games} games, sides swapped each time"),
        },
        begins: begins(&offer, is_mine),
        from_name,
    };
    Ok(Html(page.render()?))
}

fn begins(offer: &Offer, is_mine: bool) -> String {
    let name = offer.from.name.as_str();
    match (offer.terms.side, is_mine) {
        (SideChoice::Random, _) => "Drawn by lot".to_owned(),
        (SideChoice::First, true) | (SideChoice::Second, false) => "You".to_owned(),
        (SideChoice::First, false) => name.to_owned(),
        (SideChoice::Second, true) => "Whoever accepts".to_owned(),
    }
}
