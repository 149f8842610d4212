//! The bots that learn: how far they are, why they moved as they did, and keeping one's games out.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, put};
use fourfold_bots::{Counts, Reason};
use fourfold_engine::{Column, Variant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use crate::http::answer::List;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::ranking::PublishedShown;
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::rating::elo::MilliElo;
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;
use crate::storage::lessons::CurvePoint;
use crate::storage::record::StoredGame;
use crate::storage::store::Teaching;
use crate::study::learning::changes::{ChangedMove, Changes};
use crate::study::learning::lesson_history::{GameLessons, SpokenReasons, lessons_of, said_in};

/// A learner, or a version of one.
#[derive(Debug, Serialize, JsonSchema)]
struct AgeView {
    /// The account that plays with it.
    name: PlayerName,
    /// Games learnt.
    games: u64,
    /// Its live Elo on the standard board, which moves with each game; null before the first rated game.
    live_elo: Option<i32>,
    /// Its rating on the standard board, the same as everywhere, on a scale where the bot `random` has 0; null before
    /// the first rated game, unless it was measured beforehand.
    published: Option<WireRating>,
    /// Share, from 0 to 1, of the positions that can be spoilt in which it keeps the result; null until measured. That
    /// of a live version is as of when it was measured last.
    decision: Option<f64>,
}

/// A learner.
#[derive(Debug, Serialize, JsonSchema)]
struct LearnerJson {
    /// The live version.
    #[serde(flatten)]
    live: AgeView,
    /// One line about it.
    about: String,
    /// Number of the last finished game of the arena that it has looked at.
    covered: u64,
    /// Patterns that it knows.
    patterns: u64,
    /// Versions that were frozen on the way, by the games that they had learnt.
    versions: Vec<AgeView>,
    /// What the live version was on the way, by games learnt.
    curve: Vec<CurvePointView>,
}

/// The live version at one moment.
#[derive(Debug, Serialize, JsonSchema)]
struct CurvePointView {
    /// Games learnt.
    games: u64,
    /// Its live rating then, in Elo points; null if it was not known well enough, or not looked up.
    live_elo: Option<i32>,
    /// Its share of right decisions then, as above; null if it was not measured.
    decision: Option<f64>,
    /// When, RFC 3339.
    at: String,
}

/// Why a bot moved as it did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MoveReasons {
    /// Of the move, counted from 1, the opening's included.
    pub(crate) ply: usize,
    /// Where it moved, from 1.
    pub(crate) column: u8,
    /// The weightiest patterns that spoke, for the chosen column first. Empty if none decided the move of a bot that
    /// learns: it won at once, was forced, or no known pattern spoke.
    pub(crate) reasons: Vec<WhyReason>,
}

/// A pattern that spoke.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WhyReason {
    /// For which column, from 1.
    pub(crate) column: u8,
    /// How much it weighed, in the bot's own unit.
    pub(crate) weight: i64,
    /// The pattern's name, such as `own c1 d1 e1 .`.
    pub(crate) pattern: String,
    /// How often it was seen then.
    pub(crate) seen: u32,
    /// How many of those games were won.
    pub(crate) won: u32,
    /// How many were lost.
    pub(crate) lost: u32,
}

/// What a finished game taught the learners.
#[derive(Debug, Serialize, JsonSchema)]
struct GameLessonsJson {
    /// One for each learner that learnt from it.
    items: Vec<LessonJson>,
    /// Learners of which nothing is known yet: the game is not over, or they have not stored what they learnt since,
    /// which they do within minutes.
    pending: Vec<PlayerName>,
}

/// What it taught one of them.
#[derive(Debug, Serialize, JsonSchema)]
struct LessonJson {
    /// The learner's live account.
    learner: PlayerName,
    /// Patterns of which it knows more since; 0 of learners that keep weights alone.
    changed: u64,
    /// Those of them that it did not know before.
    new: u64,
    /// The game's moves at which it chose otherwise right after it had learnt the game, in order; null if that was not
    /// noted yet.
    rethought: Option<Vec<ChangedMoveJson>>,
}

/// A move of a game at which a learner chose otherwise right after it had learnt the game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RethoughtJson")]
pub(crate) struct ChangedMoveJson {
    /// Of the move that was played, counted from 1, the opening's included.
    pub(crate) ply: usize,
    /// The columns, from 1, among which it would have chosen before.
    pub(crate) before: Vec<u8>,
    /// Those among which it chose right after.
    pub(crate) after: Vec<u8>,
}

/// Whether bots of the house may learn from one's games.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TeachingChoice {
    /// Whether they may. If not, what was learnt from them is forgotten.
    allowed: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let learners = Operation::get(
        "/api/v1/learners",
        "Lists the bots that learn, each with its frozen versions",
        Content::Json(schema_of::<List<LearnerJson>>),
    );
    let why = Operation::get(
        "/api/v1/games/{id}/reasons",
        "Says why bots of the house moved as they did, as far as they say so, live too",
        Content::Json(schema_of::<List<MoveReasons>>),
    );
    let lessons = Operation::get(
        "/api/v1/games/{id}/lessons",
        "Says what a finished game taught the bots that learn, and at which of its moves they chose otherwise right after",
        Content::Json(schema_of::<GameLessonsJson>),
    );
    let teaching = Operation::put(
        "/api/v1/account/learning",
        "Allows bots of the house to learn from one's games and those of one's bots, or keeps them out",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<TeachingChoice>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed]);
    vec![
        Endpoint::new("/api/v1/learners", get(list), [learners]),
        Endpoint::new("/api/v1/games/{id}/reasons", get(game_reasons), [why]),
        Endpoint::new("/api/v1/games/{id}/lessons", get(game_lessons), [lessons]),
        Endpoint::new("/api/v1/account/learning", put(set_teaching), [teaching]),
    ]
}

