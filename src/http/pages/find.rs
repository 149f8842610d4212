//! A search for players and games, by what somebody remembers of a name or has of a link.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};

use super::error::{PageError, found_nothing};
use super::layout::Visitor;
use crate::http::request::QueryParameters;
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerName};
use crate::model::player::PlayerKind;
use crate::storage::store::StoreError;

/// What is read of a text at most: longer than every name, every id and most links.
const WANTED_CHARS: usize = 200;

/// Players suggested; more nobody reads.
const SUGGESTED_MAX: u32 = 8;

/// Leads to the player or the game that is meant; names like it where nobody is called so.
pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    query: QueryParameters,
) -> Result<Response, PageError> {
    let wanted = query.optional::<String>("for").ok().flatten().unwrap_or_default();
    let wanted: String = wanted.trim().chars().take(WANTED_CHARS).collect();
    // Of a link, what it leads to.
    let word = wanted.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if let Some(path) = named(&state, word).await? {
        return Ok(Redirect::to(&path).into_response());
    }
    Ok(found_nothing(&visitor, &wanted, similar(&state, word).await?))
}

/// The page of the player or the game that is called exactly so.
async fn named(state: &AppState, word: &str) -> Result<Option<String>, StoreError> {
    if let Ok(name) = word.parse::<PlayerName>()
        && let Some(player) = state.store.player_by_name(&name).await?
        && player.kind != PlayerKind::Guest
    {
        return Ok(Some(format!("/player/{}", player.name)));
    }
    let Ok(game) = word.parse::<GameId>() else { return Ok(None) };
    let is_there = state.store.game(&game).await?.is_some();
    Ok(is_there.then(|| format!("/game/{game}")))
}

/// Whose names begin like it, or have it in them as those of connected bots.
async fn similar(state: &AppState, word: &str) -> Result<Vec<String>, StoreError> {
    let Ok(begun) = word.parse::<PlayerName>() else { return Ok(Vec::new()) };
    let key = begun.key();
    let mut names: Vec<String> = Vec::new();
    for kind in [PlayerKind::Human, PlayerKind::Bot] {
        let behind = state.store.registered(kind, Some(&begun), SUGGESTED_MAX).await?;
        names.extend(
            behind
                .iter()
                .filter(|player| player.name.key().starts_with(&key))
                .map(|player| player.name.to_string()),
        );
    }
    for bot in state.arena.open_bots() {
        let name = bot.player.name;
        if name.key().contains(&key) && !names.iter().any(|known| known == name.as_str()) {
            names.push(name.to_string());
        }
    }
    names.truncate(SUGGESTED_MAX as usize);
    Ok(names)
}
