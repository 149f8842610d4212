//! The picture beside a player's name.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use crate::http::answer::{Keep, picture};
use crate::http::avatar::Avatar;
use crate::http::endpoint::{Content, Endpoint, Operation};
use crate::http::error::ApiError;
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;

pub(super) fn endpoint() -> Endpoint {
    let picture = Operation::get(
        "/api/v1/players/{name}/picture.svg",
        "Draws the picture beside a player's name: what a person has chosen, else what follows from the name",
        Content::Svg,
    );
    Endpoint::new("/api/v1/players/{name}/picture.svg", get(player_picture), [picture])
}

async fn player_picture(
    State(state): State<AppState>,
    name: PathPart,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let name: PlayerName = name.parse("player")?;
    let avatar = match state.store.player_by_name(&name).await? {
        Some(player) => Avatar::of(player.kind, &player.name, player.portrait.picture),
        // Guests are forgotten one day, and games that they played stay.
        None if name.is_of_guest() => Avatar::of(PlayerKind::Guest, &name, None),
        None => return Err(ApiError::not_found("player")),
    };
    Ok(picture(&headers, Keep::Briefly, avatar.file()))
}
