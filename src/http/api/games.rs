//! Records of games: one, some, or all of them as a stream.

pub(super) mod stream;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fourfold_engine::Game;

use super::positions::PICTURE;
use super::{CURSOR, LIMIT};
use crate::http::answer::{Keep, List, keepable_json, picture, pixels};
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::picture;
use crate::http::preview::PictureKind;
use crate::http::record_query::{
    self, OPENING, OPPONENT, PLAYER, PLAYERS, RATED, RESULT, SINCE, UNTIL, VARIANT, player, time,
};
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;
use crate::storage::games::SeenBy;
use crate::storage::records::Record;
use crate::storage::records::players::PlayerCache;
use crate::storage::store::GameQuery;

/// What the addresses of pictures in pixels end with: that for links, and that of all moves.
const PREVIEW: &str = ".png";
const ANIMATION: &str = ".gif";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/games",
        "Lists finished games, the newest first",
        Content::Json(schema_of::<List<Record>>),
    )
    .parameters(&[PLAYER, SINCE, LIMIT, CURSOR]);
    let stream = Operation::get(
        "/api/v1/games.ndjson",
        "Streams finished games, the oldest first, one record a line; all of them without `limit`",
        Content::Lines(schema_of::<Record>),
    )
    .parameters(&[
        PLAYER,
        OPPONENT,
        PLAYERS,
        VARIANT,
        RATED,
        SINCE,
        UNTIL,
        RESULT,
        OPENING,
        stream::LIMIT,
        record_query::CURSOR,
        stream::COMPACT,
    ]);
    let one = Operation::get(
        "/api/v1/games/{id}",
        "Shows a game, live or finished",
        Content::Json(schema_of::<Record>),
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

/// A part of the list of games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GamesPart {
    limit: u32,
    cursor: Option<u64>,
    since: Option<UnixMillis>,
}

/// The part that is asked for.
pub(super) fn page_of(parameters: &QueryParameters) -> Result<GamesPart, ApiError> {
    let (limit, cursor) = (parameters.limit()?, parameters.cursor()?);
    Ok(GamesPart { limit, cursor, since: time(parameters, "since")? })
}

async fn games(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let page = page_of(&parameters)?;
    let player = player(&*state.store, &parameters, "player").await?;
    let list = game_list(&state, player, page, seen_by(viewer.as_ref())).await?;
    Ok((FOR_THE_ASKER, Json(list)))
}

/// Lists have private games for their players alone, so nobody else may be given a copy.
pub(super) const FOR_THE_ASKER: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-cache, private")];

/// Whoever asks, for what is read.
pub(super) fn seen_by(viewer: Option<&Viewer>) -> SeenBy {
    viewer.map_or(SeenBy::Everybody, |viewer| SeenBy::Player(viewer.identity.id.clone()))
}

/// Finished games, the newest first.
pub(super) async fn game_list(
    state: &AppState,
    player: Option<PlayerId>,
    page: GamesPart,
    seen_by: SeenBy,
) -> Result<List<Record>, ApiError> {
    let GamesPart { limit, cursor, since } = page;
    // One more than asked for shows whether the list goes on.
    let query = GameQuery {
        player,
        since,
        after: cursor,
        newest_first: true,
        limit: limit + 1,
        seen_by,
        ..GameQuery::default()
    };
    let mut stored = state.store.finished_games(&query).await?;
    let goes_on = stored.len() > limit as usize;
    stored.truncate(limit as usize);
    let last = stored.last().and_then(|game| game.settlement.as_ref());
    let cursor = last.filter(|_| goes_on).map(|settlement| settlement.number.to_string());
    let mut players = PlayerCache::default();
    let mut items = Vec::with_capacity(stored.len());
    for game in &stored {
        items.push(players.record(&*state.store, game).await?);
    }
    Ok(List { items, cursor })
}

/// The thread that draws is gone.
fn undrawn() -> ApiError {
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
        keepable_json(&headers, Keep::Settled, &record)
    };
    if stored.settlement.is_none() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response.into_response())
}
