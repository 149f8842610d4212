//! How a bot of one's own does: by its versions, and against each opponent, as it was to be expected and as it came.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use fourfold_arena::stats::elo::expected_score;
use fourfold_arena::stats::performance::{AgainstKnown, performance};
use fourfold_engine::{Side, SideResult, Variant, WinDrawLoss};
use schemars::JsonSchema;
use serde::Serialize;

use super::names::Names;
use super::own_bots::{NOT_YOURS, own};
use super::players::ratings_of;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::rating::elo::{MilliElo, RatingEntry};
use crate::model::result::GameResult;
use crate::storage::games::GameOutline;
use crate::storage::record::{HistoryPoint, StoredPlayer};
use crate::storage::store::StoreError;

/// Games of one record: some tens of milliseconds of the store.
const GAMES_MAX: u32 = 1_000;

/// Games of one record if the asker does not say, and those of the page.
pub(in crate::http) const GAMES_DEFAULT: u32 = 300;

/// How many games somebody wants to have summed up.
type RecordLength = Bounded<1, GAMES_MAX>;

const GAMES: Parameter = Parameter {
    name: "games",
    about: "How many of its last finished games to sum up; 300 if left out",
    schema: schema_of::<RecordLength>,
};

/// Rated games on the standard board, held against what the ratings promised.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Performance")]
pub(in crate::http) struct PerformanceView {
    /// How many.
    pub(in crate::http) games: u32,
    /// Points that it made: 1 for a win, 0.5 for a draw.
    pub(in crate::http) points: f64,
    /// Points that the ratings before each game promised.
    pub(in crate::http) expected: f64,
    /// The rating that explains the points, by these games alone, on the scale of the ratings that are shown. Who won
    /// or lost them all is put 800 points beyond its opponents.
    pub(in crate::http) elo: i32,
    /// Half the width of its 95 % interval.
    pub(in crate::http) pm95: u32,
}

/// Games that belong together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "RecordSum")]
pub(in crate::http) struct RecordSum {
    /// Games with a result.
    pub(in crate::http) games: u64,
    /// Won.
    pub(in crate::http) wins: u64,
    /// Drawn.
    pub(in crate::http) draws: u64,
    /// Lost.
    pub(in crate::http) losses: u64,
    /// Of the rated ones on the standard board; null if there are none.
    pub(in crate::http) rated: Option<PerformanceView>,
}

/// What one version did.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct VersionRecord {
    /// As it was given; null if the bot named none, and of games from before versions were kept.
    pub(in crate::http) version: Option<String>,
    /// Its games.
    #[serde(flatten)]
    pub(in crate::http) sum: RecordSum,
}

/// What came of the games against one opponent.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct OpponentRecord {
    /// Whom; null of who is not there any more.
    pub(in crate::http) opponent: Option<PlayerName>,
    /// The games against it.
    #[serde(flatten)]
    pub(in crate::http) sum: RecordSum,
}

/// What came of a bot's last games.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct OwnRecord {
    /// The version that played last first.
    pub(in crate::http) versions: Vec<VersionRecord>,
    /// The opponent with the most games first.
    pub(in crate::http) opponents: Vec<OpponentRecord>,
    /// How many games were looked at.
    pub(in crate::http) games: usize,
    /// Its rating on the standard board as it is shown; null before the first rated game.
    pub(in crate::http) elo: Option<i32>,
    /// The rating after each rated game on the standard board, oldest first, with what the bot called itself there.
    #[serde(skip)]
    pub(in crate::http) history: Vec<(HistoryPoint, Option<String>)>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let record = Operation::get(
        "/api/v1/bots/{name}/record",
        "Sums up the last games of a bot of one's own, by version and by opponent, against what was to be expected",
        Content::Json(schema_of::<OwnRecord>),
    )
    .parameters(&[GAMES])
    .signed_in()
    .refusals(NOT_YOURS);
    vec![Endpoint::new("/api/v1/bots/{name}/record", get(show), [record])]
}

async fn show(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let bot = own(&state, &who, &name).await?;
    let games = parameters.optional::<RecordLength>("games")?.map_or(GAMES_DEFAULT, RecordLength::number);
    let record = own_record(&state, &bot, games).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(record)))
}

/// Sums up so many of a bot's last games.
pub(in crate::http) async fn own_record(
    state: &AppState,
    bot: &StoredPlayer,
    games: u32,
) -> Result<OwnRecord, StoreError> {
    let stored = state.store.outlines(&bot.id, games).await?;
    let ratings = ratings_of(state, bot).await?;
    let standard = ratings.iter().find(|of| of.variant.0 == Variant::STANDARD).map(|of| of.rating);
    // What games are booked with is the live Elo, whose zero is elsewhere.
    let shift = standard.map_or(0, |rating| rating.elo - rating.live_elo);
    let (mut versions, mut opponents) = (Sums::default(), Sums::default());
    let mut history = Vec::new();
    for game in &stored {
        let Some(played) = PlayedGame::of(game, &bot.id) else { continue };
        versions.add(&played.version, &played);
        opponents.add(&played.opponent, &played);
        history.extend(played.point(game).map(|point| (point, played.version.clone())));
    }
    history.reverse();
    let mut names = Names::default();
    let mut met = Vec::new();
    for (opponent, sum) in opponents.most_games_first(shift) {
        met.push(OpponentRecord { opponent: names.of(state, &opponent).await?, sum });
    }
    let versions = versions.in_order(shift);
    let versions = versions.map(|(version, sum)| VersionRecord { version, sum }).collect();
    let elo = standard.map(|rating| rating.elo);
    Ok(OwnRecord { versions, opponents: met, games: stored.len(), elo, history })
}

