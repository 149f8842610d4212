//! Seasons: a list, and each with its table.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;

use super::POPULATION;
use crate::competition::leaderboard::SeasonTable;
use crate::competition::leaderboard::seasons::SeasonPhase;
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{PathPart, QueryParameters};
use crate::http::seasons::{self, SeasonRow};
use crate::http::state::AppState;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::time::UnixMillis;
use crate::protocol::terms::WireVariant;

/// Where a season is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SeasonState {
    /// It has not begun.
    Coming,
    /// Games count for it now.
    Running,
    /// Its table is final.
    Over,
}

impl From<SeasonPhase> for SeasonState {
    fn from(phase: SeasonPhase) -> Self {
        match phase {
            SeasonPhase::Coming => Self::Coming,
            SeasonPhase::Running => Self::Running,
            SeasonPhase::Over => Self::Over,
        }
    }
}

/// A span of days whose rated games are ranked by themselves.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Season")]
struct SeasonView {
    /// What it is called.
    name: String,
    /// Its first day in UTC, such as 2026-03-01.
    start: String,
    /// Its last day in UTC.
    end: String,
    /// Where it is.
    state: SeasonState,
    /// Board size.
    variant: WireVariant,
    /// Games that count so far: repeated ones once, halves of pairs not at all.
    games: u64,
    /// Players in its table so far.
    players: usize,
}

/// A season with its table.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SeasonTable")]
struct SeasonAnswer {
    #[serde(flatten)]
    season: SeasonView,
    /// The strongest first.
    items: Vec<SeasonRowView>,
    /// Always null: the list has no further part.
    cursor: Option<String>,
}

/// A row of a season's table.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SeasonRow")]
struct SeasonRowView {
    /// From 1; equal ratings share a rank.
    rank: u64,
    /// Stays the same for ever.
    id: PlayerId,
    /// Who.
    name: PlayerName,
    /// Person or bot.
    kind: PlayerKind,
    /// Whether it is a bot of the house.
    house: bool,
    /// The rating that explains this season's games; `random` has 0 if it has played in it, else the mean.
    elo: i32,
    /// Half the width of its 95 % interval, in Elo points.
    pm95: u32,
    /// Rated games of this season.
    games: u64,
    /// Won.
    wins: u64,
    /// Drawn.
    draws: u64,
    /// Lost.
    losses: u64,
    /// How many opponents they were against.
    opponents: usize,
}

impl From<&SeasonTable> for SeasonView {
    fn from(table: &SeasonTable) -> Self {
        let season = &table.season;
        Self {
            name: season.name.clone(),
            start: season.start.to_string(),
            end: season.end.to_string(),
            state: season.phase(UnixMillis::now()).into(),
            variant: WireVariant(season.variant),
            games: table.fits.as_ref().map_or(0, |fits| fits.all.games),
            players: table.fits.as_ref().map_or(0, |fits| fits.all.rows().len()),
        }
    }
}

impl From<SeasonRow> for SeasonRowView {
    fn from(SeasonRow { rank, player, fitted }: SeasonRow) -> Self {
        let score = fitted.live.score;
        Self {
            rank,
            id: player.id,
            name: player.name,
            kind: player.kind,
            house: player.house,
            elo: fitted.whole_elo(),
            pm95: fitted.whole_pm95(),
            games: score.games(),
            wins: score.wins,
            draws: score.draws,
            losses: score.losses,
            opponents: fitted.opponents,
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/seasons",
        "Lists the seasons that the operator has named, the latest first",
        Content::Json(schema_of::<List<SeasonView>>),
    );
    let one = Operation::get(
        "/api/v1/seasons/{name}",
        "A season with its table, which is final when it is over",
        Content::Json(schema_of::<SeasonAnswer>),
    )
    .parameters(&[POPULATION])
    .refusals(&[ApiCode::NotFound]);
    vec![
        Endpoint::new("/api/v1/seasons", get(list_seasons), [list]),
        Endpoint::new("/api/v1/seasons/{name}", get(season), [one]),
    ]
}

async fn list_seasons(State(state): State<AppState>) -> Json<List<SeasonView>> {
    Json(List::whole(state.leaderboard.now().seasons.iter().map(SeasonView::from).collect()))
}

async fn season(
    State(state): State<AppState>,
    PathPart(name): PathPart,
    parameters: QueryParameters,
) -> Result<Json<SeasonAnswer>, ApiError> {
    let population: Population = parameters.optional("list")?.unwrap_or_default();
    let table = seasons::named(&state, &name).ok_or_else(|| ApiError::not_found("season"))?;
    let items = seasons::rows(&state, &table, population).await?;
    let items = items.into_iter().map(SeasonRowView::from).collect();
    Ok(Json(SeasonAnswer { season: (&table).into(), items, cursor: None }))
}
