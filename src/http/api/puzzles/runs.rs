//! Runs through puzzles, which the arena hands out, judges and times, and the tables of the best ones.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use fourfold_engine::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GoalWord, StatusWord, identity};
use crate::http::api::LIMIT;
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::payer::Paying;
use crate::http::request::{JsonBody, PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::ids::{PlayerName, PuzzleId, RunId};
use crate::model::time::UnixMillis;
use crate::protocol::terms::WireSide;
use crate::storage::rushes::{RushKind, RushPlace};
use crate::study::puzzles::runs::Verdict;
use crate::study::puzzles::rush::{RushPeriod, ShownRun};
use crate::study::puzzles::service::{ShownPuzzle, Trier};

/// Puzzles that a run can have, and no number of one is higher.
type PuzzleNumber = Bounded<1, 60>;

/// What ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum RunKind {
    /// The clock, after three minutes.
    Minutes,
    /// The third miss.
    Lives,
}

/// From when on runs are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum PeriodWord {
    /// Since midnight, in UTC.
    Day,
    /// Since Monday, in UTC.
    Week,
    /// Since there are runs.
    All,
}

impl From<RunKind> for RushKind {
    fn from(kind: RunKind) -> Self {
        match kind {
            RunKind::Minutes => Self::Minutes,
            RunKind::Lives => Self::Lives,
        }
    }
}

impl From<RushKind> for RunKind {
    fn from(kind: RushKind) -> Self {
        match kind {
            RushKind::Minutes => Self::Minutes,
            RushKind::Lives => Self::Lives,
        }
    }
}

impl From<PeriodWord> for RushPeriod {
    fn from(period: PeriodWord) -> Self {
        match period {
            PeriodWord::Day => Self::Day,
            PeriodWord::Week => Self::Week,
            PeriodWord::All => Self::All,
        }
    }
}

impl FromStr for RunKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "minutes" => Ok(Self::Minutes),
            "lives" => Ok(Self::Lives),
            _ => Err("kind is minutes or lives"),
        }
    }
}

impl FromStr for PeriodWord {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "day" => Ok(Self::Day),
            "week" => Ok(Self::Week),
            "all" => Ok(Self::All),
            _ => Err("period is day, week or all"),
        }
    }
}

const KIND: Parameter = Parameter {
    name: "kind",
    about: "What ends the runs: `minutes` (if left out) or `lives`",
    schema: schema_of::<RunKind>,
};

const PERIOD: Parameter = Parameter {
    name: "period",
    about: "From when on: `day`, `week` or `all` (if left out)",
    schema: schema_of::<PeriodWord>,
};

/// A run to begin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewRun {
    /// What ends it.
    kind: RunKind,
}

/// An answer to a puzzle of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunMoves {
    /// Of the puzzle that was handed out last.
    number: PuzzleNumber,
    /// One's own moves in it so far, without the replies, in notation.
    moves: String,
}

/// A puzzle of a run. It has no id until it is answered: solutions can be looked up by it.
#[derive(Debug, Serialize, JsonSchema)]
struct RunPuzzle {
    /// From 1.
    number: u32,
    /// The moves to the position.
    moves: String,
    /// Whose turn it is: the side that is to find the moves.
    to_move: WireSide,
    /// What they keep.
    goal: GoalWord,
    /// How many of one's own moves there are to be found.
    own_moves: usize,
}

impl RunPuzzle {
    fn new(number: u32, shown: &ShownPuzzle) -> Self {
        let puzzle = &shown.stored.puzzle;
        let ply = u32::try_from(puzzle.moves.len()).unwrap_or(u32::MAX);
        Self {
            number,
            moves: puzzle.moves.clone(),
            to_move: Side::to_move_at(ply).into(),
            goal: puzzle.goal.into(),
            own_moves: puzzle.line.len().div_ceil(2),
        }
    }
}

/// What became of an answer.
#[derive(Debug, Serialize, JsonSchema)]
struct AnsweredPuzzle {
    /// The puzzle; null as long as it goes on.
    id: Option<PuzzleId>,
    /// Right and going on, solved, or wrong.
    status: StatusWord,
    /// The moves that were right with their replies, from the puzzle's position on; empty after a wrong one.
    line: String,
}

/// A run as it stands.
#[derive(Debug, Serialize, JsonSchema)]
struct RunView {
    /// Names it in further requests.
    run: RunId,
    /// What ends it.
    kind: RunKind,
    /// Puzzles that were solved.
    solved: u32,
    /// Those that were missed, in order.
    missed: Vec<PuzzleId>,
    /// What is left on the clock; null if there is none.
    left_ms: Option<u64>,
    /// Whether it is over.
    over: bool,
    /// The puzzle to solve now; null if it is over.
    puzzle: Option<RunPuzzle>,
    /// What became of the moves that were sent; null if none were, or they came too late.
    answered: Option<AnsweredPuzzle>,
    /// Of a run that is over: the place of one's account among those of the day; null for whoever has none.
    rank_today: Option<u32>,
}

