//! Logs of finished games are packed.

use super::db::{self, Connection, Query};
use super::games;
use crate::storage::forgetting::{Packing, keys_of_unpacked};
use crate::storage::rows::packed::PackedLog;
use crate::storage::rows::to_sql;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Whether nothing has changed since it was read: the two numbers are how far packing had come, and forgetting.
macro_rules! as_read {
    ($after:literal, $notes_gone:literal) => {
        concat!(
            "(SELECT number FROM packing) = ",
            $after,
            " AND (SELECT notes FROM forgotten) = ",
            $notes_gone
        )
    };
}

/// Reads what is to be packed next, in a moment in which notes have gone up to some game.
pub(super) async fn next(
    connection: &Connection,
    games: u32,
    notes_gone: u64,
) -> Result<Option<Packing>, StoreError> {
    let after: i64 = db::query_scalar("SELECT number FROM packing").fetch_one(connection).await?;
    let sql = "SELECT n.number, n.game, EXISTS (SELECT FROM packed_log p WHERE p.game = n.game) \
               FROM settlement n WHERE n.number > $1 ORDER BY n.number LIMIT $2";
    let found: Vec<(i64, i64, bool)> =
        db::query_as(sql).bind(after).bind(games).fetch_all(connection).await?;
    let keys: Vec<i64> = keys_of_unpacked(&found).collect();
    let logs = games::rows_of(connection, &keys).await?;
    Ok(Packing::of(after, &found, notes_gone, logs)?)
}

/// Packs what was read, all of it in one way to the server and back.
pub(super) async fn pack(
    connection: &Connection,
    packing: &Packing,
) -> Result<Result<Written, Refused>, StoreError> {
    let Packing { after, last, notes_gone, logs } = packing;
    let (after, notes_gone) = (to_sql(*after), to_sql(*notes_gone));
    let mut statements: Vec<_> =
        logs.iter().map(|(key, log)| inserting(*key, log).bind(after).bind(notes_gone)).collect();
    let keys: Vec<i64> = logs.iter().map(|(key, _)| *key).collect();
    let sql = concat!("DELETE FROM event WHERE game = ANY($1) AND ", as_read!("$2", "$3"));
    statements.push(db::query(sql).bind(keys).bind(after).bind(notes_gone));
    // The last, for it is what the others ask.
    let sql = concat!("UPDATE packing SET number = $1 WHERE ", as_read!("$2", "$3"));
    statements.push(db::query(sql).bind(to_sql(*last)).bind(after).bind(notes_gone));
    db::execute_all(connection, &statements).await?;
    Ok(Ok(Written::Done))
}

fn inserting(game: i64, log: &PackedLog) -> Query<'_> {
    let PackedLog { events, notes, ending } = log;
    let sql = concat!(
        "INSERT INTO packed_log (game, events, notes, result, reason, at_fault) \
         SELECT $1::bigint, $2::bytea, $3::bytea, $4::text, $5::text, $6::text WHERE ",
        as_read!("$7", "$8")
    );
    let query = db::query(sql).bind(game).bind(events).bind(notes.as_deref());
    let query = query.bind(ending.result.word()).bind(ending.reason.word());
    query.bind(ending.by.map(Word::word))
}
