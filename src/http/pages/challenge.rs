//! The page behind an invitation's link.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::drawing::{Drawing, MiniBoard};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::lessons::rules_for;
use super::parts::PlayerTag;
use super::{Page, words};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::clock::takes_days;
use crate::model::ids::ChallengeId;
use crate::model::opening::{OpeningKind, SideChoice};
use crate::protocol::server::Offer;
use crate::protocol::terms::WireSide;

#[derive(Template)]
#[template(path = "challenge.html")]
struct ChallengePage {
    frame: LayoutFrame,
    id: String,
    is_mine: bool,
    /// Whether only somebody with an account may accept it, and the visitor has none.
    needs_account: bool,
    from: PlayerTag,
    /// Where a newcomer learns the rules and finds back.
    rules: String,
    title: String,
    time: String,
    kind: &'static str,
    board: String,
    games: String,
    /// Who begins, from the point of view of whoever looks.
    begins: String,
    colors: String,
    opening: String,
    /// The sides of which whoever accepts chooses one, each with its words; none where they are chosen.
    sides: Vec<(&'static str, String)>,
    /// The position in which the game begins, if it is not the empty board.
    position: Option<MiniBoard>,
    /// Whether somebody in particular is asked, who may say no.
    is_named: bool,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let Ok(id) = id.parse::<ChallengeId>() else { return Err(PageError::not_found(visitor)) };
    let Some(offer) = state.arena.challenge(&id).await else { return Err(PageError::not_found(visitor)) };
    let is_mine = visitor.is(&offer.from.id);
    if offer.to.as_ref().is_some_and(|to| !is_mine && !visitor.is(&to.id)) {
        // It is between the two.
        return Err(PageError::not_found(visitor));
    }
    let lang = visitor.language();
    let title = if is_mine {
        lang.text("challenge.yours").to_owned()
    } else {
        lang.fill("challenge.invites", &[("name", offer.from.name.spoken())])
    };
    let variant = offer.terms.variant.0;
    let time = words::time_control(lang, offer.terms.time.control());
    let kind = words::terms_kind(lang, &offer.terms);
    // Whoever gets the link reads there who invites, and to what.
    let invites = lang.fill("challenge.invites", &[("name", offer.from.name.spoken())]);
    let described = format!("{invites} · {}", words::offer(lang, &offer.terms, false));
    let page = ChallengePage {
        frame: visitor.frame(Tab::Elsewhere, title.as_str()).described(described),
        id: id.to_string(),
        is_mine,
        needs_account: takes_days(offer.terms.time.control()) && visitor.signed_in().is_none(),
        from: PlayerTag::new(lang, &offer.from).pictured(&offer.from),
        rules: rules_for(&format!("/challenge/{id}")),
        time,
        kind,
        board: lang.fill(
            "challenge.board_size",
            &[("width", variant.width()), ("height", variant.height()), ("connect", variant.connect())],
        ),
        games: words::length_of(lang, offer.terms.games.number()),
        sides: if offer.terms.side == SideChoice::Opponent { sides(lang) } else { Vec::new() },
        position: given(&offer),
        begins: begins(lang, &offer, is_mine),
        colors: words::colors(lang, offer.terms.side, is_mine),
        opening: words::opening(lang, offer.terms.opening.as_ref())
            .unwrap_or_else(|| lang.text("invite.opening_none").to_owned()),
        is_named: offer.to.is_some(),
        title,
    };
    Ok(Html(page.render()?))
}

/// Both sides, and what one would play.
fn sides(lang: Language) -> Vec<(&'static str, String)> {
    let words = |side| lang.fill("invite.you_play", &[("color", words::color(lang, side))]);
    [WireSide::First, WireSide::Second].map(|side| (words::key(side), words(side))).into()
}

/// The position after the moves that the challenger gives.
fn given(offer: &Offer) -> Option<MiniBoard> {
    let opening = offer.terms.opening.as_ref().filter(|opening| opening.kind == OpeningKind::Given)?;
    Some(MiniBoard { drawing: Drawing::new(offer.terms.variant.0, &opening.moves) })
}

/// Who begins, as whoever looks at an offer is told.
fn begins(lang: Language, offer: &Offer, is_mine: bool) -> String {
    match (offer.terms.side, is_mine) {
        (SideChoice::Opponent, true) => lang.text("challenge.other_chooses").to_owned(),
        (SideChoice::Opponent, false) => lang.text("challenge.you_choose").to_owned(),
        (SideChoice::Random, _) => lang.text("challenge.by_lot").to_owned(),
        (SideChoice::First, true) | (SideChoice::Second, false) => lang.text("challenge.you").to_owned(),
        (SideChoice::First, false) => offer.from.name.spoken().to_owned(),
        (SideChoice::Second, true) => lang.text("challenge.whoever_accepts").to_owned(),
    }
}
