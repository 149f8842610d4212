//! The front page: start a game, see one, and what else goes on.

use std::collections::HashSet;

use askama::Template;
use axum::extract::State;
use axum::response::Html;
use fourfold_engine::Variant;

use super::characters::{Character, PlayDialog};
use super::drawing::{BoardDrawing, DiscIcon, Drawing, MiniBoard};
use super::game::stored_snapshot;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::{GameTile, LiveSeat};
use super::parts::{PlayerTag, RatingTag};
use super::puzzles::{Teaser, daily_teaser};
use super::tournaments::Notice;
use super::words::BoardChoice;
use super::{Page, words};
use crate::http::ranking::{RankedRow, strongest};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::population::Population;
use crate::protocol::server::{LiveGame, Snapshot};
use crate::protocol::terms::{Sides, WirePlayer, WireSide};
use crate::storage::StoreError;
use crate::storage::record::StoredGame;
use crate::storage::store::GameQuery;

/// Games in the list beside the featured one: live ones, then the last that finished.
const GAMES_MAX: u32 = 9;
/// Finished games looked at for those: one bot that plays quickly would fill the list by itself. More cost more than
/// the variety is worth.
const LOOKED_AT_MAX: u32 = 4 * GAMES_MAX;
/// Places of the ranking shown.
const RANKS_MAX: usize = 5;

/// What stands on the board when nobody has ever played here.
const SAMPLE_MOVES: &str = "44453355226";

/// Time controls to choose from: the value is what the protocol calls `time`.
const TIMES: [TimeChoice; 4] = [
    TimeChoice {
        json: r#"{"bank_ms":60000,"increment_ms":0,"move_ms":null}"#,
        short: "1 + 0",
        name: "lobby.fast",
        is_chosen: false,
    },
    TimeChoice {
        json: r#"{"bank_ms":180000,"increment_ms":2000,"move_ms":null}"#,
        short: "3 + 2",
        name: "lobby.blitz",
        is_chosen: true,
    },
    TimeChoice {
        json: r#"{"bank_ms":600000,"increment_ms":5000,"move_ms":null}"#,
        short: "10 + 5",
        name: "lobby.rapid",
        is_chosen: false,
    },
    TimeChoice {
        json: r#"{"bank_ms":null,"increment_ms":0,"move_ms":30000}"#,
        short: "30 s",
        name: "lobby.a_move",
        is_chosen: false,
    },
];

/// A time control that one can choose.
#[derive(Clone, Copy, Debug)]
struct TimeChoice {
    json: &'static str,
    short: &'static str,
    /// Key of its text.
    name: &'static str,
    /// Whether it is the one chosen at first.
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "lobby.html")]
struct Lobby {
    frame: LayoutFrame,
    times: [TimeChoice; 4],
    boards: Vec<BoardChoice>,
    feature: Feature,
    counts: String,
    games: Vec<GameTile>,
    teaser: MiniBoard,
    dialog: PlayDialog,
    rivals: Vec<Character>,
    ranks: Vec<Rank>,
    /// Where their ratings have their zero: it is not that of the other ratings on the page.
    /// Tournaments that go on, and those to come.
    tournaments: Vec<Notice>,
    scale: Option<&'static str>,
    puzzle: Option<Teaser>,
}

/// The large board: a live game, else the last one, else a sample.
struct Feature {
    board: BoardDrawing,
    seats: Option<Sides<LiveSeat>>,
    game: Option<String>,
    is_live: bool,
}

/// A place of the ranking, as its page has it.
struct Rank {
    place: u64,
    player: PlayerTag,
    rating: RatingTag,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let lobby = state.arena.lobby();
    let rivals = Character::all(lang, &state.arena.open_bots());
    let finished = finished(&state).await?;
    let page = Lobby {
        frame: visitor.frame(Tab::Play, lang.text("lobby.title")),
        times: TIMES,
        boards: words::boards(lang),
        feature: Feature::new(lang, lobby.games.first(), finished.first()),
        counts: [("lobby.online", lobby.online), ("lobby.in_progress", lobby.live)]
            .map(|(key, n)| lang.count(key, n.into()))
            .join(" · "),
        games: games(lang, &lobby.games, &finished),
        teaser: MiniBoard { drawing: Drawing::new(Variant::STANDARD, SAMPLE_MOVES) },
        dialog: PlayDialog::new(lang, rivals.clone(), visitor.signed_in().is_some()),
        rivals,
        ranks: ranks(&state, lang).await?,
        scale: scale(&state, lang),
        tournaments: Notice::all(&state, lang).await?,
        puzzle: daily_teaser(&state, lang).await?,
    };
    Ok(Html(page.render()?))
}

