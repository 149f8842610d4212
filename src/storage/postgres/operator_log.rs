//! What operators did and why, as it is written.

use super::db::{self, Connection, Query};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::store::StoreError;
use crate::storage::words::Word as _;

/// Adds an entry to the log.
pub(super) async fn note(
    connection: &Connection,
    note: &AuditNote,
    because: &Because,
) -> Result<(), StoreError> {
    noting(note, because).execute(connection).await?;
    Ok(())
}

/// The statement that adds a note.
pub(super) fn noting<'q>(note: &'q AuditNote, because: &'q Because) -> Query<'q> {
    let sql = "INSERT INTO audit (at, action, subject, detail, until, reason, by_whom) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    db::query(sql)
        .bind(because.at.0)
        .bind(note.action.word())
        .bind(note.subject.as_str())
        .bind(note.detail.as_deref())
        .bind(note.until.map(|until| until.0))
        .bind(because.reason.as_str())
        .bind(because.by.as_str())
}
