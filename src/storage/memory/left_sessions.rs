//! Sessions that a planned stop has left, in memory.

use async_trait::async_trait;

use super::MemoryStore;
use crate::storage::left_sessions::{LeftSession, LeftSessionStore};
use crate::storage::store::StoreError;

#[async_trait]
impl LeftSessionStore for MemoryStore {
    async fn left_sessions(&self) -> Result<Vec<LeftSession>, StoreError> {
        let mut sessions = self.tables().left_sessions.clone();
        sessions.sort_by(|one, other| one.session.cmp(&other.session));
        Ok(sessions)
    }
}
