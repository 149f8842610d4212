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
#[derive(Debug)]
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
        self.know(store, &game.spec.players).await?;
        let BySide { first, second } = &game.spec.players;
        let (first, second) = (self.known(first)?, self.known(second)?);
        let mut record = Record::new(game, BySide { first: &first.stored, second: &second.stored });
        if let Some(settlement) = &game.settlement {
            let era = |known: &KnownPlayer| known.resets.era(&known.stored.id, settlement.number);
            record.players.first.era = era(first);
            record.players.second.era = era(second);
        }
        Ok(record)
    }

    fn known(&self, id: &PlayerId) -> Result<&KnownPlayer, StoreError> {
        self.0
            .get(id)
            .ok_or_else(|| StoreError::Corrupt(format!("a game names player {id}, who does not exist")))
    }

    /// Reads those of both that are not known yet.
    async fn know(&mut self, store: &dyn Store, ids: &BySide<PlayerId>) -> Result<(), StoreError> {
        let ids = [&ids.first, &ids.second];
        let new = ids.iter().filter(|id| !self.0.contains_key(**id)).count();
        if self.0.len() + new > PLAYERS_KEPT {
            self.0.clear();
        }
        for id in ids {
            if !self.0.contains_key(id) {
                let Some(stored) = store.player(id).await? else { continue };
                let resets = match stored.kind {
                    PlayerKind::Bot => Resets::of(&store.rating_resets(Some(id)).await?),
                    PlayerKind::Human | PlayerKind::Guest => Resets::default(),
                };
                self.0.insert(id.clone(), KnownPlayer { stored, resets });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{add_players, player, spec};

    #[tokio::test]
    async fn who_is_forgotten_is_read_again_and_whoever_plays_is_known() {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        let game = StoredGame { spec: spec("g1", "Ada", "Bob"), events: Vec::new(), settlement: None };
        for free in 0..3 {
            let mut cache = PlayerCache::default();
            for number in free..PLAYERS_KEPT {
                let stored = player(&format!("P{number}"), PlayerKind::Guest);
                cache.0.insert(stored.id.clone(), KnownPlayer { stored, resets: Resets::default() });
            }
            let players = cache.record(&store, &game).await.unwrap().players;
            assert_eq!([players.first.name, players.second.name], ["Ada", "Bob"], "{free}");
            assert!(cache.0.len() <= PLAYERS_KEPT);
        }
    }
}
