//! Records of games: one, some, or all of them as a stream.

pub(super) mod stream;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fourfold_engine::Game;
use schemars::JsonSchema;
use serde::Serialize;

use super::positions::PICTURE;
use super::{CURSOR, LIMIT};
use crate::http::answer::{Keep, List, keepable_json, picture, pixels};
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::opening_names::OpeningName;
use crate::http::picture;
use crate::http::preview::PictureKind;
use crate::http::record_query::{
    self, OPENING, OPPONENT, OUTCOME, PLAYER, PLAYERS, PLIES_MAX, PLIES_MIN, RATED, RESULT, SINCE, UNTIL,
    VARIANT, player,
};
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId};
use crate::storage::games::{GamesWanted, SeenBy};
use crate::storage::records::Record;
use crate::storage::records::players::PlayerCache;

/// What the addresses of pictures in pixels end with: that for links, and that of all moves.
pub(super) const PREVIEW: &str = ".png";
const ANIMATION: &str = ".gif";

/// A record with what its opening is called.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct GameShown {
    #[serde(flatten)]
    record: Record,
    /// The name of the fullest position that has one; left out if none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    opening_name: Option<OpeningName>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/games",
        "Lists finished games, the newest first",
        Content::Json(schema_of::<List<Record>>),
    )
    .parameters(CHOSEN_OF);
    let stream = Operation::get(
        "/api/v1/games.ndjson",
        "Streams finished games, the oldest first, one record a line; all of them without `limit`",
        Content::Lines(schema_of::<Record>),
    )
    .parameters(STREAMED);
    let one = Operation::get(
        "/api/v1/games/{id}",
        "Shows a game, live or finished",
        Content::Json(schema_of::<GameShown>),
    );
    let svg = Operation::get("/api/v1/games/{id}.svg", "Draws a game's last position", Content::Svg);
    let png = Operation::get(
        "/api/v1/games/{id}.png",
        "Draws a game's last position for a link to it, 1200 by 630 pixels",
        Content::Png,
    );
    let gif = Operation::get(
        "/api/v1/games/{id}.gif",
        "Draws all moves of a game, one after the other, 480 pixels wide",
        Content::Gif,
    );
    vec![
        Endpoint::new("/api/v1/games", get(games), [list]),
        Endpoint::new("/api/v1/games.ndjson", get(stream::games), [stream]),
        Endpoint::new("/api/v1/games/{id}", get(game), [one, svg, png, gif]),
    ]
}

/// What a list of all players' games is chosen by.
const CHOSEN_OF: &[Parameter] = &[
    PLAYER, OPPONENT, PLAYERS, VARIANT, RATED, SINCE, UNTIL, RESULT, OUTCOME, PLIES_MIN, PLIES_MAX, OPENING,
    LIMIT, CURSOR,
];

/// What the stream is chosen by.
const STREAMED: &[Parameter] = &[
    PLAYER,
    OPPONENT,
    PLAYERS,
    VARIANT,
    RATED,
    SINCE,
    UNTIL,
    RESULT,
    OUTCOME,
    PLIES_MIN,
    PLIES_MAX,
    OPENING,
    stream::LIMIT,
    record_query::CURSOR,
    stream::COMPACT,
];

/// What a list of one player's games is chosen by.
pub(super) const CHOSEN: &[Parameter] = &[
    OPPONENT, PLAYERS, VARIANT, RATED, SINCE, UNTIL, RESULT, OUTCOME, PLIES_MIN, PLIES_MAX, OPENING, LIMIT,
    CURSOR,
];

async fn games(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let player = player(&*state.store, &parameters, "player").await?;
    let list = game_list(&state, &parameters, player, seen_by(viewer.as_ref())).await?;
    Ok((FOR_THE_ASKER, Json(list)))
}

/// Lists have private games for their players alone, so nobody else may be given a copy.
pub(super) const FOR_THE_ASKER: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-cache, private")];

/// Whoever asks, for what is read.
pub(super) fn seen_by(viewer: Option<&Viewer>) -> SeenBy {
    viewer.map_or(SeenBy::Everybody, |viewer| SeenBy::Player(viewer.identity.id.clone()))
}

/// Finished games that the parameters choose, the newest first.
pub(super) async fn game_list(
    state: &AppState,
    parameters: &QueryParameters,
    player: Option<PlayerId>,
    seen_by: SeenBy,
) -> Result<List<Record>, ApiError> {
    let wanted = record_query::newest(&*state.store, parameters, player).await?;
    let chosen = state.store.chosen_games(&GamesWanted { seen_by, ..wanted }).await?;
    let mut players = PlayerCache::default();
    let mut items = Vec::with_capacity(chosen.games.len());
    for game in &chosen.games {
        items.push(players.record(&*state.store, game).await?);
    }
    Ok(List { items, cursor: chosen.goes_on_before.map(|number| number.to_string()) })
}

/// The thread that draws is gone.
pub(super) fn undrawn() -> ApiError {
    ApiError::new(ApiCode::Busy, "the picture could not be drawn")
}

async fn game(
    State(state): State<AppState>,
    PathPart(part): PathPart,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let picture_of = part.strip_suffix(PICTURE);
    let drawn_of = [(PREVIEW, PictureKind::Still), (ANIMATION, PictureKind::Moving)]
        .into_iter()
        .find_map(|(suffix, kind)| Some((part.strip_suffix(suffix)?, kind)));
    let id = picture_of
        .or(drawn_of.map(|(id, _)| id))
        .unwrap_or(&part)
        .parse::<GameId>()
        .map_err(|_| ApiError::not_found("game"))?;
    let stored = state.shown_game(&id, |_| false).await?.ok_or_else(|| ApiError::not_found("game"))?;
    let replayed = || {
        let game = Game::from_moves(stored.spec.variant, &stored.moves());
        game.map_err(|error| ApiError::internal(&error))
    };
    let mut response = if picture_of.is_some() {
        picture(&headers, Keep::Settled, picture::board(&replayed()?))
    } else if let Some((_, kind)) = drawn_of {
        let drawn = state.previews.draw(kind, replayed()?).await;
        pixels(&headers, Keep::Settled, kind, drawn.ok_or_else(undrawn)?)
    } else {
        let record = PlayerCache::default().record(&*state.store, &stored).await?;
        let shown = GameShown { record, opening_name: OpeningName::of(&replayed()?) };
        keepable_json(&headers, Keep::Settled, &shown)
    };
    if stored.settlement.is_none() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response.into_response())
}
