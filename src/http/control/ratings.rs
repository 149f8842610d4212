//! How strong players are.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_arena::stats::normal::Z95;
use fourfold_engine::Variant;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::QueryParameters;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::population::Population;
use crate::model::rating::elo::{MilliElo, ShownRating};
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;
use crate::storage::published::Publication;

/// A player's rating on the standard board.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RatingOf {
    /// As it was asked for.
    pub(crate) name: String,
    /// Nothing of players who are not there or have none.
    pub(crate) rating: Option<WireRating>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/ratings", get(ratings))]
}

/// `names`, with commas between them.
async fn ratings(
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<List<RatingOf>>, Refusal> {
    let names: Option<String> = parameters.optional("names")?;
    let names = names.ok_or_else(|| ApiError::bad_parameter("names", "name players: names=ada,bob"))?;
    let mut items = Vec::new();
    for name in names.split(',') {
        items.push(RatingOf { name: name.to_owned(), rating: rating(&control, name).await? });
    }
    Ok(Json(List::whole(items)))
}

async fn rating(control: &Control, name: &str) -> Result<Option<WireRating>, StoreError> {
    let Ok(name) = name.parse::<PlayerName>() else { return Ok(None) };
    let Some(player) = control.store.player_by_name(&name).await? else { return Ok(None) };
    let Some(row) = control.store.rating(&player.id, Variant::STANDARD).await? else { return Ok(None) };
    let published = published(&control.store.publication().await?, &player.id, row.standing.games);
    Ok(Some(published.unwrap_or_else(|| row.standing.shown()).into()))
}

/// A player's rating on the standard board as it was stored last: by the fit between bots, or where it has met none by
/// that of all. `games` are those that it played.
pub(super) fn published(publication: &Publication, player: &PlayerId, games: u64) -> Option<ShownRating> {
    let of_list = |population: Population| {
        let mut ratings = publication.ratings.iter();
        ratings
            .find(|it| it.variant == Variant::STANDARD && it.population == population && it.player == *player)
    };
    let rating = of_list(Population::Bots).or_else(|| of_list(Population::All))?;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "some hundred points")]
    let pm95 = MilliElo((Z95 * rating.error as f64).round() as i64).to_elo();
    Some(ShownRating::fitted(rating.elo.to_elo(), u32::try_from(pm95).unwrap_or_default().max(1), games))
}
