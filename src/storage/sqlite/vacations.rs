//! Vacations of people who play by correspondence.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;
use crate::storage::rows::vacations::VacationRow;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::vacations::VacationStore;

#[async_trait]
impl VacationStore for SqliteStore {
    async fn vacations_of(&self, player: &PlayerId) -> Result<Vec<Vacation>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| of_player(connection, &player)).await
    }

    async fn vacations_since(&self, since: UnixMillis) -> Result<Vec<(PlayerId, Vacation)>, StoreError> {
        self.readers.read(move |connection| all_since(connection, since)).await
    }
}

fn of_player(connection: &Connection, player: &PlayerId) -> Result<Vec<Vacation>, StoreError> {
    let sql = "SELECT p.id AS player, v.from_ms, v.until_ms FROM vacation v JOIN player p ON p.key = v.player \
               WHERE p.id = ?1 ORDER BY v.from_ms";
    let rows: Vec<VacationRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection)?;
    Ok(rows.iter().map(VacationRow::vacation).collect())
}

fn all_since(connection: &Connection, since: UnixMillis) -> Result<Vec<(PlayerId, Vacation)>, StoreError> {
    let sql = "SELECT p.id AS player, v.from_ms, v.until_ms FROM vacation v JOIN player p ON p.key = v.player \
               WHERE v.until_ms > ?1 ORDER BY v.from_ms, p.id";
    let rows: Vec<VacationRow> = db::query_as(sql).bind(since.0).fetch_all(connection)?;
    Ok(rows.into_iter().map(VacationRow::decode).collect::<Result<_, _>>()?)
}

/// Begins one, and ends whichever goes on.
pub(super) fn take(connection: &Connection, player: &PlayerId, vacation: Vacation) -> WriteOutcome {
    end_at(connection, player, vacation.from)?;
    let sql = "INSERT INTO vacation (player, from_ms, until_ms) \
               SELECT key, ?1, ?2 FROM player WHERE id = ?3 AND kind = 'human' \
               ON CONFLICT (player, from_ms) DO UPDATE SET until_ms = excluded.until_ms";
    let query = db::query(sql).bind(vacation.from.0).bind(vacation.until.0).bind(player.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchPlayer))
}

pub(super) fn end(connection: &Connection, player: &PlayerId, at: UnixMillis) -> WriteOutcome {
    end_at(connection, player, at)?;
    Ok(Ok(Written::Done))
}

fn end_at(connection: &Connection, player: &PlayerId, at: UnixMillis) -> Result<(), StoreError> {
    let sql = "UPDATE vacation SET until_ms = max(?1, from_ms) \
               WHERE player = (SELECT key FROM player WHERE id = ?2) AND until_ms > ?1";
    db::query(sql).bind(at.0).bind(player.as_str()).execute(connection)?;
    Ok(())
}
