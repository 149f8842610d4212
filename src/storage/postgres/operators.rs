//! Accounts that are operators, and their second factors.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::operators::{FactorUse, OperatorStore, StoredOperator, joined};
use crate::storage::rows::operators::OperatorRow;
use crate::storage::rows::to_sql;
use crate::storage::store::{Refused, StoreError, Written};

/// Selects the columns of an [`OperatorRow`].
macro_rules! select_operators {
    ($rest:literal) => {
        concat!(
            "SELECT p.id AS player, o.since, o.salt, o.last_step, o.recovery ",
            "FROM operator o JOIN player p ON p.key = o.player ",
            $rest
        )
    };
}

#[async_trait]
impl OperatorStore for PostgresStore {
    async fn operator(&self, player: &PlayerId) -> Result<Option<StoredOperator>, StoreError> {
        operator(&*self.reader().await?, player).await
    }

    async fn operators(&self) -> Result<Vec<StoredOperator>, StoreError> {
        operators(&*self.reader().await?).await
    }
}

async fn operator(connection: &Connection, player: &PlayerId) -> Result<Option<StoredOperator>, StoreError> {
    let query = db::query_as(select_operators!("WHERE p.id = $1")).bind(player.as_str());
    let row: Option<OperatorRow> = query.fetch_optional(connection).await?;
    Ok(row.map(OperatorRow::decode).transpose()?)
}

async fn operators(connection: &Connection) -> Result<Vec<StoredOperator>, StoreError> {
    let query = db::query_as(select_operators!("ORDER BY o.since, o.player"));
    let rows: Vec<OperatorRow> = query.fetch_all(connection).await?;
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

pub(super) async fn appoint(
    connection: &Connection,
    player: &PlayerId,
    at: UnixMillis,
    salt: &str,
    recovery: &[String],
) -> WriteOutcome {
    if operator(connection, player).await?.is_some() {
        return Ok(Err(Refused::OperatorAlready));
    }
    let sql = "INSERT INTO operator (player, since, salt, last_step, recovery) \
               SELECT key, $1::bigint, $2::text, 0, $3::text FROM player WHERE id = $4 AND kind = 'human'";
    let query = db::query(sql).bind(at.0).bind(salt).bind(joined(recovery));
    Ok(done_if(query.bind(player.as_str()).execute(connection).await?, Refused::NoSuchPlayer))
}

pub(super) async fn dismiss(connection: &Connection, player: &PlayerId) -> WriteOutcome {
    let sql = "DELETE FROM operator WHERE player = (SELECT key FROM player WHERE id = $1)";
    Ok(done_if(db::query(sql).bind(player.as_str()).execute(connection).await?, Refused::NoOperator))
}

/// Uses a code up, if it is good.
pub(super) async fn use_factor(connection: &Connection, player: &PlayerId, used: &FactorUse) -> WriteOutcome {
    let Some(found) = operator(connection, player).await? else { return Ok(Err(Refused::NoOperator)) };
    let Some(after) = found.after(used) else { return Ok(Err(Refused::FactorUsed)) };
    let sql = "UPDATE operator SET last_step = $1, recovery = $2 WHERE player = (SELECT key FROM player WHERE id = $3)";
    let query = db::query(sql).bind(to_sql(after.last_step)).bind(joined(&after.recovery));
    query.bind(player.as_str()).execute(connection).await?;
    Ok(Ok(Written::Done))
}
