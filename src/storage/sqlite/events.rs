//! Events as rows: written one by one, read back one game after the other.

use super::db::{self, Connection};
use crate::storage::record::StoredEvent;
use crate::storage::rows::events::NewRow;
use crate::storage::rows::to_sql;
use crate::storage::store::StoreError;

/// Inserts events of the game with this key.
///
/// One row in a statement, which is prepared once: on the writer's own thread that is as fast as many rows in one.
pub(super) fn insert(connection: &Connection, game: i64, events: &[StoredEvent]) -> Result<(), StoreError> {
    let sql = "INSERT INTO event (game, seq, kind, first_ms, second_ms, at, column_no, spent_ms, credited_ms, info, \
               plies, result, reason, at_fault) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    for event in events {
        let row = NewRow::of(&event.kind);
        let query = db::query(sql).bind(game).bind(event.seq).bind(row.kind);
        let query = query.bind(to_sql(event.clock_ms.first)).bind(to_sql(event.clock_ms.second));
        let query = query.bind(event.at.0).bind(row.column_no).bind(row.spent_ms).bind(row.credited_ms);
        let query = query.bind(row.info).bind(row.plies);
        query.bind(row.result).bind(row.reason).bind(row.at_fault).execute(connection)?;
    }
    Ok(())
}
