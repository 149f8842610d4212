//! Puzzles: the one of the day, the next one, attempts that are checked here.

mod runs;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use fourfold_engine::notation::print_moves;
use fourfold_engine::solver::Value;
use fourfold_engine::{Column, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CURSOR, LIMIT};
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::payer::Paying;
use crate::http::request::{JsonBody, PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PuzzleId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::protocol::terms::{WireSide, WireVariant};
use crate::storage::puzzles::Goal;
use crate::storage::writer::WriteError;
use crate::study::puzzles::attempt::AttemptError;
use crate::study::puzzles::service::{Feedback, PuzzleError, PuzzleRecord, ShownPuzzle, Trier};
use crate::study::puzzles::themes::{Theme, themes};

const AFTER: Parameter =
    Parameter { name: "after", about: "The puzzle that is not wanted again", schema: schema_of::<PuzzleId> };

const THEME: Parameter = Parameter {
    name: "theme",
    about: "What they are to be about; the words that pages use in addresses are taken too",
    schema: schema_of::<ThemeWord>,
};

/// A puzzle without its solution.
#[derive(Debug, Serialize, JsonSchema)]
struct PuzzleView {
    /// Names it.
    id: PuzzleId,
    /// Board size.
    variant: WireVariant,
    /// The moves to the position.
    moves: String,
    /// Whose turn it is: the side that is to find the moves.
    to_move: WireSide,
    /// What they keep: one column alone does at each turn.
    goal: GoalWord,
    /// How many of one's own moves there are to be found.
    own_moves: usize,
    /// How hard it is, in Elo points.
    grade: u32,
    /// Players who have tried it.
    tries: u64,
    /// Of these, who solved it at the first attempt, without a hint.
    solved: u64,
    /// The game in which it was found; null if it came with the program.
    game: Option<GameId>,
    /// What it is about; it may be none of these.
    themes: Vec<ThemeWord>,
}

/// What a puzzle is about.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ThemeWord {
    /// A move of the solution threatens in two places at once.
    Fork,
    /// One column alone holds the draw.
    OnlyDefence,
    /// It comes to a threat that waits in a row which the side gets in the end.
    OddThreat,
    /// A move of the solution lets the other side stop a threat of one's own.
    Sacrifice,
    /// A win of four moves or more.
    LongWin,
}

impl From<Theme> for ThemeWord {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Fork => Self::Fork,
            Theme::OnlyDefence => Self::OnlyDefence,
            Theme::OddThreat => Self::OddThreat,
            Theme::Sacrifice => Self::Sacrifice,
            Theme::LongWin => Self::LongWin,
        }
    }
}

/// A part of the list of all puzzles.
#[derive(Debug, Serialize, JsonSchema)]
struct PuzzleList {
    /// The easiest first, without their solutions.
    items: Vec<PuzzleView>,
    /// Goes into the next request as `cursor`; null at the end.
    cursor: Option<String>,
    /// How many puzzles there are in all; of the theme, if one was wanted.
    total: usize,
}

/// What is to be found.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GoalWord {
    /// The one column that wins.
    Win,
    /// The one column that does not lose.
    Draw,
}

impl From<Goal> for GoalWord {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Win => Self::Win,
            Goal::Draw => Self::Draw,
        }
    }
}

/// How the one who asks does.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordView {
    /// Days in a row, in UTC, with the daily puzzle solved.
    streak: u32,
    /// The most there ever were.
    best_streak: u32,
    /// Whether today's is solved.
    solved_today: bool,
    /// Puzzles tried.
    tried: u32,
    /// Of these, solved at the first attempt.
    solved: u32,
    /// How strong that looks, in Elo points.
    level: u32,
}

/// A puzzle for the one who asks.
#[derive(Debug, Serialize, JsonSchema)]
struct PuzzleAnswer {
    /// The puzzle.
    puzzle: PuzzleView,
    /// How the one who asks does; null for whoever is not known.
    you: Option<RecordView>,
}

/// One's own moves in a puzzle, without the replies, which follow from them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OwnMoves {
    /// In notation: `35` is column 3, then column 5. Empty for none, where a hint for the first move is wanted.
    moves: String,
}

/// How an attempt stands.
#[derive(Debug, Serialize, JsonSchema)]
struct AttemptView {
    /// What came of the last move.
    status: StatusWord,
    /// The moves from the puzzle's position on: those that were right with their replies; after a wrong one, how the
    /// other side goes on, both playing their best.
    line: String,
    /// What the position is worth after a wrong move, for the one who made it; null otherwise, and if the solver has no
    /// time.
    value: Option<ValueWord>,
    /// How the one who asks does now; null for whoever is not known, and as long as it goes on.
    you: Option<RecordView>,
}

/// What came of a move.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusWord {
    /// Right; the last move of `line` is the reply.
    GoesOn,
    /// Right, and there is no more to find.
    Solved,
    /// Wrong.
    Wrong,
}

