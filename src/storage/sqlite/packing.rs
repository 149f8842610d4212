//! Logs of finished games are packed.

use super::db::{self, Connection};
use super::games;
use crate::storage::forgetting::{Packing, keys_of_unpacked};
use crate::storage::rows::packed::PackedLog;
use crate::storage::rows::to_sql;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Reads what is to be packed next, in a moment in which notes have gone up to some game.
pub(super) fn next(
    connection: &Connection,
    games: u32,
    notes_gone: u64,
) -> Result<Option<Packing>, StoreError> {
    let after: i64 = db::query_scalar("SELECT number FROM packing").fetch_one(connection)?;
    let sql = "SELECT n.number, n.game, EXISTS (SELECT 1 FROM packed_log p WHERE p.game = n.game) \
               FROM settlement n WHERE n.number > ? ORDER BY n.number LIMIT ?";
    let found: Vec<(i64, i64, bool)> = db::query_as(sql).bind(after).bind(games).fetch_all(connection)?;
    let keys: Vec<i64> = keys_of_unpacked(&found).collect();
    let logs = games::rows_of(connection, &keys)?;
    Ok(Packing::of(after, &found, notes_gone, logs)?)
}

/// Packs what was read.
pub(super) fn pack(
    connection: &Connection,
    packing: &Packing,
) -> Result<Result<Written, Refused>, StoreError> {
    let Packing { after, last, notes_gone, logs } = packing;
    let sql = "UPDATE packing SET number = ? WHERE number = ? AND (SELECT notes FROM forgotten) = ?";
    let query = db::query(sql).bind(to_sql(*last)).bind(to_sql(*after)).bind(to_sql(*notes_gone));
    if query.execute(connection)? == 1 {
        for (key, log) in logs {
            insert(connection, *key, log)?;
            delete_rows(connection, *key)?;
        }
    }
    Ok(Ok(Written::Done))
}

/// Stores the packed log of the game with this key.
pub(super) fn insert(connection: &Connection, game: i64, packed: &PackedLog) -> Result<(), StoreError> {
    let PackedLog { events, notes, ending } = packed;
    let sql =
        "INSERT INTO packed_log (game, events, notes, result, reason, at_fault) VALUES (?, ?, ?, ?, ?, ?)";
    let query = db::query(sql).bind(game).bind(events).bind(notes.as_deref());
    let query = query.bind(ending.result.word()).bind(ending.reason.word());
    query.bind(ending.by.map(Word::word)).execute(connection)?;
    Ok(())
}

/// Deletes the rows of a log that is packed.
pub(super) fn delete_rows(connection: &Connection, game: i64) -> Result<(), StoreError> {
    db::query("DELETE FROM event WHERE game = ?").bind(game).execute(connection)?;
    Ok(())
}
