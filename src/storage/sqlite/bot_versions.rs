//! Versions, self-tests and faults of remote bots.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;
use crate::storage::bot_versions::{
    BotFault, BotVersion, BotVersionStore, FAULTS_MAX, StoredTest, VERSIONS_MAX,
};
use crate::storage::rows::bot_versions::{BotVersionRow, FaultOfRow, FaultRow};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

/// Selects the columns of a [`BotVersionRow`].
macro_rules! select_versions {
    ($rest:literal) => {
        concat!(
            "SELECT version, first_seen, last_seen, passed_at, tested_at, report FROM bot_version ",
            "WHERE player = (SELECT key FROM player WHERE id = ?) ",
            $rest
        )
    };
}

#[async_trait]
impl BotVersionStore for SqliteStore {
    async fn bot_versions(&self, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError> {
        let bot = bot.clone();
        self.readers.read(move |connection| versions(connection, &bot)).await
    }

    async fn bot_version(&self, bot: &PlayerId, version: &str) -> Result<Option<BotVersion>, StoreError> {
        let bot = bot.clone();
        let version = version.to_owned();
        self.readers.read(move |connection| one(connection, &bot, &version)).await
    }

    async fn bot_faults(&self, bot: &PlayerId, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        let bot = bot.clone();
        self.readers.read(move |connection| faults(connection, &bot, limit)).await
    }

    async fn newest_faults(&self, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        self.readers.read(move |connection| newest_faults(connection, limit)).await
    }
}

pub(super) fn versions(connection: &Connection, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError> {
    let sql = select_versions!("ORDER BY last_seen DESC, version DESC");
    let rows: Vec<BotVersionRow> = db::query_as(sql).bind(bot.as_str()).fetch_all(connection)?;
    Ok(rows.into_iter().map(BotVersionRow::decode).collect())
}

fn one(connection: &Connection, bot: &PlayerId, version: &str) -> Result<Option<BotVersion>, StoreError> {
    let sql = select_versions!("AND version = ?");
    let query = db::query_as(sql).bind(bot.as_str()).bind(version);
    let row: Option<BotVersionRow> = query.fetch_optional(connection)?;
    Ok(row.map(BotVersionRow::decode))
}

pub(super) fn faults(
    connection: &Connection,
    bot: &PlayerId,
    limit: u32,
) -> Result<Vec<BotFault>, StoreError> {
    let sql = "SELECT game, kind, note, at FROM bot_fault \
               WHERE player = (SELECT key FROM player WHERE id = ?) ORDER BY key DESC LIMIT ?";
    let rows: Vec<FaultRow> = db::query_as(sql).bind(bot.as_str()).bind(limit).fetch_all(connection)?;
    rows.into_iter().map(|row| Ok(row.decode(bot)?)).collect()
}

fn newest_faults(connection: &Connection, limit: u32) -> Result<Vec<BotFault>, StoreError> {
    let sql = "SELECT p.id AS player, f.game, f.kind, f.note, f.at FROM bot_fault f JOIN player p ON p.key = f.player \
               ORDER BY f.key DESC LIMIT ?";
    let rows: Vec<FaultOfRow> = db::query_as(sql).bind(limit).fetch_all(connection)?;
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

fn key_of(connection: &Connection, bot: &PlayerId) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT key FROM player WHERE id = ?";
    Ok(db::query_scalar(sql).bind(bot.as_str()).fetch_optional(connection)?)
}

pub(super) fn see_version(
    connection: &Connection,
    bot: &PlayerId,
    version: &str,
    at: UnixMillis,
) -> WriteOutcome {
    let Some(key) = key_of(connection, bot)? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let sql = "INSERT INTO bot_version (player, version, first_seen, last_seen) VALUES (?, ?, ?, ?) \
               ON CONFLICT DO UPDATE SET last_seen = max(last_seen, excluded.last_seen)";
    db::query(sql).bind(key).bind(version).bind(at.0).bind(at.0).execute(connection)?;
    let sql = "DELETE FROM bot_version WHERE player = ?1 AND version NOT IN (SELECT version FROM bot_version \
               WHERE player = ?1 ORDER BY last_seen DESC, version DESC LIMIT ?2)";
    db::query(sql).bind(key).bind(VERSIONS_MAX).execute(connection)?;
    Ok(Ok(Written::Done))
}

pub(super) fn save_test(
    connection: &Connection,
    bot: &PlayerId,
    version: &str,
    test: &StoredTest,
    passed: bool,
) -> WriteOutcome {
    if let Err(refused) = see_version(connection, bot, version, test.at)? {
        return Ok(Err(refused));
    }
    let sql = "UPDATE bot_version SET tested_at = ?, report = ?, passed_at = coalesce(?, passed_at) \
               WHERE player = (SELECT key FROM player WHERE id = ?) AND version = ?";
    let passed_at = passed.then_some(test.at.0);
    let query = db::query(sql).bind(test.at.0).bind(&test.report).bind(passed_at);
    query.bind(bot.as_str()).bind(version).execute(connection)?;
    Ok(Ok(Written::Done))
}

pub(super) fn add_fault(connection: &Connection, fault: &BotFault) -> WriteOutcome {
    let Some(key) = key_of(connection, &fault.bot)? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let sql = "INSERT INTO bot_fault (player, game, kind, note, at) VALUES (?, ?, ?, ?, ?)";
    let query = db::query(sql).bind(key).bind(fault.game.as_ref().map(GameId::as_str));
    query.bind(fault.kind.word()).bind(&fault.note).bind(fault.at.0).execute(connection)?;
    let sql = "DELETE FROM bot_fault WHERE player = ?1 AND key NOT IN (SELECT key FROM bot_fault \
               WHERE player = ?1 ORDER BY key DESC LIMIT ?2)";
    db::query(sql).bind(key).bind(FAULTS_MAX).execute(connection)?;
    Ok(Ok(Written::Done))
}

/// Forgets all of it, for a bot that leaves for good.
pub(super) fn forget(connection: &Connection, bot: &PlayerId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM bot_version WHERE player = (SELECT key FROM player WHERE id = ?)",
        "DELETE FROM bot_fault WHERE player = (SELECT key FROM player WHERE id = ?)",
    ] {
        db::query(sql).bind(bot.as_str()).execute(connection)?;
    }
    Ok(())
}
