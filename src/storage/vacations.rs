//! Vacations of people who play by correspondence.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;

/// The part of a store that is about vacations.
#[async_trait]
pub trait VacationStore {
    /// All that a player has taken, in order.
    async fn vacations_of(&self, player: &PlayerId) -> Result<Vec<Vacation>, StoreError>;

    /// Everybody's that end after `since`, or have ended since then, in order.
    async fn vacations_since(&self, since: UnixMillis) -> Result<Vec<(PlayerId, Vacation)>, StoreError>;
}
