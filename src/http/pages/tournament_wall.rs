//! The wall of a tournament, to be projected: who plays whom and how it stands on the boards, the table, the time that
//! is left, and how to join. One page from the invitation to the end.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Html;

use super::Page;
use super::bracket::Bracket;
use super::characters::Cast;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use super::qr;
use super::tournament_plans::terms_in_words;
use super::tournaments::{format_in_words, is_knockout, result_in_words, status_in_words};
use super::words;
use crate::competition::tournament::{TournamentView, Upcoming};
use crate::http::api::tournaments::{StandingRow, scheduled, standing_row};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::TournamentId;

/// Boards on the wall: three rows of three, which one still sees from the last row of chairs.
const BOARDS_MAX: usize = 9;

/// Meetings that are listed, the latest: of a round of thirty-two.
const PAIRINGS_MAX: usize = 16;

/// Rows of the table: what fits beside the boards.
const STANDINGS_MAX: usize = 16;

/// Who plays whom.
struct Pairing {
    first: String,
    second: String,
    result: &'static str,
    is_live: bool,
}

/// What changes while one looks.
#[derive(Default)]
struct Shown {
    status: &'static str,
    /// Until when it is counted down, in milliseconds since 1970, and what happens then.
    until_ms: Option<i64>,
    until_words: &'static str,
    boards: Vec<GameTile>,
    pairings: Vec<Pairing>,
    standings: Vec<StandingRow>,
    bracket: Option<Bracket>,
    /// Who has entered one that is to come.
    entered: Vec<String>,
}

#[derive(Template)]
#[template(path = "tournament-wall.html")]
struct WallPage {
    frame: LayoutFrame,
    id: String,
    name: String,
    terms: String,
    /// Where one joins, without what goes without saying.
    address: String,
    shown: Shown,
    is_arena: bool,
}

/// The wall of a tournament that goes on, has ended or is to come.
pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let lang = visitor.language();
    let Ok(id) = id.parse::<TournamentId>() else { return Err(PageError::not_found(visitor)) };
    let (name, terms, shown, is_arena) = if let Some(upcoming) = state.tournaments.planned(&id) {
        let (name, terms) = (upcoming.name.clone(), terms_in_words(lang, &upcoming.terms));
        (name, terms, to_come(lang, upcoming), false)
    } else {
        let Some(view) = state.tournaments.view(&id).await? else {
            return Err(PageError::not_found(visitor));
        };
        let tournament = &view.tournament;
        let terms = [format_in_words(lang, tournament.format), words::time_control(lang, tournament.time)];
        let shown = under_way(&state, lang, &view);
        (tournament.name.clone(), terms.join(" · "), shown, view.ends_at.is_some())
    };
    let address = qr::address(&state, &headers, &format!("/tournament/{id}"));
    let page = WallPage {
        frame: visitor.frame(Tab::Tournaments, lang.fill("tournament.wall_of", &[("name", &name)])),
        id: id.to_string(),
        name,
        terms,
        address: address.split_once("://").map_or(address.as_str(), |(_, rest)| rest).to_owned(),
        shown,
        is_arena,
    };
    Ok(Html(page.render()?))
}

fn to_come(lang: Language, upcoming: Upcoming) -> Shown {
    Shown {
        status: lang.text("tournament.planned"),
        until_ms: upcoming.at.map(|at| at.0),
        until_words: lang.text("tournament.begins_in"),
        entered: upcoming.entered.unwrap_or_default().iter().map(ToString::to_string).collect(),
        ..Shown::default()
    }
}

fn under_way(state: &AppState, lang: Language, view: &TournamentView) -> Shown {
    let tournament = &view.tournament;
    let cast = Cast::new(lang, &state.arena.open_bots());
    let live = state.arena.live_games();
    let own = live.iter().filter(|game| game.tournament.as_ref() == Some(&tournament.id));
    let standings = view.table.players.iter().filter_map(|player| standing_row(view, player));
    let reason = tournament.end.as_ref().map(|end| end.reason);
    Shown {
        status: status_in_words(lang, reason),
        until_ms: view.ends_at.filter(|_| reason.is_none()).map(|at| at.0),
        until_words: lang.text("tournament.ends_in"),
        boards: own.take(BOARDS_MAX).map(|game| GameTile::new(lang, game, &cast)).collect(),
        pairings: pairings(lang, view),
        standings: standings.take(STANDINGS_MAX).collect(),
        bracket: is_knockout(tournament.format).then(|| Bracket::new(lang, view)),
        entered: Vec::new(),
    }
}

/// The latest meetings, those first that go on.
fn pairings(lang: Language, view: &TournamentView) -> Vec<Pairing> {
    let pairing = |line| {
        let game = scheduled(view, line);
        Pairing {
            result: result_in_words(lang, game.result),
            is_live: game.result.is_none(),
            first: game.first.to_string(),
            second: game.second.to_string(),
        }
    };
    let mut pairings: Vec<Pairing> = view.lines.iter().rev().take(PAIRINGS_MAX).map(pairing).collect();
    pairings.sort_by_key(|pairing| !pairing.is_live);
    pairings
}
