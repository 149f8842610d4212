//! What is read of players and of what proves who they are.

use async_trait::async_trait;

use super::{SqliteStore, guests, players};
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::lookalike::Outline;
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore;
use crate::storage::record::{StoredPlayer, StoredToken};
use crate::storage::store::{IdleGuests, StoreError};

#[async_trait]
impl PeopleStore for SqliteStore {
    async fn player(&self, id: &PlayerId) -> Result<Option<StoredPlayer>, StoreError> {
        let id = id.clone();
        self.readers.read(move |connection| players::by_id(connection, &id)).await
    }

    async fn player_by_name(&self, name: &PlayerName) -> Result<Option<StoredPlayer>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| players::by_name(connection, &name)).await
    }

    async fn lookalikes(&self, outline: &Outline) -> Result<Vec<StoredPlayer>, StoreError> {
        let outline = outline.clone();
        self.readers.read(move |connection| players::lookalikes(connection, &outline)).await
    }

    async fn house_bots(&self) -> Result<Vec<StoredPlayer>, StoreError> {
        self.readers.read(players::house_bots).await
    }

    async fn bots_of(&self, owner: &PlayerId) -> Result<Vec<StoredPlayer>, StoreError> {
        let owner = owner.clone();
        self.readers.read(move |connection| players::bots_of(connection, &owner)).await
    }

    async fn idle_guests(&self, idle: IdleGuests, limit: u32) -> Result<Vec<PlayerId>, StoreError> {
        self.readers.read(move |connection| guests::idle(connection, idle, limit)).await
    }

    async fn password(&self, player: &PlayerId) -> Result<Option<String>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| players::password(connection, &player)).await
    }

    async fn token(&self, digest: &[u8; 32], now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        let digest = *digest;
        self.readers.read(move |connection| players::token_by_digest(connection, &digest, now)).await
    }

    async fn token_by_id(&self, id: &TokenId, now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        let id = id.clone();
        self.readers.read(move |connection| players::token_by_id(connection, &id, now)).await
    }

    async fn tokens_of(&self, player: &PlayerId, now: UnixMillis) -> Result<Vec<StoredToken>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| players::tokens_of(connection, &player, now)).await
    }

    async fn players(&self, ids: &[PlayerId]) -> Result<Vec<StoredPlayer>, StoreError> {
        let ids = ids.to_vec();
        self.readers.read(move |connection| players::by_ids(connection, &ids)).await
    }
}
