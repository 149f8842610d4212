//! Who played the games that are published.

use std::collections::HashMap;

use fourfold_engine::BySide;

use super::Record;
use crate::model::ids::PlayerId;
use crate::storage::record::{StoredGame, StoredPlayer};
use crate::storage::{Store, StoreError};

/// Players that are kept; with one more, all are forgotten and read again as they come. A ladder has dozens, and of
/// guests, who are many, most play a game or two. A megabyte at most.
const PLAYERS_KEPT: usize = 4_096;

/// Players of several games, each read from the store once, as long as there are not too many.
#[derive(Debug, Default)]
pub(crate) struct PlayerCache(HashMap<PlayerId, StoredPlayer>);

impl PlayerCache {
    /// The record of a game.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or has no such players.
    pub(crate) async fn record(
        &mut self,
        store: &dyn Store,
        game: &StoredGame,
    ) -> Result<Record, StoreError> {
        let BySide { first, second } = &game.spec.players;
        let players =
            BySide { first: self.player(store, first).await?, second: self.player(store, second).await? };
        Ok(Record::new(game, &players))
    }

    async fn player(&mut self, store: &dyn Store, id: &PlayerId) -> Result<StoredPlayer, StoreError> {
        if let Some(player) = self.0.get(id) {
            return Ok(player.clone());
        }
        let missing = || StoreError::Corrupt(format!("a game names player {id}, who does not exist"));
        let player = store.player(id).await?.ok_or_else(missing)?;
        if self.0.len() >= PLAYERS_KEPT {
            self.0.clear();
        }
        self.0.insert(id.clone(), player.clone());
        Ok(player)
    }
}
