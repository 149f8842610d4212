//! Addresses to which owners of bots have it told what happens to their bots.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::ids::PlayerId;
use crate::storage::rows::webhooks::WebhookRow;
use crate::storage::store::{Refused, StoreError};
use crate::storage::webhooks::{DeliveryNote, StoredWebhook, WebhookStore};

#[async_trait]
impl WebhookStore for PostgresStore {
    async fn webhook(&self, owner: &PlayerId) -> Result<Option<StoredWebhook>, StoreError> {
        webhook(&*self.reader().await?, owner).await
    }
}

async fn webhook(connection: &Connection, owner: &PlayerId) -> Result<Option<StoredWebhook>, StoreError> {
    let sql = "SELECT p.id AS owner, w.url, w.salt, w.since, w.failures, w.last_at, w.last_outcome \
               FROM webhook w JOIN player p ON p.key = w.owner WHERE p.id = $1";
    let row: Option<WebhookRow> = db::query_as(sql).bind(owner.as_str()).fetch_optional(connection).await?;
    Ok(row.map(WebhookRow::decode).transpose()?)
}

/// Puts one in the place of the one before.
pub(super) async fn set(connection: &Connection, webhook: &StoredWebhook) -> WriteOutcome {
    let _before = remove(connection, &webhook.owner).await?; // most have none
    let sql = "INSERT INTO webhook (owner, url, salt, since, failures) \
               SELECT key, $1::text, $2::text, $3::bigint, 0 FROM player WHERE id = $4 AND kind = 'human'";
    let query = db::query(sql).bind(webhook.url.as_str()).bind(webhook.salt.as_str()).bind(webhook.since.0);
    Ok(done_if(query.bind(webhook.owner.as_str()).execute(connection).await?, Refused::NoSuchPlayer))
}

pub(super) async fn remove(connection: &Connection, owner: &PlayerId) -> WriteOutcome {
    let sql = "DELETE FROM webhook WHERE owner = (SELECT key FROM player WHERE id = $1)";
    Ok(done_if(db::query(sql).bind(owner.as_str()).execute(connection).await?, Refused::NoWebhook))
}

/// Notes how a delivery went, unless another address has taken the place of that one.
pub(super) async fn note(connection: &Connection, note: &DeliveryNote) -> WriteOutcome {
    let sql = "UPDATE webhook SET last_at = $1, last_outcome = $2, \
               failures = CASE WHEN $3::bigint = 1 THEN 0 ELSE failures + 1 END \
               WHERE owner = (SELECT key FROM player WHERE id = $4) AND salt = $5";
    let query = db::query(sql).bind(note.delivery.at.0).bind(note.delivery.outcome.to_string());
    let query = query
        .bind(i64::from(note.delivery.outcome.is_delivered()))
        .bind(note.owner.as_str())
        .bind(note.salt.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoWebhook))
}
