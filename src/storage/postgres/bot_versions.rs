//! Versions, self-tests and faults of remote bots.

use async_trait::async_trait;

use super::PostgresStore;
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
            "WHERE player = (SELECT key FROM player WHERE id = $1) ",
            $rest
        )
    };
}

#[async_trait]
impl BotVersionStore for PostgresStore {
    async fn bot_versions(&self, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError> {
        versions(&*self.reader().await?, bot).await
    }

    async fn bot_version(&self, bot: &PlayerId, version: &str) -> Result<Option<BotVersion>, StoreError> {
        one(&*self.reader().await?, bot, version).await
    }

    async fn bot_faults(&self, bot: &PlayerId, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        faults(&*self.reader().await?, bot, limit).await
    }

    async fn newest_faults(&self, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        newest_faults(&*self.reader().await?, limit).await
    }
}

pub(super) async fn versions(connection: &Connection, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError> {
    let sql = select_versions!("ORDER BY last_seen DESC, version DESC");
    let rows: Vec<BotVersionRow> = db::query_as(sql).bind(bot.as_str()).fetch_all(connection).await?;
    Ok(rows.into_iter().map(BotVersionRow::decode).collect())
}

async fn one(
    connection: &Connection,
    bot: &PlayerId,
    version: &str,
) -> Result<Option<BotVersion>, StoreError> {
    let sql = select_versions!("AND version = $2");
    let query = db::query_as(sql).bind(bot.as_str()).bind(version);
    let row: Option<BotVersionRow> = query.fetch_optional(connection).await?;
    Ok(row.map(BotVersionRow::decode))
}

pub(super) async fn faults(
    connection: &Connection,
    bot: &PlayerId,
    limit: u32,
) -> Result<Vec<BotFault>, StoreError> {
    let sql = "SELECT game, kind, note, at FROM bot_fault \
               WHERE player = (SELECT key FROM player WHERE id = $1) ORDER BY key DESC LIMIT $2";
    let rows: Vec<FaultRow> = db::query_as(sql).bind(bot.as_str()).bind(limit).fetch_all(connection).await?;
    rows.into_iter().map(|row| Ok(row.decode(bot)?)).collect()
}

async fn newest_faults(connection: &Connection, limit: u32) -> Result<Vec<BotFault>, StoreError> {
    let sql = "SELECT p.id AS player, f.game, f.kind, f.note, f.at FROM bot_fault f JOIN player p ON p.key = f.player \
               ORDER BY f.key DESC LIMIT $1";
    let rows: Vec<FaultOfRow> = db::query_as(sql).bind(limit).fetch_all(connection).await?;
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

async fn key_of(connection: &Connection, bot: &PlayerId) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT key FROM player WHERE id = $1";
    db::query_scalar(sql).bind(bot.as_str()).fetch_optional(connection).await
}

pub(super) async fn see_version(
    connection: &Connection,
    bot: &PlayerId,
    version: &str,
    at: UnixMillis,
) -> WriteOutcome {
    let Some(key) = key_of(connection, bot).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let sql = "INSERT INTO bot_version (player, version, first_seen, last_seen) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (player, version) DO UPDATE \
               SET last_seen = GREATEST(bot_version.last_seen, excluded.last_seen)";
    db::query(sql).bind(key).bind(version).bind(at.0).bind(at.0).execute(connection).await?;
    let sql = "DELETE FROM bot_version WHERE player = $1 AND version NOT IN (SELECT version FROM bot_version \
               WHERE player = $1 ORDER BY last_seen DESC, version DESC LIMIT $2)";
    db::query(sql).bind(key).bind(VERSIONS_MAX).execute(connection).await?;
    Ok(Ok(Written::Done))
}

pub(super) async fn save_test(
    connection: &Connection,
    bot: &PlayerId,
    version: &str,
    test: &StoredTest,
    passed: bool,
) -> WriteOutcome {
    if let Err(refused) = see_version(connection, bot, version, test.at).await? {
        return Ok(Err(refused));
    }
    let sql = "UPDATE bot_version SET tested_at = $1, report = $2, passed_at = coalesce($3, passed_at) \
               WHERE player = (SELECT key FROM player WHERE id = $4) AND version = $5";
    let passed_at = passed.then_some(test.at.0);
    let query = db::query(sql).bind(test.at.0).bind(&test.report).bind(passed_at);
    query.bind(bot.as_str()).bind(version).execute(connection).await?;
    Ok(Ok(Written::Done))
}

pub(super) async fn add_fault(connection: &Connection, fault: &BotFault) -> WriteOutcome {
    let Some(key) = key_of(connection, &fault.bot).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let sql = "INSERT INTO bot_fault (player, game, kind, note, at) VALUES ($1, $2, $3, $4, $5)";
    let query = db::query(sql).bind(key).bind(fault.game.as_ref().map(GameId::as_str));
    query.bind(fault.kind.word()).bind(&fault.note).bind(fault.at.0).execute(connection).await?;
    let sql = "DELETE FROM bot_fault WHERE player = $1 AND key NOT IN (SELECT key FROM bot_fault \
               WHERE player = $1 ORDER BY key DESC LIMIT $2)";
    db::query(sql).bind(key).bind(FAULTS_MAX).execute(connection).await?;
    Ok(Ok(Written::Done))
}

/// Forgets all of it, for a bot that leaves for good.
pub(super) async fn forget(connection: &Connection, bot: &PlayerId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM bot_version WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM bot_fault WHERE player = (SELECT key FROM player WHERE id = $1)",
    ] {
        db::query(sql).bind(bot.as_str()).execute(connection).await?;
    }
    Ok(())
}
