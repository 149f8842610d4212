//! Any position, by the moves that lead to it.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use fourfold_engine::solver::{ColumnScores, Score};
use fourfold_engine::{Column, Game, Outcome, Variant, WinDrawLoss};
use schemars::JsonSchema;
use serde::Serialize;

use super::VARIANT;
use crate::analysis::values::{AnalysisError, Asker};
use crate::http::answer::{Keep, keepable_json, picture};
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::opening_names::OpeningName;
use crate::http::payer::Paying;
use crate::http::picture;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::rating::level::Level;
use crate::model::result::GameResult;
use crate::protocol::terms::{WireSide, WireVariant};
use crate::study::explorer::Explored;

/// Ends the path of a picture.
pub(super) const PICTURE: &str = ".svg";

/// A position and what is known about it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct PositionView {
    /// The moves that lead to it; empty for none.
    pub(in crate::http) moves: String,
    /// Board size.
    pub(in crate::http) variant: WireVariant,
    /// Stones on the board.
    pub(in crate::http) ply: u32,
    /// What the opening is called: the name of the fullest position on the way that has one; null if none has.
    pub(in crate::http) opening_name: Option<OpeningName>,
    /// Whose turn it is; null when the game is over.
    pub(in crate::http) to_move: Option<WireSide>,
    /// Columns that may be played, from 1; none when the game is over.
    pub(in crate::http) legal: Vec<u8>,
    /// Who has won; null while the game goes on.
    pub(in crate::http) result: Option<GameResult>,
    /// The cells of the winning line as [column, row], both from 1.
    pub(in crate::http) line: Option<Vec<[u8; 2]>>,
    /// The exact value for the side to move: 0 a draw, +n a win with the n-th stone counted from one's last, -n a
    /// loss. Null when the game is over, and on boards that cannot be solved here.
    pub(in crate::http) score: Option<i32>,
    /// The value after each column, null for a full one. Null as `score` is.
    pub(in crate::http) columns: Option<Vec<Option<i32>>>,
    /// The columns of the best value. Null as `score` is.
    pub(in crate::http) best: Option<Vec<u8>>,
    /// The level whose games are counted in `explored`; null for all.
    pub(in crate::http) level: Option<Level>,
    /// What was played here in finished games, by column; null after more than 15 plies, where nothing is counted.
    pub(in crate::http) explored: Option<Vec<ExploredMove>>,
}

/// A move that was played in a position.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct ExploredMove {
    /// From 1.
    pub(in crate::http) column: u8,
    /// By people, guests too.
    pub(in crate::http) people: Success,
    /// By bots.
    pub(in crate::http) bots: Success,
}

/// What became of the games, for the side that played the move.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct Success {
    /// All of them.
    pub(in crate::http) games: u64,
    /// Won.
    pub(in crate::http) wins: u64,
    /// Drawn.
    pub(in crate::http) draws: u64,
    /// Lost.
    pub(in crate::http) losses: u64,
}

impl From<WinDrawLoss> for Success {
    fn from(score: WinDrawLoss) -> Self {
        let WinDrawLoss { wins, draws, losses } = score;
        Self { games: score.games(), wins, draws, losses }
    }
}

impl From<Explored> for ExploredMove {
    fn from(Explored { column, people, bots }: Explored) -> Self {
        Self { column: column.number(), people: people.into(), bots: bots.into() }
    }
}

impl PositionView {
    fn new(game: &Game, level: Option<Level>, explored: Option<Vec<Explored>>) -> Self {
        let position = game.position();
        let outcome = game.outcome();
        let (result, line) = match outcome {
            None => (None, None),
            Some(Outcome::Draw) => (Some(GameResult::Draw), None),
            Some(Outcome::Win { by, line }) => {
                let result = match WireSide::from(by) {
                    WireSide::First => GameResult::First,
                    WireSide::Second => GameResult::Second,
                };
                (Some(result), Some(line.cells().map(fourfold_engine::Cell::numbers).collect()))
            }
        };
        Self {
            moves: game.notation(),
            variant: WireVariant(game.variant()),
            ply: game.ply(),
            opening_name: OpeningName::of(game),
            to_move: outcome.is_none().then(|| position.side_to_move().into()),
            legal: position.legal_columns().map(Column::number).collect(),
            result,
            line,
            score: None,
            columns: None,
            best: None,
            level,
            explored: explored.map(|moves| moves.into_iter().map(ExploredMove::from).collect()),
        }
    }

    fn valued(self, variant: Variant, solved: Option<&ColumnScores>) -> Self {
        let value = |solved: &ColumnScores, column| solved.get(column).map(Score::value);
        Self {
            score: solved.and_then(ColumnScores::best).map(Score::value),
            columns: solved.map(|solved| variant.columns().map(|column| value(solved, column)).collect()),
            best: solved.map(|solved| solved.best_columns().map(Column::number).collect()),
            ..self
        }
    }
}

const LEVEL: Parameter = Parameter {
    name: "level",
    about: "Whose moves `explored` counts: those of players of this level, 1 to 8; of all if left out",
    schema: schema_of::<Level>,
};

pub(super) fn endpoints() -> Vec<Endpoint> {
    let view = Operation::get(
        "/api/v1/positions/{moves}",
        "Shows a position: what may be played, what was, and what it is worth",
        Content::Json(schema_of::<PositionView>),
    )
    .parameters(&[VARIANT, LEVEL])
    .refusals(&[ApiCode::RateLimited, ApiCode::Busy]);
    let svg = Operation::get("/api/v1/positions/{moves}.svg", "Draws a position", Content::Svg)
        .parameters(&[VARIANT]);
    vec![Endpoint::new("/api/v1/positions/{moves}", get(position), [view, svg])]
}

async fn position(
    State(state): State<AppState>,
    PathPart(part): PathPart,
    parameters: QueryParameters,
    Paying(payer): Paying,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let moves = part.strip_suffix(PICTURE);
    let game = Game::from_moves(variant, moves.unwrap_or(&part))
        .map_err(|error| ApiError::bad_parameter("moves", error.to_string()))?;
    if moves.is_some() {
        return Ok(picture(&headers, Keep::Derived, picture::board(&game)));
    }
    let level = parameters.optional("level")?;
    let view = look(&state, &Asker::Visitor(payer), &game, level).await?;
    Ok(keepable_json(&headers, Keep::Settled, &view))
}

/// A position with its value and what was played there, by players of a level or of all.
///
/// # Errors
///
/// The store failed, the solver is busy, or whoever asks has used up a share of it.
pub(in crate::http) async fn look(
    state: &AppState,
    asker: &Asker,
    game: &Game,
    level: Option<Level>,
) -> Result<PositionView, ApiError> {
    let solved = solve(state, asker, game).await?;
    look_unsolved(state, game, level).await.map(|view| view.valued(game.variant(), solved.as_ref()))
}

/// A position without its value.
///
/// # Errors
///
/// The store failed.
pub(in crate::http) async fn look_unsolved(
    state: &AppState,
    game: &Game,
    level: Option<Level>,
) -> Result<PositionView, ApiError> {
    let played = state.explorer.explore(&*state.store, game.position(), level).await?;
    Ok(PositionView::new(game, level, played))
}

/// The score of each column; `None` if the game is over, or nobody can solve it in time.
async fn solve(state: &AppState, asker: &Asker, game: &Game) -> Result<Option<ColumnScores>, ApiError> {
    if game.outcome().is_some() {
        return Ok(None);
    }
    match state.analysis.columns(asker, game.position()).await {
        Ok(solved) => Ok(Some(solved)),
        Err(AnalysisError::TooHard) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
