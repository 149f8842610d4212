//! Links to open challenges, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::ChallengeId;
use crate::storage::links::{LinkStore, StoredLink};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn open_link(&mut self, link: &StoredLink) -> Result<Written, Refused> {
        if self.links.iter().any(|other| other.id == link.id) {
            return Err(Refused::IdTaken);
        }
        self.links.push(link.clone());
        Ok(Written::Done)
    }

    pub(super) fn close_link(&mut self, id: &ChallengeId) -> Result<Written, Refused> {
        let place = self.links.iter().position(|link| link.id == *id).ok_or(Refused::NoSuchLink)?;
        self.links.remove(place);
        Ok(Written::Done)
    }
}

#[async_trait]
impl LinkStore for MemoryStore {
    async fn links(&self) -> Result<Vec<StoredLink>, StoreError> {
        self.seek().await?;
        let mut links = self.tables().links.clone();
        links.sort_by(|a, b| (a.expires_at, &a.id).cmp(&(b.expires_at, &b.id)));
        Ok(links)
    }
}
