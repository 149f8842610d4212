//! Logs of finished games are packed.

use super::db::{self, Connection};
use super::games;
use crate::storage::rows::number;
use crate::storage::rows::packed::PackedLog;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Finished games after the last that was looked at.
pub(super) fn unpacked(connection: &Connection) -> Result<u64, StoreError> {
    // Numbers have no holes.
    let sql = "SELECT coalesce((SELECT max(number) FROM settlement), 0) - number FROM packing";
    let count: i64 = db::query_scalar(sql).fetch_one(connection)?;
    Ok(number("count", count)?)
}

/// Packs the logs of the next games. Whatever is damaged stays as it is, for whoever repairs it.
pub(super) fn pack(connection: &Connection, games: u32) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT number, game FROM settlement WHERE number > (SELECT number FROM packing) \
               ORDER BY number LIMIT ?";
    let next: Vec<(i64, i64)> = db::query_as(sql).bind(games).fetch_all(connection)?;
    let Some(&(last, _)) = next.last() else { return Ok(Ok(Written::Done)) };
    let keys: Vec<i64> = next.into_iter().map(|(_, key)| key).collect();
    let mut logs = games::rows_of(connection, &keys)?;
    for key in keys {
        let Ok(log) = logs.take(key) else { continue };
        let Some(packed) = PackedLog::of(&log) else { continue };
        if insert(connection, key, &packed)? {
            delete_rows(connection, key)?;
        }
    }
    db::query("UPDATE packing SET number = ?").bind(last).execute(connection)?;
    Ok(Ok(Written::Done))
}

/// Stores the packed log of the game with this key; false if there is one.
pub(super) fn insert(connection: &Connection, game: i64, packed: &PackedLog) -> Result<bool, StoreError> {
    let PackedLog { events, notes, ending } = packed;
    let sql = "INSERT INTO packed_log (game, events, notes, result, reason, at_fault) VALUES (?, ?, ?, ?, ?, ?) \
               ON CONFLICT DO NOTHING";
    let query = db::query(sql).bind(game).bind(events).bind(notes.as_deref());
    let query = query.bind(ending.result.word()).bind(ending.reason.word());
    Ok(query.bind(ending.by.map(Word::word)).execute(connection)? == 1)
}

/// Deletes the rows of a log that is packed.
pub(super) fn delete_rows(connection: &Connection, game: i64) -> Result<(), StoreError> {
    db::query("DELETE FROM event WHERE game = ?").bind(game).execute(connection)?;
    Ok(())
}
