//! Against whom a player has played, and how.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_engine::{SideResult, Variant, WinDrawLoss};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::leaderboard::thousandths;
use super::find;
use crate::competition::leaderboard::habits::{GAMES_MAX, Habits, OpeningHabit};
use crate::http::answer::List;
use crate::http::api::VARIANT;
use crate::http::crosstable::{OpponentGames, crosstable};
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::PlayerKind;

/// Games as the player sees them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct ScoreView {
    /// Won.
    wins: u64,
    /// Drawn.
    draws: u64,
    /// Lost.
    losses: u64,
}

impl From<WinDrawLoss> for ScoreView {
    fn from(score: WinDrawLoss) -> Self {
        Self { wins: score.wins, draws: score.draws, losses: score.losses }
    }
}

/// A row of a player's crosstable.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct MeetingView {
    /// The opponent; stays the same for ever.
    id: PlayerId,
    /// Its name.
    name: PlayerName,
    /// Person, bot or guest.
    kind: PlayerKind,
    /// The opponent's published rating on the scale of the joint fit; null if it is in none.
    elo: Option<i32>,
    /// Rated games.
    games: u64,
    /// Those in which the player moved first.
    first: ScoreView,
    /// The others.
    second: ScoreView,
    /// Share of the points, 0 to 1.
    score: f64,
    /// What the joint fit expects of it; null if it does not know both.
    expected: Option<f64>,
}

impl From<OpponentGames> for MeetingView {
    fn from(meeting: OpponentGames) -> Self {
        Self {
            elo: meeting.elo,
            games: meeting.games(),
            first: meeting.score.first.into(),
            second: meeting.score.second.into(),
            score: thousandths(meeting.share()),
            expected: meeting.expected.map(thousandths),
            id: meeting.opponent.id,
            name: meeting.opponent.name,
            kind: meeting.opponent.kind,
        }
    }
}

/// A game of the recent form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct RecentView {
    /// Which game.
    game: GameId,
    /// How it ended for the player.
    result: EndedView,
}

/// How a game ended for the player.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EndedView {
    /// Won.
    Won,
    /// Drawn.
    Drawn,
    /// Lost.
    Lost,
}

/// How games with one opening ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct OpeningView {
    /// The first four moves.
    moves: String,
    #[serde(flatten)]
    score: ScoreView,
}

impl From<OpeningHabit> for OpeningView {
    fn from(opening: OpeningHabit) -> Self {
        Self { moves: opening.moves, score: opening.score.into() }
    }
}

/// How a player plays, from its last 500 rated games on one board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct HabitsView {
    /// Games that were looked at.
    games: u64,
    /// The last twenty results, the newest first.
    form: Vec<RecentView>,
    /// The openings that came up most often.
    openings: Vec<OpeningView>,
    /// How often each column was chosen, from the left.
    columns: Vec<u64>,
}

impl From<Habits> for HabitsView {
    fn from(habits: Habits) -> Self {
        let ended = |result| match result {
            SideResult::Win => EndedView::Won,
            SideResult::Draw => EndedView::Drawn,
            SideResult::Loss => EndedView::Lost,
        };
        Self {
            games: habits.games,
            form: habits
                .form
                .into_iter()
                .map(|recent| RecentView { game: recent.game, result: ended(recent.result) })
                .collect(),
            openings: habits.openings.into_iter().map(OpeningView::from).collect(),
            columns: habits.columns,
        }
    }
}

pub(super) async fn player_crosstable(
    State(state): State<AppState>,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<Json<List<MeetingView>>, ApiError> {
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let part = parameters.part()?;
    let player = find(&state, &name).await?;
    let rows = crosstable(&state, &player.id, variant, part.up_to()).await?;
    Ok(Json(List::part(rows.into_iter().map(MeetingView::from).collect(), part)))
}

pub(super) fn habits() -> Endpoint {
    let habits = Operation::get(
        "/api/v1/players/{name}/habits",
        "Shows recent form, openings and columns of a player's last 500 rated games",
        Content::Json(schema_of::<HabitsView>),
    )
    .parameters(&[VARIANT]);
    Endpoint::new("/api/v1/players/{name}/habits", get(player_habits), [habits])
}

async fn player_habits(
    State(state): State<AppState>,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<Json<HabitsView>, ApiError> {
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let player = find(&state, &name).await?;
    let games = state.store.last_rated_games(&player.id, variant, GAMES_MAX).await?;
    Ok(Json(Habits::new(&player.id, variant, &games).into()))
}