/// The list beside the featured game, which is not in it.
fn games(lang: Language, live: &[LiveGame], finished: &[Snapshot]) -> Vec<GameTile> {
    let finished =
        finished.iter().skip(usize::from(live.is_empty())).map(|game| GameTile::finished(lang, game));
    live.iter()
        .skip(1)
        .map(|game| GameTile::new(lang, game))
        .chain(finished)
        .take(GAMES_MAX as usize)
        .collect()
}

/// The games that finished last, the newest first, those of other players before another one of the same two.
async fn finished(state: &AppState) -> Result<Vec<Snapshot>, StoreError> {
    let newest = GameQuery { newest_first: true, limit: LOOKED_AT_MAX, ..GameQuery::default() };
    let mut snapshots = Vec::new();
    let games = state.store.finished_games(&newest).await?;
    let games = games.into_iter().filter(|game| !game.spec.is_load()).collect();
    for game in varied(games) {
        snapshots.push(stored_snapshot(state, game, None).await?.0);
    }
    Ok(snapshots)
}

/// As many as are shown: the first of each pairing, then the others, each in their order.
fn varied(games: Vec<StoredGame>) -> Vec<StoredGame> {
    let mut seen = HashSet::new();
    let is_new = |game: &StoredGame| {
        let players = &game.spec.players;
        let mut pairing = [players.first.clone(), players.second.clone()];
        pairing.sort_unstable();
        seen.insert(pairing)
    };
    let (mut shown, others): (Vec<_>, Vec<_>) = games.into_iter().partition(is_new);
    shown.extend(others);
    shown.truncate(GAMES_MAX as usize);
    shown
}

impl Feature {
    fn new(lang: Language, live: Option<&LiveGame>, finished: Option<&Snapshot>) -> Self {
        let board = |variant, moves: &str| BoardDrawing::to_show(lang, Drawing::new(variant, moves));
        match (live, finished) {
            (Some(game), _) => Self {
                board: board(game.variant.0, &game.moves),
                seats: Some(seats(lang, &game.players)),
                game: Some(game.game.to_string()),
                is_live: true,
            },
            (None, Some(game)) => Self {
                board: board(game.variant.0, &game.moves),
                seats: Some(seats(lang, &game.players)),
                game: Some(game.game.to_string()),
                is_live: false,
            },
            (None, None) => Self {
                board: board(Variant::STANDARD, SAMPLE_MOVES),
                seats: None,
                game: None,
                is_live: false,
            },
        }
    }
}

fn seats(lang: Language, players: &Sides<WirePlayer>) -> Sides<LiveSeat> {
    let seat = |side, player| LiveSeat { disc: DiscIcon::new(side), player: PlayerTag::new(lang, player) };
    Sides { first: seat(WireSide::First, &players.first), second: seat(WireSide::Second, &players.second) }
}

async fn ranks(state: &AppState, lang: Language) -> Result<Vec<Rank>, StoreError> {
    let rank = |row: RankedRow| Rank {
        place: row.rank,
        player: PlayerTag::new(lang, &super::player::wire(&row.player, None)),
        rating: RatingTag::new(lang, row.shown.to_wire()),
    };
    Ok(strongest(state, Variant::STANDARD, RANKS_MAX).await?.into_iter().map(rank).collect())
}

fn scale(state: &AppState, lang: Language) -> Option<&'static str> {
    let snapshot = state.leaderboard.now();
    snapshot.field(Variant::STANDARD, Population::All).map(|field| words::scale(lang, field.scale))
}
