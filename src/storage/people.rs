//! What is read of players and of what proves who they are.

use async_trait::async_trait;

use super::error::StoreError;
use super::record::{StoredPlayer, StoredToken};
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::lookalike::Outline;
use crate::model::time::UnixMillis;

/// Guests that nobody comes back to: they have no game, and have not tried a puzzle for long, or never did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleGuests {
    /// Whoever never tried a puzzle is older than this.
    pub(crate) stored_before: UnixMillis,
    /// Whoever did, did so before this.
    pub(crate) tried_before: UnixMillis,
}

/// The part of a store that is about players and their credentials.
#[async_trait]
pub trait PeopleStore {
    /// A player by id.
    async fn player(&self, id: &PlayerId) -> Result<Option<StoredPlayer>, StoreError>;

    /// A player by name, without regard to case.
    async fn player_by_name(&self, name: &PlayerName) -> Result<Option<StoredPlayer>, StoreError>;

    /// Some players, guests too, whose names have this outline; there is hardly ever more than one.
    async fn lookalikes(&self, outline: &Outline) -> Result<Vec<StoredPlayer>, StoreError>;

    async fn house_bots(&self) -> Result<Vec<StoredPlayer>, StoreError>;

    /// The bots that an account owns, by name.
    async fn bots_of(&self, owner: &PlayerId) -> Result<Vec<StoredPlayer>, StoreError>;

    /// Some guests that nobody comes back to, the oldest first.
    async fn idle_guests(&self, idle: IdleGuests, limit: u32) -> Result<Vec<PlayerId>, StoreError>;

    /// A player's password as a PHC string, if it has one.
    async fn password(&self, player: &PlayerId) -> Result<Option<String>, StoreError>;

    /// The valid (neither revoked nor, at `now`, expired) token with this SHA-256 digest.
    async fn token(&self, digest: &[u8; 32], now: UnixMillis) -> Result<Option<StoredToken>, StoreError>;

    /// Whether the token of this id is still valid.
    async fn token_by_id(&self, id: &TokenId, now: UnixMillis) -> Result<Option<StoredToken>, StoreError>;

    /// A player's valid tokens, the newest first.
    async fn tokens_of(&self, player: &PlayerId, now: UnixMillis) -> Result<Vec<StoredToken>, StoreError>;

    /// Those of these players who are there, in no order.
    async fn players(&self, ids: &[PlayerId]) -> Result<Vec<StoredPlayer>, StoreError>;
}
