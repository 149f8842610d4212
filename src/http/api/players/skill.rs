//! How well a player plays, by the exact solver: over all of its judged games, and by stages of its last ones.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use fourfold_engine::review::{Exploitation, PlyBands, Skill};
use fourfold_engine::{Game, Side, Variant};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::find;
use crate::analysis::values::{AnalysisError, Asker};
use crate::http::api::VARIANT;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::payer::Paying;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::ids::PlayerId;
use crate::protocol::terms::WireVariant;
use crate::storage::published::RatedGame;
use crate::storage::{Store, StoreError};

/// Games of one answer: each costs some of the solver's time.
const GAMES_MAX: u32 = 50;

/// Games of one answer if the asker does not say.
const GAMES_DEFAULT: u32 = 20;

/// After this no further game is begun, so that an answer comes before proxies give up.
const TIME_MAX: Duration = Duration::from_secs(6);

/// Of so many last rated games it is counted what opponents were led into: enough for a margin of some percent, and
/// read in milliseconds.
const EXPLOITED_GAMES_MAX: u32 = 1_000;

/// How many games somebody wants to have looked at.
pub(in crate::http) type GamesToJudge = Bounded<0, GAMES_MAX>;

const GAMES: Parameter = Parameter {
    name: "games",
    about: "How many of the last rated games `by_ply` is of, 0 to 50; 20 if left out",
    schema: schema_of::<GamesToJudge>,
};

/// How well moves were chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct SkillRates {
    /// Moves that were judged.
    pub(in crate::http) positions: u64,
    /// The share that kept the value of the position, 0 to 1; null without moves.
    pub(in crate::http) good: Option<f64>,
    /// The same where some legal move would have thrown it away; null if there was nothing to decide.
    pub(in crate::http) decision: Option<f64>,
    /// The share of moves than which none was better, 0 to 1; null without moves.
    pub(in crate::http) optimal: Option<f64>,
    /// The score that a move gave away on average, in stones; null without moves.
    pub(in crate::http) mean_loss: Option<f64>,
}

impl From<&Skill> for SkillRates {
    fn from(skill: &Skill) -> Self {
        Self {
            positions: skill.moves(),
            good: skill.good_rate(),
            decision: skill.accuracy(),
            optimal: skill.optimal_rate(),
            mean_loss: skill.mean_loss(),
        }
    }
}

/// The same of a stage of the game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct StageView {
    /// Stones on the board before the move, at least.
    pub(in crate::http) from: u32,
    /// At most.
    pub(in crate::http) to: u32,
    #[serde(flatten)]
    pub(in crate::http) rates: SkillRates,
}

/// What a player makes of opponents that err: over those of its last 1,000 rated games that were judged, against
/// opponents that decided 30 times or more against others.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct ExploitationView {
    /// Games that are counted.
    pub(in crate::http) games: u64,
    /// Mistakes of the opponents for each that they make against others in as many decisions.
    pub(in crate::http) ratio: f64,
    /// Half the width of the interval around it that holds what is true 95 times in 100.
    pub(in crate::http) margin: f64,
    /// Decisions that an opponent is given in a game, each as far as that opponent fails in those that others give it.
    pub(in crate::http) traps_per_game: f64,
    /// Points above one half of all for each mistake; null without mistakes.
    pub(in crate::http) points_per_mistake: Option<f64>,
    /// Stones on the board when a game is won, on average; null without wins.
    pub(in crate::http) stones_of_win: Option<f64>,
}

impl ExploitationView {
    /// `None` if too little is known of the opponents.
    ///
    /// # Errors
    ///
    /// The games cannot be read.
    pub(in crate::http) async fn of(
        store: &dyn Store,
        player: &PlayerId,
        variant: Variant,
    ) -> Result<Option<Self>, StoreError> {
        let mut sums = Exploitation::default();
        for encounter in store.encounters_of(player, variant, EXPLOITED_GAMES_MAX).await? {
            sums.add(&encounter);
        }
        Ok(Self::new(&sums))
    }

