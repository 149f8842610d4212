//! Who played the games that are published.

use std::collections::HashMap;

use fourfold_engine::BySide;

use super::Record;
use crate::model::ids::PlayerId;
use crate::storage::record::{StoredGame, StoredPlayer};
use crate::storage::{Store, StoreError};

/// Players of several games, each read from the store once.
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
        self.0.insert(id.clone(), player.clone());
        Ok(player)
    }
}
