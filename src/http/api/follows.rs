//! Whom people follow. Friends are two who follow each other.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, put};
use schemars::JsonSchema;
use serde::Serialize;

use super::account::{both, person};
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::PathPart;
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::storage::StoreError;
use crate::storage::follows::TiedPlayer;

/// Whom one follows.
#[derive(Debug, Serialize, JsonSchema)]
struct Follows {
    /// At most 200, by name.
    follows: Vec<FollowView>,
}

/// Somebody whom one follows, as everybody may see them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Follow")]
pub(in crate::http) struct FollowView {
    #[serde(skip)]
    pub(in crate::http) id: PlayerId,
    pub(in crate::http) name: PlayerName,
    pub(in crate::http) kind: PlayerKind,
    /// Whether that one follows too, which makes friends.
    pub(in crate::http) friend: bool,
    /// Whether they are connected; bots of the house always are.
    pub(in crate::http) online: bool,
    /// The id of a game that they play now and that can be watched; null if there is none.
    pub(in crate::http) game: Option<GameId>,
    /// Since when one follows, RFC 3339.
    pub(in crate::http) since: String,
}

impl FollowView {
    fn new(state: &AppState, tied: TiedPlayer) -> Self {
        let TiedPlayer { id, name, kind, house, is_mutual, since } = tied;
        Self {
            online: house || state.arena.is_online(&id),
            game: state.arena.watchable_game_of(&id),
            id,
            name,
            kind,
            friend: is_mutual,
            since: since.to_string(),
        }
    }

    /// All whom a player follows, by name.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(in crate::http) async fn all(state: &AppState, player: &PlayerId) -> Result<Vec<Self>, StoreError> {
        let tied = state.accounts.follows(player).await?;
        Ok(tied.into_iter().map(|tied| Self::new(state, tied)).collect())
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/follows",
        "Lists whom one follows, whether they are connected, and a game of theirs that can be watched",
        Content::Json(schema_of::<Follows>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    let follow = Operation::put(
        "/api/v1/account/follows/{name}",
        "Follows a person or a bot; two who follow each other are friends",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Conflict, ApiCode::Busy]);
    let unfollow = Operation::delete(
        "/api/v1/account/follows/{name}",
        "Follows somebody no more; nothing if one did not",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Busy]);
    vec![
        Endpoint::new("/api/v1/account/follows", get(show_follows), [show]),
        Endpoint::new(
            "/api/v1/account/follows/{name}",
            put(add_follow).delete(remove_follow),
            [follow, unfollow],
        ),
    ]
}

async fn show_follows(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    let player = person(session)?.identity.id;
    let follows = FollowView::all(&state, &player).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Follows { follows })))
}

async fn add_follow(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    name: PathPart,
) -> Result<StatusCode, ApiError> {
    let (player, followed) = both(&state, session, &name).await?;
    state.accounts.follow(&player, &followed).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_follow(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    name: PathPart,
) -> Result<StatusCode, ApiError> {
    let (player, followed) = both(&state, session, &name).await?;
    state.accounts.unfollow(&player, &followed).await?;
    Ok(StatusCode::NO_CONTENT)
}
