//! Who plays best.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use fourfold_engine::Variant;
use serde::Deserialize;

use super::layout::{Frame, Tab, Visitor};
use super::parts::PlayerTag;
use super::{Page, player};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::storage::record::LeaderboardRow;
use crate::storage::store::Board;

/// Rows of the table: as many as anybody reads.
const ROWS_MAX: u32 = 200;

/// Which players are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum List {
    #[default]
    All,
    People,
    Bots,
    /// Whatever else an address says; shown as all.
    #[serde(other)]
    Unknown,
}

impl List {
    fn board(self) -> Board {
        match self {
            Self::All | Self::Unknown => Board::All,
            Self::People => Board::People,
            Self::Bots => Board::Bots,
        }
    }
}

/// The query of the page's address.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    list: List,
}

struct Row {
    rank: u64,
    player: PlayerTag,
    elo: i32,
    pm95: u32,
    provisional: bool,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
}

impl Row {
    fn new(lang: Language, row: &LeaderboardRow) -> Self {
        let rating = row.rating.standing.to_wire();
        Self {
            rank: row.rank,
            player: PlayerTag::new(lang, &player::wire(&row.player, None)),
            elo: rating.elo,
            pm95: rating.pm95,
            provisional: rating.provisional,
            games: row.rating.standing.games,
            wins: row.rating.wins,
            draws: row.rating.draws,
            losses: row.rating.losses,
        }
    }
}

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct Leaderboard {
    frame: Frame,
    /// Address, word and whether it is the one on show.
    lists: [(&'static str, &'static str, bool); 3],
    rows: Vec<Row>,
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Page {
    let lang = visitor.language();
    let board = choice.list.board();
    let rows = state.store.leaderboard(board, Variant::STANDARD, ROWS_MAX).await?;
    let page = Leaderboard {
        frame: visitor.frame(Tab::Leaderboard, lang.text("site.ranking")),
        lists: [
            ("/leaderboard", lang.text("ranking.all"), board == Board::All),
            ("/leaderboard?list=people", lang.text("ranking.people"), board == Board::People),
            ("/leaderboard?list=bots", lang.text("site.bots"), board == Board::Bots),
        ],
        rows: rows.iter().map(|row| Row::new(lang, row)).collect(),
    };
    Ok(Html(page.render()?))
}
