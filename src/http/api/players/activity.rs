//! What a player did on which day.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use fourfold_engine::WinDrawLoss;
use schemars::JsonSchema;
use serde::Serialize;

use super::find;
use super::opponents::ScoreView;
use crate::competition::leaderboard::activity::{ActiveDay, Played, Sort, active_days, wanted};
use crate::http::answer::List;
use crate::http::api::games::{FOR_THE_ASKER, seen_by};
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::protocol::terms::WireVariant;
use crate::storage::StoreError;
use crate::storage::games::SeenBy;

/// A day on which games of the player ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct DayView {
    /// In UTC: `2026-01-31`.
    day: String,
    /// How many different opponents there were.
    opponents: usize,
    /// The games by sort and board.
    played: Vec<PlayedView>,
}

/// Games of one sort on one board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PlayedView {
    /// Whether they moved a rating, and which pace they had.
    sort: Sort,
    /// Board size.
    variant: WireVariant,
    #[serde(flatten)]
    score: ScoreView,
    /// Elo points before the first of them; null unless they are rated.
    before: Option<i32>,
    /// Elo points after the last.
    after: Option<i32>,
}

impl From<ActiveDay> for DayView {
    fn from(ActiveDay { day, played, opponents }: ActiveDay) -> Self {
        let played = played.into_iter().map(|Played { sort, variant, score, rating }| PlayedView {
            sort,
            variant: WireVariant(variant),
            score: WinDrawLoss::into(score),
            before: rating.map(|(before, _)| before.to_elo()),
            after: rating.map(|(_, after)| after.to_elo()),
        });
        Self { day: day.to_string(), opponents, played: played.collect() }
    }
}

pub(super) fn endpoint() -> Endpoint {
    let activity = Operation::get(
        "/api/v1/players/{name}/activity",
        "Lists the days of the last 14 on which games of a player ended, the newest first; of whoever plays more, those of \
         the last 200 games",
        Content::Json(schema_of::<List<DayView>>),
    );
    Endpoint::new("/api/v1/players/{name}/activity", get(player_activity), [activity])
}

/// The last days of a player, as somebody may see them.
///
/// # Errors
///
/// The store failed.
pub(in crate::http) async fn activity_of(
    state: &AppState,
    player: &PlayerId,
    seen_by: SeenBy,
) -> Result<Vec<ActiveDay>, StoreError> {
    let chosen = state.store.chosen_games(&wanted(player, UnixMillis::now(), seen_by)).await?;
    Ok(active_days(player, &chosen.games, chosen.goes_on_before.is_none()))
}

async fn player_activity(
    State(state): State<AppState>,
    name: PathPart,
    viewer: Option<Viewer>,
) -> Result<impl IntoResponse, ApiError> {
    let player = find(&state, &name).await?;
    let days = activity_of(&state, &player.id, seen_by(viewer.as_ref())).await?;
    Ok((FOR_THE_ASKER, Json(List::whole(days.into_iter().map(DayView::from).collect()))))
}
