//! Browsers that show notices.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::ids::PlayerId;
use crate::storage::pushes::{BROWSERS_MAX, PushStore, StoredPush};
use crate::storage::rows::pushes::PushRow;
use crate::storage::store::{Refused, StoreError};

#[async_trait]
impl PushStore for PostgresStore {
    async fn pushes_of(&self, owner: &PlayerId) -> Result<Vec<StoredPush>, StoreError> {
        of_owner(&*self.reader().await?, owner).await
    }
}

async fn of_owner(connection: &Connection, owner: &PlayerId) -> Result<Vec<StoredPush>, StoreError> {
    let sql = "SELECT p.id AS owner, s.endpoint, s.p256dh, s.auth, s.language, s.since \
               FROM push_subscription s JOIN player p ON p.key = s.owner \
               WHERE p.id = $1 ORDER BY s.since, s.endpoint";
    let rows: Vec<PushRow> = db::query_as(sql).bind(owner.as_str()).fetch_all(connection).await?;
    Ok(rows.into_iter().map(PushRow::decode).collect::<Result<_, _>>()?)
}

/// Adds one in the place of the same browser's before, whoever used that; the oldest go if the account has too many.
pub(super) async fn add(connection: &Connection, push: &StoredPush) -> WriteOutcome {
    let sql = "INSERT INTO push_subscription (endpoint, owner, p256dh, auth, language, since) \
               SELECT $1::text, key, $2::text, $3::text, $4::text, $5::bigint FROM player WHERE id = $6 AND kind = 'human' \
               ON CONFLICT (endpoint) DO UPDATE SET owner = excluded.owner, p256dh = excluded.p256dh, \
               auth = excluded.auth, language = excluded.language, since = excluded.since";
    let query = db::query(sql).bind(push.endpoint.as_str()).bind(push.p256dh.as_str());
    let query = query.bind(push.auth.as_str()).bind(push.language.as_str()).bind(push.since.0);
    let added = query.bind(push.owner.as_str()).execute(connection).await?;
    let sql = "DELETE FROM push_subscription WHERE endpoint IN (SELECT s.endpoint FROM push_subscription s \
               JOIN player p ON p.key = s.owner WHERE p.id = $1 \
               ORDER BY s.since DESC, s.endpoint DESC OFFSET $2::bigint)";
    let kept = i64::try_from(BROWSERS_MAX).unwrap_or(i64::MAX);
    db::query(sql).bind(push.owner.as_str()).bind(kept).execute(connection).await?;
    Ok(done_if(added, Refused::NoSuchPlayer))
}

pub(super) async fn remove(connection: &Connection, owner: &PlayerId, endpoint: &str) -> WriteOutcome {
    let sql = "DELETE FROM push_subscription \
               WHERE endpoint = $1 AND owner = (SELECT key FROM player WHERE id = $2)";
    let query = db::query(sql).bind(endpoint).bind(owner.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoPush))
}