/// What a position is worth.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ValueWord {
    /// Won.
    Win,
    /// Drawn.
    Draw,
    /// Lost.
    Loss,
}

impl From<Value> for ValueWord {
    fn from(value: Value) -> Self {
        match value {
            Value::Win => Self::Win,
            Value::Draw => Self::Draw,
            Value::Loss => Self::Loss,
        }
    }
}

/// Two columns, one of which is right.
#[derive(Debug, Serialize, JsonSchema)]
struct HintView {
    /// From 1, from the left.
    columns: [u8; 2],
}

/// The solution.
#[derive(Debug, Serialize, JsonSchema)]
struct SolutionView {
    /// One's own moves and the replies in turn.
    line: String,
}

impl From<&ShownPuzzle> for PuzzleView {
    fn from(shown: &ShownPuzzle) -> Self {
        let puzzle = &shown.stored.puzzle;
        let ply = u32::try_from(puzzle.moves.len()).unwrap_or(u32::MAX);
        Self {
            id: puzzle.id.clone(),
            variant: WireVariant(fourfold_engine::Variant::STANDARD),
            moves: puzzle.moves.clone(),
            to_move: Side::to_move_at(ply).into(),
            goal: puzzle.goal.into(),
            own_moves: puzzle.line.len().div_ceil(2),
            grade: shown.grade,
            tries: shown.stored.record.tries,
            solved: shown.stored.record.solved,
            game: puzzle.game.clone(),
            themes: themes(puzzle).into_iter().map(ThemeWord::from).collect(),
        }
    }
}

impl From<PuzzleRecord> for RecordView {
    fn from(record: PuzzleRecord) -> Self {
        let PuzzleRecord { streak, best_streak, solved_today, tried, solved, level } = record;
        Self { streak, best_streak, solved_today, tried, solved, level }
    }
}

impl From<PuzzleError> for ApiError {
    fn from(error: PuzzleError) -> Self {
        match error {
            PuzzleError::NoSuchPuzzle => Self::not_found("puzzle"),
            PuzzleError::NoSuchRun => Self::not_found("run"),
            PuzzleError::NotNow => Self::new(ApiCode::Conflict, error.to_string()),
            PuzzleError::Attempt(AttemptError::Damaged) => Self::internal(&error),
            PuzzleError::Attempt(refused) => Self::bad_field("moves", refused.to_string()),
            PuzzleError::Store(error) => error.into(),
            PuzzleError::Account(error) => error.into(),
            PuzzleError::Share(refusal) => refusal.into(),
            PuzzleError::Write(WriteError::Busy) => Self::new(ApiCode::Busy, "too much is being written"),
            PuzzleError::Write(error) => error.into(),
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    reading().into_iter().chain(trying()).chain(runs::endpoints()).collect()
}

/// What one looks at.
fn reading() -> [Endpoint; 4] {
    let list = Operation::get(
        "/api/v1/puzzles",
        "Lists puzzles without their solutions, the easiest first, and says how many there are, of all or of a theme",
        Content::Json(schema_of::<PuzzleList>),
    )
    .parameters(&[LIMIT, CURSOR, THEME]);
    let daily = Operation::get(
        "/api/v1/puzzles/daily",
        "Shows the puzzle of the day, in UTC: the same for everybody",
        Content::Json(schema_of::<PuzzleAnswer>),
    )
    .refusals(&[ApiCode::NotFound]);
    let next = Operation::get(
        "/api/v1/puzzles/next",
        "Shows a puzzle that the one who asks has not tried, as hard as fits",
        Content::Json(schema_of::<PuzzleAnswer>),
    )
    .parameters(&[AFTER, THEME])
    .refusals(&[ApiCode::NotFound]);
    let one = Operation::get(
        "/api/v1/puzzles/{id}",
        "Shows a puzzle without its solution",
        Content::Json(schema_of::<PuzzleAnswer>),
    );
    [
        Endpoint::new("/api/v1/puzzles", get(list_puzzles), [list]),
        Endpoint::new("/api/v1/puzzles/daily", get(daily_puzzle), [daily]),
        Endpoint::new("/api/v1/puzzles/next", get(next_puzzle), [next]),
        Endpoint::new("/api/v1/puzzles/{id}", get(one_puzzle), [one]),
    ]
}

/// What one does with a puzzle.
fn trying() -> [Endpoint; 3] {
    let attempt = Operation::post(
        "/api/v1/puzzles/{id}/attempts",
        "Checks moves; the first result of each player counts",
        Content::Json(schema_of::<AttemptView>),
    )
    .status(200)
    .body(schema_of::<OwnMoves>)
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed]);
    let hint = Operation::post(
        "/api/v1/puzzles/{id}/hints",
        "Names two columns, one of which is right; the puzzle then counts as not solved",
        Content::Json(schema_of::<HintView>),
    )
    .status(200)
    .body(schema_of::<OwnMoves>)
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed]);
    let solution = Operation::post(
        "/api/v1/puzzles/{id}/solution",
        "Gives up: tells the solution; the puzzle then counts as not solved",
        Content::Json(schema_of::<SolutionView>),
    )
    .status(200)
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed]);
    [
        Endpoint::new("/api/v1/puzzles/{id}/attempts", post(try_puzzle), [attempt]),
        Endpoint::new("/api/v1/puzzles/{id}/hints", post(hint_for), [hint]),
        Endpoint::new("/api/v1/puzzles/{id}/solution", post(give_up), [solution]),
    ]
}

