//! Who played the games that are published.

use std::collections::HashMap;

use fourfold_engine::BySide;

use super::Record;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::storage::record::{StoredGame, StoredPlayer};
use crate::storage::resets::Resets;
use crate::storage::{Store, StoreError};

/// Players that are kept; with one more, all are forgotten and read again as they come. A ladder has dozens, and of
/// guests, who are many, most play a game or two. A megabyte at most.
const PLAYERS_KEPT: usize = 4_096;

/// Players of several games, each read from the store once, as long as there are not too many.
#[derive(Debug, Default)]
pub(crate) struct PlayerCache(HashMap<PlayerId, KnownPlayer>);

/// What records say of a player.
#[derive(Clone, Debug)]
struct KnownPlayer {
    stored: StoredPlayer,
    resets: Resets,
}

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
        let known =
            BySide { first: self.player(store, first).await?, second: self.player(store, second).await? };
        let mut record = Record::new(game, &known.as_ref().map(|known| known.stored.clone()));
        if let Some(settlement) = &game.settlement {
            let era = |known: &KnownPlayer| known.resets.era(&known.stored.id, settlement.number);
            record.players.first.era = era(&known.first);
            record.players.second.era = era(&known.second);
        }
        Ok(record)
    }

    async fn player(&mut self, store: &dyn Store, id: &PlayerId) -> Result<KnownPlayer, StoreError> {
        if let Some(player) = self.0.get(id) {
            return Ok(player.clone());
        }
        let missing = || StoreError::Corrupt(format!("a game names player {id}, who does not exist"));
        let stored = store.player(id).await?.ok_or_else(missing)?;
        let resets = match stored.kind {
            PlayerKind::Bot => Resets::of(&store.rating_resets(Some(id)).await?),
            PlayerKind::Human | PlayerKind::Guest => Resets::default(),
        };
        let player = KnownPlayer { stored, resets };
        if self.0.len() >= PLAYERS_KEPT {
            self.0.clear();
        }
        self.0.insert(id.clone(), player.clone());
        Ok(player)
    }
}
