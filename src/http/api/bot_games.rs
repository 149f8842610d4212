//! The last games of a bot of one's own, chosen by how they went, and how long it took for its moves in them.

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use fourfold_arena::admission::Percentiles;
use fourfold_engine::Side;
use schemars::JsonSchema;
use serde::Serialize;

use super::CURSOR;
use super::mistakes::{GAMES, GamesWanted};
use super::names::Names;
use super::own_bots::{NOT_YOURS, own};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::BoundedLong;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::result::{EndReason, GameOutcome, GameResult};
use crate::protocol::terms::WireSide;
use crate::storage::bot_versions::FAULTS_MAX;
use crate::storage::record::{EventKind, StoredGame, StoredPlayer};
use crate::storage::records::self_test::TestLatency;
use crate::storage::store::StoreError;

/// Moves that take so long and longer can be asked for: as long as a move may take at all.
type MoveMillis = BoundedLong<0, 86_400_000>;

const OUTCOME: Parameter = Parameter {
    name: "outcome",
    about: "Only games that it `won`, `lost` or drew (`drawn`), or that came to nothing (`void`)",
    schema: schema_of::<GameOutcome>,
};
const FAULT: Parameter = Parameter {
    name: "fault",
    about: "`true`: only games with a fault of its own; `false`: only those without",
    schema: schema_of::<bool>,
};
const SLOWER: Parameter = Parameter {
    name: "slower_than_ms",
    about: "Only games in which some move of its took longer",
    schema: schema_of::<MoveMillis>,
};
const VERSION: Parameter = Parameter {
    name: "version",
    about: "Only games that this version of it played",
    schema: schema_of::<String>,
};
const OPPONENT: Parameter =
    Parameter { name: "opponent", about: "Only games against this player", schema: schema_of::<PlayerName> };

/// A finished game as a bot's owner looks at it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OwnGame")]
pub(in crate::http) struct OwnGameView {
    /// Which game.
    pub(in crate::http) game: GameId,
    /// Against whom.
    pub(in crate::http) opponent: Option<PlayerName>,
    /// Which side the bot was.
    side: WireSide,
    /// Which version of it played; null if it named none, and of games from before versions were kept.
    pub(in crate::http) version: Option<String>,
    /// How it ended for the bot.
    pub(in crate::http) outcome: GameOutcome,
    /// How it came to that.
    pub(in crate::http) reason: Option<EndReason>,
    /// Whether a fault of the bot's belongs to it: it ended by one, or one is in the list of faults.
    pub(in crate::http) fault: bool,
    /// Whether it counted.
    rated: bool,
    /// All moves.
    moves: String,
    /// Its longest move, in milliseconds; null if it made none.
    pub(in crate::http) slowest_ms: Option<u64>,
    /// When it ended, RFC 3339.
    ended_at: String,
}

/// Some of a bot's last games.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct OwnGames {
    /// Those that fit, the newest first.
    pub(in crate::http) items: Vec<OwnGameView>,
    /// How many were looked at.
    pub(in crate::http) games: usize,
    /// How long the bot took for its moves in those that fit, the network's part included.
    pub(in crate::http) latency_ms: TestLatency,
    /// Goes into the next request as `cursor`, for the games before those that were looked at; null at the end.
    pub(in crate::http) cursor: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/bots/{name}/games",
        "Lists the last games of a bot of one's own, the newest first, with its faults and how long it took",
        Content::Json(schema_of::<OwnGames>),
    )
    .parameters(&[GAMES, CURSOR, OUTCOME, FAULT, SLOWER, OPPONENT, VERSION])
    .signed_in()
    .refusals(NOT_YOURS);
    vec![Endpoint::new("/api/v1/bots/{name}/games", get(list_games), [list])]
}

/// Which games somebody wants to see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::http) struct GameFilter {
    pub(in crate::http) outcome: Option<GameOutcome>,
    pub(in crate::http) fault: Option<bool>,
    pub(in crate::http) slower_than_ms: Option<u64>,
    pub(in crate::http) opponent: Option<PlayerName>,
    /// As the bot named it.
    pub(in crate::http) version: Option<String>,
}

impl GameFilter {
    /// All of them.
    pub(in crate::http) const ALL: Self =
        Self { outcome: None, fault: None, slower_than_ms: None, opponent: None, version: None };

