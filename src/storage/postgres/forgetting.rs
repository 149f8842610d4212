//! What old games have beside their moves goes.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::packing;
use crate::model::time::UnixMillis;
use crate::storage::forgetting::{Forgetting, ForgettingStore, Forgotten, Packing, last_old};
use crate::storage::rows::forgetting::of_house;
use crate::storage::rows::{number, to_sql};
use crate::storage::store::{Refused, StoreError, Written};

#[async_trait]
impl ForgettingStore for PostgresStore {
    async fn forgotten(&self) -> Result<Forgotten, StoreError> {
        forgotten(&*self.reader().await?).await
    }

    async fn next_packing(&self, games: u32) -> Result<Option<Packing>, StoreError> {
        let moment = self.moment().await?;
        let notes_gone = forgotten(&moment).await?.notes;
        let packing = packing::next(&moment, games, notes_gone).await?;
        moment.end().await?;
        Ok(packing)
    }
}

async fn forgotten(connection: &Connection) -> Result<Forgotten, StoreError> {
    let (lessons, notes) = db::query_as("SELECT lessons, notes FROM forgotten").fetch_one(connection).await?;
    Ok(Forgotten { lessons: number("forgotten.lessons", lessons)?, notes: number("forgotten.notes", notes)? })
}

pub(super) async fn forget(
    connection: &Connection,
    forgetting: &Forgetting,
) -> Result<Result<Written, Refused>, StoreError> {
    let done = forgotten(connection).await?;
    if let Some(before) = forgetting.lessons_before {
        let last = last_before(connection, done.lessons, before, forgetting.games).await?;
        let sql = "UPDATE lesson SET changes = '' WHERE number > $1 AND number <= $2";
        db::query(sql).bind(to_sql(done.lessons)).bind(to_sql(last)).execute(connection).await?;
        db::query("UPDATE forgotten SET lessons = $1").bind(to_sql(last)).execute(connection).await?;
    }
    if let Some(before) = forgetting.notes_before {
        let last = last_before(connection, done.notes, before, forgetting.games).await?;
        let sql = concat!(
            "UPDATE event SET info = NULL WHERE info IS NOT NULL AND game IN ",
            of_house!("$1", "$2")
        );
        db::query(sql).bind(to_sql(done.notes)).bind(to_sql(last)).execute(connection).await?;
        let sql = concat!(
            "UPDATE packed_log SET notes = NULL WHERE notes IS NOT NULL AND game IN ",
            of_house!("$1", "$2")
        );
        db::query(sql).bind(to_sql(done.notes)).bind(to_sql(last)).execute(connection).await?;
        db::query("UPDATE forgotten SET notes = $1").bind(to_sql(last)).execute(connection).await?;
    }
    Ok(Ok(Written::Done))
}

async fn last_before(
    connection: &Connection,
    done: u64,
    before: UnixMillis,
    games: u32,
) -> Result<u64, StoreError> {
    let sql = "SELECT number, ended_at FROM settlement WHERE number > $1 ORDER BY number LIMIT $2";
    let query = db::query_as(sql).bind(to_sql(done)).bind(games);
    let rows: Vec<(i64, i64)> = query.fetch_all(connection).await?;
    let next =
        rows.into_iter().map(|(of, ended_at)| Ok((number("settlement.number", of)?, UnixMillis(ended_at))));
    Ok(last_old(done, next.collect::<Result<Vec<_>, StoreError>>()?, before))
}