/// A rated game, with the ratings before it.
#[derive(Clone, Copy, Debug)]
struct Encounter {
    own: f64,
    opponent: f64,
    /// 1, 0.5 or 0.
    points: f64,
}

/// A finished game as the bot saw it.
struct PlayedGame {
    version: Option<String>,
    opponent: PlayerId,
    result: SideResult,
    /// What became of its rating, and what the opponent had.
    rated: Option<(RatingEntry, Encounter)>,
}

impl PlayedGame {
    /// `None` of what came to nothing or only put load on the arena.
    fn of(game: &GameOutline, bot: &PlayerId) -> Option<Self> {
        let side = Side::BOTH.into_iter().find(|&side| game.players[side] == *bot)?;
        if game.result == GameResult::Void || game.is_load {
            return None;
        }
        let result = SideResult::of(side, game.result.winner());
        let ratings = game.ratings.as_ref().filter(|_| game.variant == Variant::STANDARD);
        let rated = ratings.map(|ratings| {
            let points = match result {
                SideResult::Win => 1.0,
                SideResult::Draw => 0.5,
                SideResult::Loss => 0.0,
            };
            let (own, opponent) =
                (points_of(ratings[side].before), points_of(ratings[side.opponent()].before));
            (ratings[side], Encounter { own, opponent, points })
        });
        let version = game.versions[side].as_deref().map(str::to_owned);
        Some(Self { version, opponent: game.players[side.opponent()].clone(), result, rated })
    }

    fn point(&self, game: &GameOutline) -> Option<HistoryPoint> {
        let (entry, _) = self.rated.as_ref()?;
        let (before, after) = (entry.before, entry.after);
        Some(HistoryPoint { game: game.id.clone(), at: game.ended_at, before, after })
    }
}

/// Games by what they have in common, in the order in which they came.
struct Sums<K> {
    places: HashMap<K, usize>,
    sums: Vec<(K, WinDrawLoss, Vec<Encounter>)>,
}

impl<K> Default for Sums<K> {
    fn default() -> Self {
        Self { places: HashMap::new(), sums: Vec::new() }
    }
}

impl<K: Clone + Eq + std::hash::Hash> Sums<K> {
    fn add(&mut self, key: &K, game: &PlayedGame) {
        let place = *self.places.entry(key.clone()).or_insert(self.sums.len());
        if place == self.sums.len() {
            self.sums.push((key.clone(), WinDrawLoss::default(), Vec::new()));
        }
        let (_, score, rated) = &mut self.sums[place];
        score.count(game.result);
        rated.extend(game.rated.as_ref().map(|(_, met)| *met));
    }

    fn in_order(self, shift: i32) -> impl Iterator<Item = (K, RecordSum)> {
        self.sums.into_iter().map(move |(key, score, rated)| {
            let WinDrawLoss { wins, draws, losses } = score;
            let rated = PerformanceView::of(&rated, shift);
            (key, RecordSum { games: wins + draws + losses, wins, draws, losses, rated })
        })
    }

    fn most_games_first(self, shift: i32) -> Vec<(K, RecordSum)> {
        let mut sums: Vec<_> = self.in_order(shift).collect();
        sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.games));
        sums
    }
}

impl PerformanceView {
    /// `None` of no games.
    fn of(encounters: &[Encounter], shift: i32) -> Option<Self> {
        let games = u32::try_from(encounters.len()).ok()?;
        let known =
            |met: &Encounter| AgainstKnown { opponent: met.opponent, advantage: 0.0, points: met.points };
        let known: Vec<AgainstKnown> = encounters.iter().map(known).collect();
        let found = performance(&known)?;
        let points = encounters.iter().map(|met| met.points).sum();
        let expected = encounters.iter().map(|met| expected_score(met.own - met.opponent)).sum();
        #[expect(clippy::cast_possible_truncation, reason = "floats saturate, and ratings are small")]
        let whole = |points: f64| points.round() as i32;
        let elo = whole(found.elo).saturating_add(shift);
        Some(Self { games, points, expected, elo, pm95: whole(1.96 * found.error).unsigned_abs() })
    }
}

/// Elo points with their fraction.
fn points_of(MilliElo(thousandths): MilliElo) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "ratings are small, unless a store is damaged")]
    let exact = thousandths as f64;
    exact / 1_000.0
}