    /// As the query says.
    pub(in crate::http) fn read(parameters: &QueryParameters) -> Result<Self, ApiError> {
        Ok(Self {
            outcome: parameters.optional("outcome")?,
            fault: parameters.optional("fault")?,
            slower_than_ms: parameters.optional::<MoveMillis>("slower_than_ms")?.map(MoveMillis::number),
            opponent: parameters.optional("opponent")?,
            version: parameters.optional("version")?,
        })
    }

    fn takes(&self, game: &OwnGameView) -> bool {
        self.outcome.is_none_or(|outcome| outcome == game.outcome)
            && self.fault.is_none_or(|fault| fault == game.fault)
            && self.slower_than_ms.is_none_or(|limit| game.slowest_ms.is_some_and(|slowest| slowest > limit))
            && self.opponent.as_ref().is_none_or(|wanted| game.is_against(wanted))
            && self.version.as_ref().is_none_or(|wanted| game.version.as_ref() == Some(wanted))
    }
}

async fn list_games(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let bot = own(&state, &who, &name).await?;
    let (filter, wanted) = (GameFilter::read(&parameters)?, GamesWanted::read(&parameters)?);
    let games = own_games(&state, &bot, &filter, wanted).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(games)))
}

/// The last games of a bot that fit.
pub(in crate::http) async fn own_games(
    state: &AppState,
    bot: &StoredPlayer,
    filter: &GameFilter,
    wanted: GamesWanted,
) -> Result<OwnGames, StoreError> {
    let (stored, cursor) = wanted.fetch(state, bot).await?;
    let faults = state.store.bot_faults(&bot.id, FAULTS_MAX).await?;
    let faults: HashSet<GameId> = faults.into_iter().filter_map(|fault| fault.game).collect();
    let mut names = Names::default();
    let (mut items, mut spent) = (Vec::new(), Vec::new());
    for game in &stored {
        let Some(side) = side_of(game, &bot.id) else { continue };
        let opponent = names.of(state, &game.spec.players[side.opponent()]).await?;
        let took = move_times(game, side);
        let view = OwnGameView::new(game, side, opponent, &took, &faults);
        if filter.takes(&view) {
            items.push(view);
            spent.extend(took);
        }
    }
    let Percentiles { count, p50, p90, p99, max } = Percentiles::of(spent);
    let latency_ms = TestLatency { count, p50, p90, p99, max };
    Ok(OwnGames { items, games: stored.len(), latency_ms, cursor })
}

fn side_of(game: &StoredGame, bot: &PlayerId) -> Option<Side> {
    Side::BOTH.into_iter().find(|&side| game.spec.players[side] == *bot)
}

/// How long each of a side's moves took, those that were taken back left out.
fn move_times(game: &StoredGame, side: Side) -> Vec<Duration> {
    let opening = game.spec.opening.moves.len();
    let mut times = Vec::new();
    for event in &game.events {
        match &event.kind {
            EventKind::Move(played) => times.push(Duration::from_millis(played.spent_ms)),
            EventKind::Takeback { plies } => times.truncate(times.len().saturating_sub(*plies as usize)),
            EventKind::Paused | EventKind::Finished(_) => {}
        }
    }
    let of_side = |(index, time): (usize, Duration)| {
        let is_first = (opening + index).is_multiple_of(2);
        (is_first == (side == Side::First)).then_some(time)
    };
    times.into_iter().enumerate().filter_map(of_side).collect()
}

impl OwnGameView {
    /// Names are unique without regard to case.
    fn is_against(&self, wanted: &PlayerName) -> bool {
        self.opponent.as_ref().is_some_and(|name| name.as_str().eq_ignore_ascii_case(wanted.as_str()))
    }

    fn new(
        game: &StoredGame,
        side: Side,
        opponent: Option<PlayerName>,
        took: &[Duration],
        faults: &HashSet<GameId>,
    ) -> Self {
        let ending = game.ending();
        let outcome = GameOutcome::of(ending.map_or(GameResult::Void, |ending| ending.result), side);
        let slowest = took.iter().max().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self {
            game: game.spec.id.clone(),
            opponent,
            side: side.into(),
            version: game.spec.versions[side].as_deref().map(str::to_owned),
            outcome,
            reason: ending.map(|ending| ending.reason),
            fault: ending.is_some_and(|ending| ending.by == Some(side)) || faults.contains(&game.spec.id),
            rated: game.settlement.as_ref().is_some_and(|settlement| settlement.ratings.is_some()),
            moves: game.moves(),
            slowest_ms: slowest,
            ended_at: game.last_change().to_string(),
        }
    }
}
