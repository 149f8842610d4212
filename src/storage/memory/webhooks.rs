//! Addresses to which owners of bots have it told what happens to their bots, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::webhooks::{DeliveryNote, StoredWebhook, WebhookStore};

impl MemoryTables {
    pub(super) fn set_webhook(&mut self, webhook: &StoredWebhook) -> Result<Written, Refused> {
        self.webhooks.remove(&webhook.owner);
        let owner = self.players.get(&webhook.owner).filter(|owner| owner.kind == PlayerKind::Human);
        let owner = owner.ok_or(Refused::NoSuchPlayer)?.id.clone();
        self.webhooks.insert(owner, StoredWebhook { failures: 0, last: None, ..webhook.clone() });
        Ok(Written::Done)
    }

    pub(super) fn remove_webhook(&mut self, owner: &PlayerId) -> Result<Written, Refused> {
        self.webhooks.remove(owner).map(|_| Written::Done).ok_or(Refused::NoWebhook)
    }

    pub(super) fn note_delivery(&mut self, note: &DeliveryNote) -> Result<Written, Refused> {
        let webhook = self.webhooks.get_mut(&note.owner).filter(|webhook| webhook.salt == note.salt);
        let webhook = webhook.ok_or(Refused::NoWebhook)?;
        webhook.last = Some(note.delivery);
        webhook.failures = if note.delivery.outcome.is_delivered() { 0 } else { webhook.failures + 1 };
        Ok(Written::Done)
    }
}

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn webhook(&self, owner: &PlayerId) -> Result<Option<StoredWebhook>, StoreError> {
        Ok(self.tables().webhooks.get(owner).cloned())
    }
}