async fn list(State(state): State<AppState>) -> Result<Json<List<LearnerJson>>, ApiError> {
    let mut items = Vec::new();
    for view in state.learning.all() {
        let mut versions = Vec::new();
        for it in &view.versions {
            versions.push(age(&state, (&it.name, &it.player), it.mark, it.decision).await?);
        }
        let curve = state.store.learner_curve(&view.name).await?;
        items.push(LearnerJson {
            live: age(&state, (&view.name, &view.player), view.games, view.decision).await?,
            about: view.about.to_owned(),
            covered: view.covered,
            patterns: view.knowledge.now().pattern_count() as u64,
            versions,
            curve: curve.into_iter().map(CurvePointView::from).collect(),
        });
    }
    Ok(Json(List { items, cursor: None }))
}

async fn age(
    state: &AppState,
    (name, player): (&PlayerName, &PlayerId),
    games: u64,
    decision: Option<u16>,
) -> Result<AgeView, StoreError> {
    let row = state.store.rating(player, Variant::STANDARD).await?;
    let fitted = PublishedShown::if_known(state, player, Variant::STANDARD, row);
    Ok(AgeView {
        name: name.clone(),
        games,
        live_elo: row.map(|row| row.standing.rating.to_elo()),
        published: fitted.map(PublishedShown::to_wire),
        decision: decision.map(share),
    })
}

impl From<CurvePoint> for CurvePointView {
    fn from(point: CurvePoint) -> Self {
        let CurvePoint { games, rating, decision, at } = point;
        Self {
            games,
            live_elo: rating.map(MilliElo::to_elo),
            decision: decision.map(share),
            at: at.to_string(),
        }
    }
}

fn share(thousandths: u16) -> f64 {
    f64::from(thousandths) / 1_000.0
}

async fn game_reasons(
    State(state): State<AppState>,
    PathPart(id): PathPart,
) -> Result<Json<List<MoveReasons>>, ApiError> {
    let game = stored(&state, &id).await?;
    Ok(Json(List { items: reasons_of(&state, &game).await?, cursor: None }))
}

async fn game_lessons(
    State(state): State<AppState>,
    PathPart(id): PathPart,
) -> Result<Json<GameLessonsJson>, ApiError> {
    let game = stored(&state, &id).await?;
    let GameLessons { taught, pending } = lessons_of(&*state.store, &state.learning.all(), &game).await?;
    let items = taught.into_iter().map(|(learner, changes)| LessonJson::new(learner.name.clone(), changes));
    let pending = pending.iter().map(|learner| learner.name.clone());
    Ok(Json(GameLessonsJson { items: items.collect(), pending: pending.collect() }))
}

async fn stored(state: &AppState, id: &str) -> Result<StoredGame, ApiError> {
    let id: GameId = id.parse().map_err(|_| ApiError::not_found("game"))?;
    state.store.game(&id).await?.ok_or_else(|| ApiError::not_found("game"))
}

impl LessonJson {
    fn new(learner: PlayerName, changes: Changes) -> Self {
        let Changes { changed, new, named: _, changed_moves } = changes;
        Self {
            learner,
            changed: changed as u64,
            new: new as u64,
            rethought: changed_moves.map(|turns| turns.into_iter().map(ChangedMoveJson::from).collect()),
        }
    }
}

impl From<ChangedMove> for ChangedMoveJson {
    fn from(ChangedMove { ply, before, after }: ChangedMove) -> Self {
        let numbers = |columns: Vec<Column>| columns.into_iter().map(Column::number).collect();
        Self { ply, before: numbers(before), after: numbers(after) }
    }
}

/// What the bots of the house said about their moves in a game: all moves of those that learn, of others those about
/// which they said something. What other people's bots say is their owners' own.
pub(in crate::http) async fn reasons_of(
    state: &AppState,
    game: &StoredGame,
) -> Result<Vec<MoveReasons>, StoreError> {
    let learns = game.spec.players.as_ref().map(|player| state.learning.knows(player));
    let said = said_in(&*state.store, game, learns).await?;
    Ok(said.into_iter().map(MoveReasons::from).collect())
}

impl From<SpokenReasons> for MoveReasons {
    fn from(said: SpokenReasons) -> Self {
        let SpokenReasons { ply, side: _, column, reasons } = said;
        Self { ply, column: column.number(), reasons: reasons.into_iter().map(WhyReason::from).collect() }
    }
}

impl From<Reason> for WhyReason {
    fn from(reason: Reason) -> Self {
        let Reason { column, weight, pattern, counts: Counts { seen, won, lost } } = reason;
        Self { column: column.number(), weight, pattern, seen, won, lost }
    }
}

async fn set_teaching(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(choice): JsonBody<TeachingChoice>,
) -> Result<StatusCode, ApiError> {
    let session = person(session)?;
    let teaching = if choice.allowed { Teaching::Allowed } else { Teaching::KeptOut };
    state.accounts.set_teaching(&session.identity.id, teaching).await?;
    if teaching == Teaching::KeptOut {
        state.learning.lessons_withdrawn();
    }
    Ok(StatusCode::NO_CONTENT)
}
