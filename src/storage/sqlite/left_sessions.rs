//! Sessions that a planned stop has left.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use super::players::WriteOutcome;
use crate::storage::left_sessions::{LeftSession, LeftSessionStore};
use crate::storage::rows::left_sessions::{LeftSessionRow, ends_in_words};
use crate::storage::rows::to_sql;
use crate::storage::store::{StoreError, Written};

#[async_trait]
impl LeftSessionStore for SqliteStore {
    async fn left_sessions(&self) -> Result<Vec<LeftSession>, StoreError> {
        self.readers.read(left_sessions).await
    }
}

fn left_sessions(connection: &Connection) -> Result<Vec<LeftSession>, StoreError> {
    let query = db::query_as("SELECT id, after, ends FROM left_session ORDER BY id");
    let rows: Vec<LeftSessionRow> = query.fetch_all(connection)?;
    Ok(LeftSessionRow::sound(&rows))
}

/// Puts these in the place of all that are there.
pub(super) fn set(connection: &Connection, sessions: &[LeftSession]) -> WriteOutcome {
    db::query("DELETE FROM left_session").execute(connection)?;
    for left in sessions {
        db::query("INSERT INTO left_session (id, after, ends) VALUES (?, ?, ?)")
            .bind(left.session.as_str())
            .bind(to_sql(left.after))
            .bind(ends_in_words(&left.ends))
            .execute(connection)?;
    }
    Ok(Ok(Written::Done))
}