    fn new(sums: &Exploitation) -> Option<Self> {
        Some(Self {
            games: sums.games(),
            ratio: sums.ratio()?,
            margin: sums.margin()?,
            traps_per_game: sums.traps_per_game()?,
            points_per_mistake: sums.points_per_mistake(),
            stones_of_win: sums.stones_of_win(),
        })
    }
}

/// How well a player plays on one board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct SkillOfPlayer {
    /// Board size.
    variant: WireVariant,
    /// Rated games that were judged.
    games: u64,
    #[serde(flatten)]
    rates: SkillRates,
    /// What it makes of opponents that err; null if too little is known of them.
    exploitation: Option<ExploitationView>,
    /// By stages of the game, over the games of `by_ply_games`.
    by_ply: Vec<StageView>,
    /// How many of the last rated games those are; fewer than asked for if time or the asker's share of the solver ran
    /// out.
    by_ply_games: u32,
}

/// Stages of some of a player's last rated games.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct Stages {
    pub(in crate::http) games: u32,
    bands: PlyBands,
}

impl Stages {
    /// Judges so many of a player's last rated games on a board.
    ///
    /// # Errors
    ///
    /// Not even the first one could be judged: the solver is busy, or the asker's share of it is used up.
    pub(in crate::http) async fn of(
        state: &AppState,
        asker: &Asker,
        player: &PlayerId,
        variant: Variant,
        games: GamesToJudge,
    ) -> Result<Self, ApiError> {
        let until = Instant::now() + TIME_MAX;
        let mut stages = Self::default();
        for game in state.store.last_rated_games(player, variant, games.number()).await? {
            if Instant::now() >= until {
                break;
            }
            match stages.add(state, asker, player, &game).await {
                Ok(()) => stages.games += 1,
                Err(AnalysisError::TooHard) => {}
                Err(error) if stages.games == 0 => return Err(error.into()),
                // What was judged until here is an answer.
                Err(_) => break,
            }
        }
        Ok(stages)
    }

    async fn add(
        &mut self,
        state: &AppState,
        asker: &Asker,
        player: &PlayerId,
        rated: &RatedGame,
    ) -> Result<(), AnalysisError> {
        // Damaged ones are left out.
        let Ok(game) = Game::from_moves(rated.variant, &rated.moves) else { return Ok(()) };
        let opening = u32::try_from(rated.opening_plies).unwrap_or(u32::MAX).min(game.ply());
        let reviewed = state.analysis.review(asker, &game, opening).await?;
        let own = |side: &Side| rated.players[*side] == *player;
        reviewed.review.moves().iter().filter(|verdict| own(&verdict.side)).for_each(|v| self.bands.add(v));
        Ok(())
    }

    /// Those in which moves were judged, the beginning first.
    pub(in crate::http) fn shown(&self) -> Vec<StageView> {
        let stage = |(from, to, skill): (u32, u32, &Skill)| StageView { from, to, rates: skill.into() };
        self.bands.iter().map(stage).collect()
    }
}

pub(super) fn endpoint() -> Endpoint {
    const PATH: &str = "/api/v1/players/{name}/skill";
    let about = "Shows how well a player plays by the exact solver, over all its rated games and by stages of the last ones";
    let skill = Operation::get(PATH, about, Content::Json(schema_of::<SkillOfPlayer>))
        .parameters(&[VARIANT, GAMES])
        .refusals(&[ApiCode::RateLimited, ApiCode::Busy]);
    Endpoint::new(PATH, get(player_skill), [skill])
}

async fn player_skill(
    State(state): State<AppState>,
    Paying(visitor): Paying,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let games = parameters.optional("games")?.unwrap_or(Bounded::new(GAMES_DEFAULT));
    let player = find(&state, &name).await?;
    let skills = state.store.skills_of(&player.id).await?;
    let sums = skills.into_iter().find(|(of, _)| *of == variant).map(|(_, sums)| sums).unwrap_or_default();
    let stages = Stages::of(&state, &Asker::Visitor(visitor), &player.id, variant, games).await?;
    let skill = SkillOfPlayer {
        variant: WireVariant(variant),
        games: sums.games,
        rates: (&sums.skill).into(),
        exploitation: ExploitationView::of(&*state.store, &player.id, variant).await?,
        by_ply: stages.shown(),
        by_ply_games: stages.games,
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(skill)))
}
