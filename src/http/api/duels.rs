//! Duels of a bot of one's own: pairs against a bot of the house or another bot of one's own, for a fixed number or
//! until a test decides.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use fourfold_arena::stats::pairs::Estimate;
use fourfold_arena::stats::sprt::Hypothesis;
use fourfold_engine::BySide;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own_bots::{NOT_YOURS, own};
use crate::accounts::identity_of;
use crate::competition::duels::{Asked, GivenUp, Unbegun};
use crate::http::answer::List;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::model::bounded::{Bounded, BoundedSigned};
use crate::model::clock::{GameTime, TimeControl};
use crate::model::duel::{DUEL_ELO_MAX, DuelRule, DuelTest};
use crate::model::ids::{GameId, PairId, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::play::host::duel::{DuelStanding, first_game, sprt};
use crate::storage::record::{GamePair, StoredGame, StoredPlayer};
use crate::storage::store::StoreError;

/// Pairs of one duel: a difference of ten points shows in as many, and a house bot that thinks is busy for an evening.
const PAIRS_MAX: u32 = 500;

/// Among so many of a bot's last games its duels are found.
const GAMES_LOOKED_AT: u32 = 1_000;

/// Time of the games unless the asker says: ten seconds and a tenth a move.
const TIME: TimeControl = TimeControl { bank_ms: Some(10_000), increment_ms: 100, move_ms: None };

/// When to ask again while too many wait.
const FULL_RETRY: Duration = Duration::from_mins(1);

type PairNumber = Bounded<1, PAIRS_MAX>;
type EloBound = BoundedSigned<{ -DUEL_ELO_MAX }, DUEL_ELO_MAX>;

/// A test that ends a duel as soon as it is decided.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "DuelTest")]
struct TestRequest {
    /// Hypothesis 0: the bot is so many Elo points stronger than its opponent.
    elo0: EloBound,
    /// Hypothesis 1, above it.
    elo1: EloBound,
}

/// A duel to be played.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "NewDuel")]
struct NewDuelRequest {
    /// A bot of the house, or another bot of one's own that is connected.
    opponent: String,
    /// How many pairs, at most if there is a test.
    pairs: PairNumber,
    /// Ends the duel early, with an error of 5 %; none if left out.
    #[serde(default)]
    test: Option<TestRequest>,
    /// Time of the games; 10 s and 0.1 s a move if left out.
    #[serde(default)]
    time: Option<GameTime>,
}

/// The test of a duel, and how it stands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct DuelTestView {
    /// Hypothesis 0: the bot is so many Elo points stronger.
    pub(in crate::http) elo0: i32,
    /// Hypothesis 1.
    pub(in crate::http) elo1: i32,
    /// The log likelihood ratio of hypothesis 1 to 0.
    pub(in crate::http) llr: f64,
    /// Below this, hypothesis 0 is accepted, and above its opposite hypothesis 1.
    pub(in crate::http) lower: f64,
}

/// What a duel has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum DuelVerdict {
    /// The test accepts hypothesis 1.
    Elo1,
    /// The test accepts hypothesis 0.
    Elo0,
    /// The bot is stronger: 95 % of what is possible lies above zero.
    Stronger,
    /// It is weaker.
    Weaker,
    /// Too few games to tell.
    Open,
}

