//! How strong players are.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_engine::Variant;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::QueryParameters;
use crate::model::ids::PlayerName;
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;

/// A player's live rating on the standard board.
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
    let row = control.store.rating(&player.id, Variant::STANDARD).await?;
    Ok(row.map(|row| row.standing.shown().into()))
}
