//! What old games have beside their moves goes.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use super::packing;
use super::readers::snapshot;
use crate::model::time::UnixMillis;
use crate::storage::forgetting::{Forgetting, ForgettingStore, Forgotten, Packing, last_old};
use crate::storage::rows::forgetting::of_house;
use crate::storage::rows::{number, to_sql};
use crate::storage::store::{Refused, StoreError, Written};

#[async_trait]
impl ForgettingStore for SqliteStore {
    async fn forgotten(&self) -> Result<Forgotten, StoreError> {
        self.readers.read(forgotten).await
    }

    async fn next_packing(&self, games: u32) -> Result<Option<Packing>, StoreError> {
        let next = move |connection: &Connection| {
            let notes_gone = forgotten(connection)?.notes;
            packing::next(connection, games, notes_gone)
        };
        self.readers.read(move |connection| snapshot(connection, next)).await
    }
}

fn forgotten(connection: &Connection) -> Result<Forgotten, StoreError> {
    let (lessons, notes) = db::query_as("SELECT lessons, notes FROM forgotten").fetch_one(connection)?;
    Ok(Forgotten { lessons: number("forgotten.lessons", lessons)?, notes: number("forgotten.notes", notes)? })
}

pub(super) fn forget(
    connection: &Connection,
    forgetting: &Forgetting,
) -> Result<Result<Written, Refused>, StoreError> {
    let done = forgotten(connection)?;
    if let Some(before) = forgetting.lessons_before {
        let last = last_before(connection, done.lessons, before, forgetting.games)?;
        let sql = "UPDATE lesson SET changes = '' WHERE number > ? AND number <= ?";
        db::query(sql).bind(to_sql(done.lessons)).bind(to_sql(last)).execute(connection)?;
        db::query("UPDATE forgotten SET lessons = ?").bind(to_sql(last)).execute(connection)?;
    }
    if let Some(before) = forgetting.notes_before {
        let last = last_before(connection, done.notes, before, forgetting.games)?;
        let sql =
            concat!("UPDATE event SET info = NULL WHERE info IS NOT NULL AND game IN ", of_house!("?", "?"));
        db::query(sql).bind(to_sql(done.notes)).bind(to_sql(last)).execute(connection)?;
        let sql = concat!(
            "UPDATE packed_log SET notes = NULL WHERE notes IS NOT NULL AND game IN ",
            of_house!("?", "?")
        );
        db::query(sql).bind(to_sql(done.notes)).bind(to_sql(last)).execute(connection)?;
        db::query("UPDATE forgotten SET notes = ?").bind(to_sql(last)).execute(connection)?;
    }
    Ok(Ok(Written::Done))
}

fn last_before(
    connection: &Connection,
    done: u64,
    before: UnixMillis,
    games: u32,
) -> Result<u64, StoreError> {
    let sql = "SELECT number, ended_at FROM settlement WHERE number > ? ORDER BY number LIMIT ?";
    let rows: Vec<(i64, i64)> = db::query_as(sql).bind(to_sql(done)).bind(games).fetch_all(connection)?;
    let next =
        rows.into_iter().map(|(of, ended_at)| Ok((number("settlement.number", of)?, UnixMillis(ended_at))));
    Ok(last_old(done, next.collect::<Result<Vec<_>, StoreError>>()?, before))
}
