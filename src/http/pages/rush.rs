//! Runs through puzzles, and the boards of honour of the best ones.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use fourfold_engine::Variant;
use serde::Deserialize;

use super::Page;
use super::drawing::{BoardDrawing, Drawing};
use super::layout::{LayoutFrame, Tab, Visitor};
use super::words;
use crate::http::state::AppState;
use crate::http::texts::{Language, Linked};
use crate::model::time::UnixMillis;
use crate::storage::rushes::{RushKind, RushPlace};
use crate::study::puzzles::rush::RushPeriod;

/// Rows of a board.
const ROWS_MAX: u32 = 50;

#[derive(Template)]
#[template(path = "rush.html")]
struct RushPage {
    frame: LayoutFrame,
    board: BoardDrawing,
    /// Whether there are any puzzles.
    has_puzzles: bool,
    /// Said to whoever will not stand on the boards.
    guest: Option<Linked>,
}

/// Puzzles one after the other; which ones is drawn anew each time.
pub(super) async fn rush(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = RushPage {
        board: BoardDrawing::to_play(lang, Drawing::new(Variant::STANDARD, "")),
        has_puzzles: state.puzzles.has_any().await?,
        guest: guest(lang, &visitor),
        frame: visitor.frame(Tab::Puzzles, lang.text("rush.title")),
    };
    Ok(Html(page.render()?))
}

fn guest(lang: Language, visitor: &Visitor) -> Option<Linked> {
    visitor.signed_in().is_none().then(|| lang.linked("rush.only_accounts", "/account"))
}

/// Which board somebody wants to see.
#[derive(Debug, Deserialize)]
pub(super) struct BoardWanted {
    kind: Option<String>,
    period: Option<String>,
}

/// A choice beside others.
struct BoardChoice {
    word: &'static str,
    url: String,
    is_here: bool,
}

/// A row of the board.
struct BoardRow {
    rank: u32,
    name: String,
    solved: u32,
    day: String,
    is_own: bool,
}

#[derive(Template)]
#[template(path = "rush-board.html")]
struct BoardPage {
    frame: LayoutFrame,
    kinds: Vec<BoardChoice>,
    periods: Vec<BoardChoice>,
    rows: Vec<BoardRow>,
    /// The visitor's row, if it is lower than these.
    own: Option<BoardRow>,
    guest: Option<Linked>,
}

const KINDS: [(&str, RushKind, &str); 2] =
    [("minutes", RushKind::Minutes, "rush.minutes"), ("lives", RushKind::Lives, "rush.lives")];
const PERIODS: [(&str, RushPeriod, &str); 3] = [
    ("day", RushPeriod::Day, "rush.today"),
    ("week", RushPeriod::Week, "rush.week"),
    ("all", RushPeriod::All, "rush.all_time"),
];

/// The best runs of accounts.
pub(super) async fn board(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(wanted): Query<BoardWanted>,
) -> Page {
    let lang = visitor.language();
    let kind = KINDS.iter().find(|(word, ..)| wanted.kind.as_deref() == Some(word)).unwrap_or(&KINDS[0]);
    let period = PERIODS.iter().find(|(word, ..)| wanted.period.as_deref() == Some(word));
    let period = period.unwrap_or(&PERIODS[0]);
    let own = visitor.signed_in().map(|viewer| viewer.identity.id.clone());
    let now = UnixMillis::now();
    let places = state.puzzles.rush_board(kind.1, period.1, ROWS_MAX, own.as_ref(), now).await?;
    let row = |place: RushPlace| BoardRow {
        rank: place.rank,
        name: place.name.to_string(),
        solved: place.solved,
        day: words::day(lang, place.at),
        is_own: own.as_ref() == Some(&place.player),
    };
    let (rows, lower): (Vec<_>, Vec<_>) = places.into_iter().partition(|place| place.rank <= ROWS_MAX);
    let choice = |kind: &str, period: &str, word: &'static str, is_here: bool| {
        let url = format!("/puzzles/rush/board?kind={kind}&period={period}");
        BoardChoice { word: lang.text(word), url, is_here }
    };
    let page = BoardPage {
        kinds: KINDS.iter().map(|(key, _, word)| choice(key, period.0, word, *key == kind.0)).collect(),
        periods: PERIODS.iter().map(|(key, _, word)| choice(kind.0, key, word, *key == period.0)).collect(),
        rows: rows.into_iter().map(row).collect(),
        own: lower.into_iter().map(row).next(),
        guest: guest(lang, &visitor),
        frame: visitor.frame(Tab::Puzzles, lang.text("rush.board")),
    };
    Ok(Html(page.render()?))
}