impl From<ShownRun> for RunView {
    fn from(shown: ShownRun) -> Self {
        let ShownRun { id, standing, puzzle, answered, rank_today } = shown;
        let number = standing.puzzle.as_ref().map(|(number, _)| *number);
        let answered = answered.map(|(id, verdict, line)| {
            let (id, status) = match verdict {
                Verdict::GoesOn => (None, StatusWord::GoesOn),
                Verdict::Solved => (Some(id), StatusWord::Solved),
                Verdict::Missed => (Some(id), StatusWord::Wrong),
            };
            AnsweredPuzzle { id, status, line }
        });
        let millis = |left: std::time::Duration| u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        Self {
            run: id,
            kind: standing.kind.into(),
            solved: standing.solved,
            missed: standing.missed,
            left_ms: standing.left.map(millis),
            over: number.is_none(),
            puzzle: number.zip(puzzle.as_ref()).map(|(number, puzzle)| RunPuzzle::new(number, puzzle)),
            answered,
            rank_today,
        }
    }
}

/// A row of the table: an account's best run.
#[derive(Debug, Serialize, JsonSchema)]
struct RushRowView {
    /// From 1; of equals whoever was earlier stands first.
    rank: u32,
    /// Whose.
    name: PlayerName,
    /// Puzzles that were solved.
    solved: u32,
    /// When, RFC 3339.
    at: String,
}

impl From<RushPlace> for RushRowView {
    fn from(place: RushPlace) -> Self {
        let RushPlace { rank, player: _, name, solved, at } = place;
        Self { rank, name, solved, at: at.to_string() }
    }
}

/// The best runs.
#[derive(Debug, Serialize, JsonSchema)]
struct RushBoardView {
    /// What ended them.
    kind: RunKind,
    /// From when on.
    period: PeriodWord,
    /// One of each account, the best first.
    items: Vec<RushRowView>,
    /// The row of whoever asks, also if it is lower than those; null without one.
    you: Option<RushRowView>,
}

const REFUSALS: &[ApiCode] =
    &[ApiCode::NotFound, ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed];
const ANSWER_REFUSALS: &[ApiCode] =
    &[ApiCode::NotFound, ApiCode::Conflict, ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed];

pub(super) fn endpoints() -> [Endpoint; 4] {
    let begin = Operation::post(
        "/api/v1/puzzles/runs",
        "Begins a run through puzzles, each harder than the one before; it ends the one that one has",
        Content::Json(schema_of::<RunView>),
    )
    .body(schema_of::<NewRun>)
    .refusals(REFUSALS);
    let show = Operation::get(
        "/api/v1/puzzles/runs/{run}",
        "Shows how one's run stands",
        Content::Json(schema_of::<RunView>),
    );
    let answer = Operation::post(
        "/api/v1/puzzles/runs/{run}/moves",
        "Answers the puzzle that was handed out last, and hands out the next one",
        Content::Json(schema_of::<RunView>),
    )
    .status(200)
    .body(schema_of::<RunMoves>)
    .refusals(ANSWER_REFUSALS);
    let board = Operation::get(
        "/api/v1/puzzles/rush",
        "Lists the best runs of accounts",
        Content::Json(schema_of::<RushBoardView>),
    )
    .parameters(&[KIND, PERIOD, LIMIT]);
    [
        Endpoint::new("/api/v1/puzzles/runs", post(begin_run), [begin]),
        Endpoint::new("/api/v1/puzzles/runs/{run}", get(show_run), [show]),
        Endpoint::new("/api/v1/puzzles/runs/{run}/moves", post(answer_run), [answer]),
        Endpoint::new("/api/v1/puzzles/rush", get(rush_board), [board]),
    ]
}

async fn begin_run(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    JsonBody(NewRun { kind }): JsonBody<NewRun>,
) -> Result<impl axum::response::IntoResponse, ApiError> {
    let trier = Trier { who: identity(viewer.as_ref()), payer: &payer };
    let run = state.puzzles.begin_run(trier, kind.into(), UnixMillis::now()).await?;
    Ok((axum::http::StatusCode::CREATED, Json(RunView::from(run))))
}

async fn show_run(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    part: PathPart,
) -> Result<Json<RunView>, ApiError> {
    let trier = Trier { who: identity(viewer.as_ref()), payer: &payer };
    let run = state.puzzles.run(trier, part.parse("run")?, UnixMillis::now()).await?;
    Ok(Json(run.into()))
}

async fn answer_run(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    part: PathPart,
    JsonBody(RunMoves { number, moves }): JsonBody<RunMoves>,
) -> Result<Json<RunView>, ApiError> {
    let trier = Trier { who: identity(viewer.as_ref()), payer: &payer };
    let answer = (number.number(), moves.as_str());
    let run = state.puzzles.answer_run(trier, part.parse("run")?, answer, UnixMillis::now()).await?;
    Ok(Json(run.into()))
}

async fn rush_board(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<Json<RushBoardView>, ApiError> {
    let kind = parameters.optional::<RunKind>("kind")?.unwrap_or(RunKind::Minutes);
    let period = parameters.optional::<PeriodWord>("period")?.unwrap_or(PeriodWord::All);
    let limit = parameters.limit()?;
    let you = identity(viewer.as_ref()).map(|who| &who.id);
    let now = UnixMillis::now();
    let places = state.puzzles.rush_board(kind.into(), period.into(), limit, you, now).await?;
    let own = places.iter().find(|place| Some(&place.player) == you).cloned();
    let items = places.into_iter().filter(|place| place.rank <= limit).map(RushRowView::from).collect();
    Ok(Json(RushBoardView { kind, period, items, you: own.map(RushRowView::from) }))
}
