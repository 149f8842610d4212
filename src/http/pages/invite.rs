//! How somebody wants to play with somebody: a form, which other pages show as a dialog.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use fourfold_engine::openings;
use serde::Deserialize;

use super::correspondence::DaysChoice;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::player::named;
use super::words::BoardChoice;
use super::{Page, words};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::{GUEST_PREFIX, PlayerName};
use crate::model::player::PlayerKind;
use crate::protocol::terms::WireSide;

/// Games of a series that are offered: one, the best of three or five, or pairs in which each side begins as often as
/// the other. Longer ones are for programs.
const LENGTHS: [u32; 7] = [1, 3, 5, 2, 4, 6, 10];
/// Days for each move to choose among, as many as the protocol has.
const DAYS: [u32; 7] = [1, 2, 3, 4, 5, 6, 7];

/// Who is asked; nobody in particular if the link has no name.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    to: Option<String>,
}

/// Whoever is asked, as far as it decides what may be played.
struct Challenged {
    name: String,
    shown: String,
    kind: PlayerKind,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "invite.html")]
#[expect(clippy::struct_excessive_bools, reason = "each says what one may choose")]
struct InvitePage {
    frame: LayoutFrame,
    title: String,
    /// The name of whoever is asked, as the protocol has it.
    to: Option<String>,
    may_be_rated: bool,
    /// Why no game is rated, if whoever is asked is the reason.
    guest: Option<String>,
    /// Whether there are days for each move at all: not with bots and guests.
    has_days: bool,
    /// Whether the visitor may choose them: only with an account.
    may_have_days: bool,
    /// Whether the game may be in no list: between people alone.
    may_be_private: bool,
    /// Whether whoever is asked may choose a side: people do.
    may_be_chosen: bool,
    /// Why nothing but days can be chosen.
    only_days: Option<String>,
    days: Vec<DaysChoice>,
    boards: Vec<Board>,
    lengths: Vec<(u32, String)>,
    colors: [String; 2],
}

/// A board to choose, and whether there are balanced openings for it.
struct Board {
    choice: BoardChoice,
    is_balanced: bool,
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Page {
    let lang = visitor.language();
    let challenged = match &asked.to {
        None => None,
        Some(name) => match challenged(&state, name).await? {
            Some(challenged) => Some(challenged),
            None => return Err(PageError::not_found(visitor)),
        },
    };
    let is_signed_in = visitor.signed_in().is_some();
    let title = match &challenged {
        Some(to) => lang.fill("bots.challenge_name", &[("name", to.shown.as_str())]),
        None => lang.text("invite.title").to_owned(),
    };
    let guest = challenged.as_ref().filter(|to| to.kind == PlayerKind::Guest);
    // Who cannot be asked by days either is refused by the arena, which says why.
    let away = challenged.as_ref().filter(|to| is_signed_in && to.kind == PlayerKind::Human && !to.is_here);
    let about = |key, to: &Challenged| lang.fill(key, &[("name", to.shown.as_str())]);
    let page = InvitePage {
        frame: visitor.frame(Tab::Play, title.as_str()).described(lang.text("invite.lead")),
        title,
        may_be_rated: is_signed_in && guest.is_none(),
        guest: guest.map(|to| about("invite.guest_casual", to)),
        has_days: challenged.as_ref().is_none_or(|to| to.kind == PlayerKind::Human),
        may_have_days: is_signed_in,
        may_be_private: challenged.as_ref().is_none_or(|to| to.kind != PlayerKind::Bot),
        may_be_chosen: challenged.as_ref().is_none_or(|to| to.kind != PlayerKind::Bot),
        only_days: away.map(|to| about("invite.only_days", to)),
        days: DAYS.map(|days| DaysChoice::new(lang, days)).into(),
        boards: boards(lang),
        lengths: LENGTHS.map(|games| (games, words::length_of(lang, games))).into(),
        colors: [WireSide::First, WireSide::Second]
            .map(|side| lang.fill("invite.you_play", &[("color", words::color(lang, side))])),
        to: challenged.map(|to| to.name),
    };
    Ok(Html(page.render()?))
}

/// Whoever has this name. Guests are stored when they have played; until then the lobby knows whether they are here.
async fn challenged(state: &AppState, name: &str) -> Result<Option<Challenged>, PageError> {
    if let Some(player) = named(state, name).await? {
        let is_here = state.arena.is_online(&player.id);
        let shown = player.name.spoken().to_owned();
        return Ok(Some(Challenged { name: player.name.to_string(), shown, kind: player.kind, is_here }));
    }
    let guest = name.parse::<PlayerName>().ok().filter(|name| name.as_str().starts_with(GUEST_PREFIX));
    Ok(guest.map(|name| Challenged {
        shown: name.spoken().to_owned(),
        name: name.to_string(),
        kind: PlayerKind::Guest,
        is_here: true,
    }))
}

fn boards(lang: Language) -> Vec<Board> {
    let with_openings = |choice: BoardChoice| {
        let variant = choice.value.parse().ok();
        Board { is_balanced: variant.is_some_and(|variant| !openings::balanced(variant).is_empty()), choice }
    };
    words::boards(lang).into_iter().map(with_openings).collect()
}