/// A duel as it stands.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Duel")]
pub(in crate::http) struct DuelView {
    /// The last part of its link.
    pub(in crate::http) id: PairId,
    /// Whose owner asked for it.
    pub(in crate::http) bot: Option<PlayerName>,
    /// Against whom.
    pub(in crate::http) opponent: Option<PlayerName>,
    /// Whether a game of it goes on. One that is neither running nor over goes on when both are connected again.
    pub(in crate::http) running: bool,
    /// Whether no further game begins: all were played, or the test has decided.
    pub(in crate::http) over: bool,
    /// Pairs that were asked for.
    pub(in crate::http) pairs: u32,
    /// Games with a result.
    pub(in crate::http) games: u64,
    /// Won by the bot.
    pub(in crate::http) wins: u64,
    /// Drawn.
    pub(in crate::http) draws: u64,
    /// Lost.
    pub(in crate::http) losses: u64,
    /// Whole pairs by the bot's points: 0, 0.5, 1, 1.5, 2.
    pub(in crate::http) pentanomial: [u64; 5],
    /// How many Elo points stronger the bot is; null before the first pair.
    pub(in crate::http) elo: Option<f64>,
    /// Lower end of the 95 % interval.
    pub(in crate::http) elo_low: Option<f64>,
    /// Upper end.
    pub(in crate::http) elo_high: Option<f64>,
    /// The test, if there is one.
    pub(in crate::http) test: Option<DuelTestView>,
    /// What it has shown.
    pub(in crate::http) verdict: DuelVerdict,
    /// The newest of its games.
    pub(in crate::http) last_game: Option<GameId>,
    /// Which it is among those that wait for their turn, if nobody else asks: 1 begins next; null once it has begun.
    pub(in crate::http) position: Option<usize>,
    /// Why it did not begin; null if it did, or may.
    pub(in crate::http) refused: Option<String>,
}

/// A duel that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
struct DuelBegun {
    /// The last part of its link.
    id: PairId,
    /// Where it is shown.
    url: String,
    /// Which it is among those that wait for their turn; null if it has begun.
    position: Option<usize>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    const REFUSALS: &[ApiCode] =
        &[ApiCode::Forbidden, ApiCode::Conflict, ApiCode::Busy, ApiCode::RateLimited];
    let begin = Operation::post(
        "/api/v1/bots/{name}/duels",
        "Begins a duel of a connected bot of one's own as soon as it is its turn: casual pairs from balanced openings, one game at a time",
        Content::Json(schema_of::<DuelBegun>),
    )
    .body(schema_of::<NewDuelRequest>)
    .signed_in()
    .refusals(REFUSALS);
    let list = Operation::get(
        "/api/v1/bots/{name}/duels",
        "Lists the duels among the last games of a bot of one's own, the newest first",
        Content::Json(schema_of::<List<DuelView>>),
    )
    .signed_in()
    .refusals(NOT_YOURS);
    let show = Operation::get(
        "/api/v1/duels/{id}",
        "A duel as it stands, with its verdict",
        Content::Json(schema_of::<DuelView>),
    );
    let withdraw = Operation::delete(
        "/api/v1/duels/{id}",
        "Takes back a duel of one's own that waits for its turn",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    vec![
        Endpoint::new("/api/v1/bots/{name}/duels", post(begin_duel).get(list_duels), [begin, list]),
        Endpoint::new("/api/v1/duels/{id}", get(show_duel).delete(withdraw_duel), [show, withdraw]),
    ]
}

async fn begin_duel(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
    JsonBody(wish): JsonBody<NewDuelRequest>,
) -> Result<(StatusCode, Json<DuelBegun>), ApiError> {
    let bot = own(&state, &who, &name).await?;
    let opponent = opponent_of(&state, &bot, &wish.opponent).await?;
    let test = match wish.test {
        None => None,
        Some(TestRequest { elo0, elo1 }) => Some(
            DuelTest::new(elo0.number(), elo1.number())
                .ok_or_else(|| ApiError::bad_field("test", "elo1 is above elo0"))?,
        ),
    };
    if !state.arena.is_online(&bot.id) {
        return Err(ApiError::new(ApiCode::Conflict, format!("{} is not connected", bot.name)));
    }
    let id = DuelRule { test }.draw_id(&mut chance());
    let players = BySide { first: identity_of(&bot), second: identity_of(&opponent) };
    let pair = GamePair { id: id.clone(), leg: 1, of: 2 * wish.pairs.number() };
    let offer = first_game(players, wish.time.map_or(TIME, GameTime::control), pair);
    let owner = bot.owner.clone().unwrap_or_else(|| bot.id.clone());
    let position = match state.arena.ask_duel(id.clone(), owner, offer).await {
        Ok(Asked::Begun) => None,
        Ok(Asked::Waits(position)) => Some(position),
        Ok(Asked::Refused(why)) => return Err(ApiError::new(ApiCode::Conflict, why)),
        Err(full) => return Err(ApiError::new(ApiCode::RateLimited, full.to_string()).retry_in(FULL_RETRY)),
    };
    let url = state.site.url(&format!("/duel/{id}"));
    Ok((StatusCode::CREATED, Json(DuelBegun { id, url, position })))
}

async fn withdraw_duel(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    PathPart(id): PathPart,
) -> Result<StatusCode, ApiError> {
    let id: PairId = id.parse().map_err(|_| ApiError::not_found("duel"))?;
    let owner = who.identity.owner.as_ref().unwrap_or(&who.identity.id);
    if state.arena.withdraw_duel(&id, owner) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::not_found("duel of yours that waits"))
    }
}

