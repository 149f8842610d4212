//! Browsers that show notices, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::storage::pushes::{BROWSERS_MAX, PushStore, StoredPush};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn add_push(&mut self, push: &StoredPush) -> Result<Written, Refused> {
        let person = self.players.get(&push.owner).filter(|player| player.kind == PlayerKind::Human);
        person.ok_or(Refused::NoSuchPlayer)?;
        self.pushes.retain(|other| other.endpoint != push.endpoint);
        self.pushes.push(push.clone());
        self.pushes.sort_by(|one, other| (one.since, &one.endpoint).cmp(&(other.since, &other.endpoint)));
        let mut of_owner = self.pushes.iter().filter(|other| other.owner == push.owner).count();
        self.pushes.retain(|other| {
            let goes = other.owner == push.owner && of_owner > BROWSERS_MAX;
            of_owner -= usize::from(goes);
            !goes
        });
        Ok(Written::Done)
    }

    pub(super) fn remove_push(&mut self, owner: &PlayerId, endpoint: &str) -> Result<Written, Refused> {
        let is_it = |push: &StoredPush| push.owner == *owner && push.endpoint == endpoint;
        let place = self.pushes.iter().position(is_it).ok_or(Refused::NoPush)?;
        self.pushes.remove(place);
        Ok(Written::Done)
    }
}

#[async_trait]
impl PushStore for MemoryStore {
    async fn pushes_of(&self, owner: &PlayerId) -> Result<Vec<StoredPush>, StoreError> {
        Ok(self.tables().pushes.iter().filter(|push| push.owner == *owner).cloned().collect())
    }
}
