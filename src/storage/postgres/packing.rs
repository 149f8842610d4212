//! Logs of finished games are packed.

use super::db::{self, Connection, Query};
use super::games;
use crate::storage::rows::number;
use crate::storage::rows::packed::PackedLog;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Finished games after the last that was looked at.
pub(super) async fn unpacked(connection: &Connection) -> Result<u64, StoreError> {
    // Numbers have no holes.
    let sql = "SELECT coalesce((SELECT max(number) FROM settlement), 0) - number FROM packing";
    let count: i64 = db::query_scalar(sql).fetch_one(connection).await?;
    Ok(number("count", count)?)
}

/// Packs the logs of the next games. Whatever is damaged stays as it is, for whoever repairs it.
pub(super) async fn pack(
    connection: &Connection,
    games: u32,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT number, game FROM settlement WHERE number > (SELECT number FROM packing) \
               ORDER BY number LIMIT $1";
    let next: Vec<(i64, i64)> = db::query_as(sql).bind(games).fetch_all(connection).await?;
    let Some(&(last, _)) = next.last() else { return Ok(Ok(Written::Done)) };
    let keys: Vec<i64> = next.into_iter().map(|(_, key)| key).collect();
    let mut logs = games::rows_of(connection, &keys).await?;
    let packed: Vec<(i64, PackedLog)> =
        keys.into_iter().filter_map(|key| Some((key, PackedLog::of(&logs.take(key).ok()?)?))).collect();
    let statements: Vec<_> = packed.iter().map(|(key, log)| inserting(*key, log)).collect();
    let inserted = db::execute_all(connection, &statements).await?;
    // A log that was there stays.
    let keys: Vec<i64> =
        packed.iter().zip(inserted).filter(|(_, rows)| *rows == 1).map(|((key, _), _)| *key).collect();
    db::query("DELETE FROM event WHERE game = ANY($1)").bind(keys).execute(connection).await?;
    db::query("UPDATE packing SET number = $1").bind(last).execute(connection).await?;
    Ok(Ok(Written::Done))
}

/// Changes one row if there was none yet.
fn inserting(game: i64, log: &PackedLog) -> Query<'_> {
    let PackedLog { events, notes, ending } = log;
    let sql = "INSERT INTO packed_log (game, events, notes, result, reason, at_fault) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let query = db::query(sql).bind(game).bind(events).bind(notes.as_deref());
    let query = query.bind(ending.result.word()).bind(ending.reason.word());
    query.bind(ending.by.map(Word::word))
}
