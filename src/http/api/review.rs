//! Every move of a finished game judged.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use fourfold_engine::review::{Mistake, Review, Skill, Verdict};
use fourfold_engine::{Column, Game};
use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::values::Asker;
use crate::http::answer::{Keep, keepable_json};
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::payer::Paying;
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::model::ids::GameId;
use crate::protocol::terms::{Sides, WireSide, WireVariant};

/// A finished game judged exactly.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewView {
    /// The game's id; left out of a review of moves that are no game of the arena.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<GameId>,
    /// Board size.
    variant: WireVariant,
    /// All moves of the game.
    moves: String,
    /// Stones on the board before the first move that is judged: the opening is nobody's merit, and there are boards
    /// whose first moves cannot be solved here.
    from_ply: u32,
    /// The moves from there on.
    plies: Vec<PlyView>,
    /// The last move that changed who wins, counted from 1 as plies are; null if none did.
    turning_point: Option<u32>,
    /// How well each side played.
    skill: Sides<SkillView>,
}

/// One move judged. Scores are those of `GET /api/v1/positions/MOVES`, for the side that moved.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PlyView {
    /// Which move of the game, from 1.
    ply: u32,
    /// Who moved.
    side: WireSide,
    /// Where, from 1.
    column: u8,
    /// What the position was worth.
    before: i32,
    /// What the move was worth.
    after: i32,
    /// The best columns.
    best: Vec<u8>,
    /// Whether some legal move would have thrown the value away.
    decision: bool,
    /// What was wrong with the move; null if nothing was.
    mistake: Option<MistakeWord>,
}

/// What is wrong with a move that is not the best.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MistakeWord {
    /// It gave away a win and lost.
    WinToLoss,
    /// It gave away a win.
    WinToDraw,
    /// It gave away a draw.
    DrawToLoss,
    /// It wins later than it could.
    SlowerWin,
    /// It loses sooner than it must.
    FasterLoss,
}

impl From<Mistake> for MistakeWord {
    fn from(mistake: Mistake) -> Self {
        match mistake {
            Mistake::WinToLoss => Self::WinToLoss,
            Mistake::WinToDraw => Self::WinToDraw,
            Mistake::DrawToLoss => Self::DrawToLoss,
            Mistake::SlowerWin => Self::SlowerWin,
            Mistake::FasterLoss => Self::FasterLoss,
        }
    }
}

/// How well a side played.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct SkillView {
    /// Moves that were judged.
    moves: u64,
    /// Positions in which some legal move would have thrown the value away.
    decisions: u64,
    /// The share of those in which the value was kept, 0 to 1; null without any.
    accuracy: Option<f64>,
    /// The share of moves than which none was better, 0 to 1; null without moves.
    optimal: Option<f64>,
    /// The score given away by a move on average; null without moves.
    mean_loss: Option<f64>,
    /// Moves that threw the value away.
    blunders: u64,
}

impl From<&Skill> for SkillView {
    fn from(skill: &Skill) -> Self {
        Self {
            moves: skill.moves(),
            decisions: skill.decisions(),
            accuracy: skill.accuracy(),
            optimal: skill.optimal_rate(),
            mean_loss: skill.mean_loss(),
            blunders: skill.blunders(),
        }
    }
}

impl From<&Verdict> for PlyView {
    fn from(verdict: &Verdict) -> Self {
        Self {
            ply: verdict.ply + 1,
            side: verdict.side.into(),
            column: verdict.column.number(),
            before: verdict.before.value(),
            after: verdict.after.value(),
            best: verdict.best.iter().map(|column: &Column| column.number()).collect(),
            decision: verdict.is_decision,
            mistake: verdict.mistake().map(MistakeWord::from),
        }
    }
}

impl ReviewView {
    pub(crate) fn new(id: Option<GameId>, game: &Game, from_ply: u32, review: &Review) -> Self {
        Self {
            game: id,
            variant: WireVariant(game.variant()),
            moves: game.notation(),
            from_ply,
            plies: review.moves().iter().map(PlyView::from).collect(),
            turning_point: review.turning_point().map(|verdict| verdict.ply + 1),
            skill: Sides { first: (&review.skill().first).into(), second: (&review.skill().second).into() },
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let review = Operation::get(
        "/api/v1/games/{id}/review",
        "Judges every move of a finished game exactly",
        Content::Json(schema_of::<ReviewView>),
    )
    .refusals(&[ApiCode::Forbidden, ApiCode::RateLimited, ApiCode::Busy]);
    vec![Endpoint::new("/api/v1/games/{id}/review", get(game_review), [review])]
}

async fn game_review(
    State(state): State<AppState>,
    PathPart(part): PathPart,
    Paying(payer): Paying,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = part.parse::<GameId>().map_err(|_| ApiError::not_found("game"))?;
    let stored = state.store.game(&id).await?.ok_or_else(|| ApiError::not_found("game"))?;
    if stored.settlement.is_none() {
        return Err(ApiError::new(ApiCode::Forbidden, "a game is judged when it is over"));
    }
    let game = Game::from_moves(stored.spec.variant, &stored.moves());
    let game = game.map_err(|error| ApiError::internal(&error))?;
    let opening = u32::try_from(stored.spec.opening.moves.len()).unwrap_or(u32::MAX).min(game.ply());
    let reviewed = state.analysis.review(&Asker::Visitor(payer), &game, opening).await?;
    Ok(keepable_json(
        &headers,
        Keep::Settled,
        &ReviewView::new(Some(id), &game, reviewed.from_ply, &reviewed.review),
    ))
}