fn identity(viewer: Option<&Viewer>) -> Option<&Identity> {
    viewer.map(|viewer| &viewer.identity)
}

async fn record(state: &AppState, who: Option<&Identity>) -> Result<Option<RecordView>, ApiError> {
    let Some(who) = who else { return Ok(None) };
    Ok(Some(state.puzzles.record(who, UnixMillis::now()).await?.into()))
}

async fn answer(
    state: &AppState,
    who: Option<&Identity>,
    shown: ShownPuzzle,
) -> Result<Json<PuzzleAnswer>, ApiError> {
    Ok(Json(PuzzleAnswer { puzzle: (&shown).into(), you: record(state, who).await? }))
}

async fn list_puzzles(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<PuzzleList>, ApiError> {
    let (limit, cursor) = (parameters.limit()? as usize, parameters.cursor()?.unwrap_or(0));
    let all = state.puzzles.about(parameters.optional("theme")?).await?;
    let from = usize::try_from(cursor).unwrap_or(usize::MAX).min(all.len());
    let until = from.saturating_add(limit).min(all.len());
    let mut items = Vec::with_capacity(until - from);
    for (_, entry) in &all[from..until] {
        items.push((&state.puzzles.show(&entry.id).await?).into());
    }
    let cursor = (until < all.len()).then(|| until.to_string());
    Ok(Json(PuzzleList { items, cursor, total: all.len() }))
}

async fn daily_puzzle(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
) -> Result<Json<PuzzleAnswer>, ApiError> {
    let shown = state.puzzles.daily(UnixMillis::now()).await?;
    answer(&state, identity(viewer.as_ref()), shown).await
}

async fn next_puzzle(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<Json<PuzzleAnswer>, ApiError> {
    let after: Option<PuzzleId> = parameters.optional("after")?;
    let theme: Option<Theme> = parameters.optional("theme")?;
    let who = identity(viewer.as_ref());
    let shown = state.puzzles.next(who, after.as_ref(), theme).await?;
    answer(&state, who, shown).await
}

async fn one_puzzle(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    part: PathPart,
) -> Result<Json<PuzzleAnswer>, ApiError> {
    let shown = state.puzzles.show(&part.parse("puzzle")?).await?;
    answer(&state, identity(viewer.as_ref()), shown).await
}

async fn try_puzzle(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    part: PathPart,
    JsonBody(OwnMoves { moves }): JsonBody<OwnMoves>,
) -> Result<Json<AttemptView>, ApiError> {
    let (id, who) = (part.parse("puzzle")?, identity(viewer.as_ref()));
    let trier = Trier { who, payer: &payer };
    let feedback = state.puzzles.attempt(trier, &id, &moves, UnixMillis::now()).await?;
    let (status, line, value) = match feedback {
        Feedback::GoesOn { line } => (StatusWord::GoesOn, line, None),
        Feedback::Solved { line } => (StatusWord::Solved, line, None),
        Feedback::Wrong { value, refutation } => (StatusWord::Wrong, refutation, value),
    };
    let you = match status {
        StatusWord::GoesOn => None,
        StatusWord::Solved | StatusWord::Wrong => record(&state, who).await?,
    };
    let value = value.map(ValueWord::from);
    Ok(Json(AttemptView { status, line: print_moves(&line), value, you }))
}

async fn hint_for(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    part: PathPart,
    JsonBody(OwnMoves { moves }): JsonBody<OwnMoves>,
) -> Result<Json<HintView>, ApiError> {
    let (id, who) = (part.parse("puzzle")?, identity(viewer.as_ref()));
    let trier = Trier { who, payer: &payer };
    let columns = state.puzzles.hint(trier, &id, &moves, UnixMillis::now()).await?;
    Ok(Json(HintView { columns: columns.map(Column::number) }))
}

async fn give_up(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    part: PathPart,
) -> Result<Json<SolutionView>, ApiError> {
    let (id, who) = (part.parse("puzzle")?, identity(viewer.as_ref()));
    let trier = Trier { who, payer: &payer };
    let line = state.puzzles.solution(trier, &id, UnixMillis::now()).await?;
    Ok(Json(SolutionView { line }))
}
