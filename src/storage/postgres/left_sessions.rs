//! Sessions that a planned stop has left.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::WriteOutcome;
use crate::storage::left_sessions::{LeftSession, LeftSessionStore};
use crate::storage::rows::left_sessions::{LeftSessionRow, ends_in_words};
use crate::storage::rows::to_sql;
use crate::storage::store::{StoreError, Written};

#[async_trait]
impl LeftSessionStore for PostgresStore {
    async fn left_sessions(&self) -> Result<Vec<LeftSession>, StoreError> {
        let query = db::query_as("SELECT id, after, ends FROM left_session ORDER BY id");
        let rows: Vec<LeftSessionRow> = query.fetch_all(&*self.reader().await?).await?;
        Ok(LeftSessionRow::sound(&rows))
    }
}

/// Puts these in the place of all that are there.
pub(super) async fn set(connection: &Connection, sessions: &[LeftSession]) -> WriteOutcome {
    let ids: Vec<&str> = sessions.iter().map(|left| left.session.as_str()).collect();
    let after: Vec<i64> = sessions.iter().map(|left| to_sql(left.after)).collect();
    let ends: Vec<String> = sessions.iter().map(|left| ends_in_words(&left.ends)).collect();
    let sql = "INSERT INTO left_session (id, after, ends) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])";
    let adding = db::query(sql).bind(ids).bind(after).bind(ends);
    db::execute_all(connection, &[db::query("DELETE FROM left_session"), adding]).await?;
    Ok(Ok(Written::Done))
}