/// A bot of the house, or another one of the same owner's that is there.
async fn opponent_of(state: &AppState, bot: &StoredPlayer, name: &str) -> Result<StoredPlayer, ApiError> {
    let refused = || {
        ApiError::bad_field(
            "opponent",
            "opponent is a bot of the house, or another bot of yours that is connected",
        )
    };
    let name: PlayerName = name.parse().map_err(|_| refused())?;
    let found = state.store.player_by_name(&name).await?.filter(|found| found.kind == PlayerKind::Bot);
    let may_play = |found: &StoredPlayer| {
        let is_family = found.owner.is_some() && found.owner == bot.owner;
        found.id != bot.id && (found.house || (is_family && state.arena.is_online(&found.id)))
    };
    found.filter(may_play).ok_or_else(refused)
}

async fn show_duel(
    State(state): State<AppState>,
    PathPart(id): PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let id: PairId = id.parse().map_err(|_| ApiError::not_found("duel"))?;
    let duel = duel(&state, &id).await?.ok_or_else(|| ApiError::not_found("duel"))?;
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(duel)))
}

async fn list_duels(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<Json<List<DuelView>>, ApiError> {
    let bot = own(&state, &who, &name).await?;
    let mut duels = Vec::new();
    for id in state.arena.waiting_duels(&bot.id) {
        duels.extend(duel(&state, &id).await?);
    }
    for found in duels_of(&state, &bot).await? {
        duels.extend(duel(&state, &found.id).await?);
    }
    Ok(Json(List::whole(duels)))
}

/// A duel among a bot's games.
pub(in crate::http) struct DuelFound {
    pub(in crate::http) id: PairId,
    pub(in crate::http) opponent: PlayerId,
    /// When its last game ended.
    pub(in crate::http) at: UnixMillis,
}

/// The duels among a bot's last games, the newest first.
pub(in crate::http) async fn duels_of(
    state: &AppState,
    bot: &StoredPlayer,
) -> Result<Vec<DuelFound>, StoreError> {
    let games = state.store.outlines(&bot.id, GAMES_LOOKED_AT).await?;
    let mut found: Vec<DuelFound> = Vec::new();
    for game in games {
        let Some(id) = game.series else { continue };
        if DuelRule::of(&id).is_none() || found.iter().any(|known| known.id == id) {
            continue;
        }
        let BySide { first, second } = game.players;
        let opponent = if first == bot.id { second } else { first };
        found.push(DuelFound { id, opponent, at: game.ended_at });
    }
    Ok(found)
}

/// A duel by its id, if there is one.
pub(in crate::http) async fn duel(state: &AppState, id: &PairId) -> Result<Option<DuelView>, StoreError> {
    let Some(rule) = DuelRule::of(id) else { return Ok(None) };
    let games: Vec<StoredGame> = state.store.games_of_series(id).await?;
    // The first game has the bot that it was asked for on the first side.
    let begins = |game: &&StoredGame| game.spec.pair.as_ref().is_some_and(|pair| pair.leg == 1);
    let Some(first) = games.iter().find(begins) else {
        return Ok(state.arena.unbegun_duel(id).map(|duel| DuelView::unbegun(rule, duel)));
    };
    let BySide { first: bot, second: opponent } = first.spec.players.clone();
    let of = first.spec.pair.as_ref().map_or(0, |pair| pair.of);
    let standing = DuelStanding::of(&games, &bot);
    let decided = rule.test.and_then(|test| standing.verdict(test));
    let running = games.iter().any(|game| game.ending().is_none());
    let played_all = games.iter().filter_map(|game| game.spec.pair.as_ref()).any(|pair| pair.leg >= of);
    let estimate = standing.pairs.estimate();
    let name_of = |player: Option<StoredPlayer>| player.map(|player| player.name);
    Ok(Some(DuelView {
        id: id.clone(),
        bot: name_of(state.store.player(&bot).await?),
        opponent: name_of(state.store.player(&opponent).await?),
        running,
        over: !running && (decided.is_some() || played_all),
        pairs: of / 2,
        games: standing.score.wins + standing.score.draws + standing.score.losses,
        wins: standing.score.wins,
        draws: standing.score.draws,
        losses: standing.score.losses,
        pentanomial: standing.pairs.counts,
        elo: estimate.map(|estimate| estimate.elo),
        elo_low: estimate.map(|estimate| estimate.low),
        elo_high: estimate.map(|estimate| estimate.high),
        test: rule.test.map(|test| DuelTestView::new(test, &standing)),
        verdict: DuelVerdict::of(rule.test, decided, estimate),
        last_game: games.last().map(|game| game.spec.id.clone()),
        position: None,
        refused: None,
    }))
}

impl DuelView {
    /// A duel without games.
    fn unbegun(rule: DuelRule, unbegun: Unbegun) -> Self {
        let (duel, position, refused) = match unbegun {
            Unbegun::Waiting(duel, position) => (duel, Some(position), None),
            Unbegun::GivenUp(GivenUp { duel, why }) => (duel, None, Some(why)),
        };
        let BySide { first, second } = duel.offer.players;
        let nothing = DuelStanding::default();
        Self {
            id: duel.id,
            bot: Some(first.name),
            opponent: Some(second.name),
            running: false,
            over: refused.is_some(),
            pairs: duel.offer.pair.map_or(0, |pair| pair.of / 2),
            games: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            pentanomial: nothing.pairs.counts,
            elo: None,
            elo_low: None,
            elo_high: None,
            test: rule.test.map(|test| DuelTestView::new(test, &nothing)),
            verdict: DuelVerdict::Open,
            last_game: None,
            position,
            refused,
        }
    }
}

impl DuelTestView {
    fn new(test: DuelTest, standing: &DuelStanding) -> Self {
        let DuelTest { elo0, elo1 } = test;
        let sprt = sprt(test);
        Self { elo0, elo1, llr: sprt.llr(&standing.pairs), lower: sprt.bounds().0 }
    }
}

impl DuelVerdict {
    /// A test that has not decided yet says nothing, whatever it looks like.
    fn of(test: Option<DuelTest>, decided: Option<Hypothesis>, estimate: Option<Estimate>) -> Self {
        match (decided, estimate) {
            (Some(Hypothesis::H1), _) => Self::Elo1,
            (Some(Hypothesis::H0), _) => Self::Elo0,
            (None, Some(estimate)) if test.is_none() && estimate.low > 0.0 => Self::Stronger,
            (None, Some(estimate)) if test.is_none() && estimate.high < 0.0 => Self::Weaker,
            (None, _) => Self::Open,
        }
    }
}
