//! The front page: start a game, see one, and what else goes on.

use std::collections::HashSet;

use askama::Template;
use axum::extract::State;
use axum::response::Html;
use fourfold_engine::Variant;

use super::characters::{Cast, Character, PlayDialog};
use super::drawing::{BoardDrawing, DiscIcon, Drawing, MiniBoard};
use super::friends::FriendsOnline;
use super::game::stored_snapshot;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::{GameTile, LiveSeat};
use super::parts::{PlayerTag, RatingTag};
use super::puzzles::{LittlePuzzle, streak_in_short};
use super::tournaments::Notice;
use super::words::BoardChoice;
use super::{Page, words};
use crate::http::ranking::{RankedRow, strongest};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::protocol::server::{LiveGame, Snapshot};
use crate::protocol::terms::{Sides, WirePlayer, WireSide};
use crate::storage::StoreError;
use crate::storage::games::SeenBy;
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
    cast: Cast,
    ranks: Vec<Rank>,
    /// Friends who are there, for whoever has any.
    friends: Option<FriendsOnline>,
    /// Where their ratings have their zero: it is not that of the other ratings on the page.
    scale: Option<&'static str>,
    /// Tournaments that go on, and those to come.
    tournaments: Vec<Notice>,
    puzzle: Option<LittlePuzzle>,
    /// How the visitor does with it from day to day.
    streak: String,
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
    let bots = state.arena.open_bots();
    let (rivals, cast) = (Character::all(lang, &bots), Cast::new(lang, &bots));
    let finished = finished(&state).await?;
    let streak = streak_in_short(&state, &visitor, lang).await?;
    let page = Lobby {
        frame: visitor.frame(Tab::Play, lang.text("lobby.title")),
        times: TIMES,
        boards: words::boards(lang),
        feature: Feature::new(lang, lobby.games.first(), finished.first(), &cast),
        counts: [("lobby.online", lobby.online), ("lobby.in_progress", lobby.live)]
            .map(|(key, n)| lang.count(key, n.into()))
            .join(" · "),
        games: games(lang, &lobby.games, &finished, &cast),
        teaser: MiniBoard { drawing: Drawing::new(Variant::STANDARD, SAMPLE_MOVES) },
        dialog: PlayDialog::new(lang, rivals.clone(), visitor.signed_in().is_some()),
        rivals,
        cast,
        ranks: ranks(&state, lang).await?,
        friends: FriendsOnline::of(&state, &visitor).await?,
        scale: scale(&state, lang),
        tournaments: Notice::all(&state, lang).await?,
        puzzle: LittlePuzzle::daily(&state, lang).await?,
        streak,
    };
    Ok(Html(page.render()?))
}

/// The list beside the featured game, which is not in it: at most one tile of a pairing, so that those who play quickly
/// do not fill it, and people first.
fn games(lang: Language, live: &[LiveGame], finished: &[Snapshot], cast: &Cast) -> Vec<GameTile> {
    let mut seen = Pairings::default();
    let mut is_new = |players: &Sides<WirePlayer>| seen.is_new(&players.first.id, &players.second.id);
    let mut shown: Vec<&LiveGame> = live.iter().filter(|game| is_new(&game.players)).skip(1).collect();
    shown.sort_by_key(|game| !has_people(&game.players));
    let mut ended: Vec<&Snapshot> = finished.iter().filter(|game| is_new(&game.players)).collect();
    if live.is_empty() && !ended.is_empty() {
        ended.remove(0);
    }
    let shown = shown.into_iter().map(|game| GameTile::new(lang, game, cast));
    let ended = ended.into_iter().map(|game| GameTile::finished(lang, game, cast));
    shown.chain(ended).take(GAMES_MAX as usize).collect()
}

fn has_people(players: &Sides<WirePlayer>) -> bool {
    [&players.first, &players.second].iter().any(|player| player.kind != PlayerKind::Bot)
}

/// Who has been seen against whom.
#[derive(Default)]
struct Pairings(HashSet<[PlayerId; 2]>);

impl Pairings {
    /// Takes note of two, and says whether they are seen for the first time.
    fn is_new(&mut self, one: &PlayerId, other: &PlayerId) -> bool {
        let mut pairing = [one.clone(), other.clone()];
        pairing.sort_unstable();
        self.0.insert(pairing)
    }
}

/// The games that finished last, the newest first, one of each pairing.
async fn finished(state: &AppState) -> Result<Vec<Snapshot>, StoreError> {
    let newest = GameQuery {
        newest_first: true,
        limit: LOOKED_AT_MAX,
        seen_by: SeenBy::Everybody,
        ..GameQuery::default()
    };
    let mut snapshots = Vec::new();
    let games = state.store.finished_games(&newest).await?;
    let games = games.into_iter().filter(|game| !game.spec.is_load()).collect();
    for game in varied(games) {
        snapshots.push(stored_snapshot(state, game, None).await?.0);
    }
    Ok(snapshots)
}

/// As many as are shown beside the featured one: the first of each pairing.
fn varied(games: Vec<StoredGame>) -> Vec<StoredGame> {
    let mut seen = Pairings::default();
    let is_new = |game: &StoredGame| seen.is_new(&game.spec.players.first, &game.spec.players.second);
    games.into_iter().filter(is_new).take(GAMES_MAX as usize + 1).collect()
}

impl Feature {
    fn new(lang: Language, live: Option<&LiveGame>, finished: Option<&Snapshot>, cast: &Cast) -> Self {
        let board = |variant, moves: &str| BoardDrawing::to_show(lang, Drawing::new(variant, moves));
        match (live, finished) {
            (Some(game), _) => Self {
                board: board(game.variant.0, &game.moves),
                seats: Some(seats(&game.players, cast)),
                game: Some(game.game.to_string()),
                is_live: true,
            },
            (None, Some(game)) => Self {
                board: board(game.variant.0, &game.moves),
                seats: Some(seats(&game.players, cast)),
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

fn seats(players: &Sides<WirePlayer>, cast: &Cast) -> Sides<LiveSeat> {
    let seat = |side, player| LiveSeat { disc: DiscIcon::new(side), player: cast.tag(player) };
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
