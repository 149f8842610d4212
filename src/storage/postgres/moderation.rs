//! What operators do to players, and the log of all that they did.

use async_trait::async_trait;

use super::PostgresStore;
use super::credentials;
use super::db::{self, Connection};
use super::leaving;
use super::operator_log;
use super::operators;
use super::players::{self, WriteOutcome, done_if};
use crate::model::ids::{GUEST_PREFIX, PlayerId, PlayerName};
use crate::model::invitation::InvitationCode;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::storage::moderation::{AuditAction, AuditEntry, Measure, MeasureKind, ModerationStore, Order};
use crate::storage::record::StoredPlayer;
use crate::storage::rows::moderation::{AuditRow, decode_log};
use crate::storage::rows::to_sql;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

#[async_trait]
impl ModerationStore for PostgresStore {
    async fn audit_log(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        log(&*self.reader().await?, before, limit).await
    }

    async fn orders(&self) -> Result<Vec<AuditEntry>, StoreError> {
        orders(&*self.reader().await?).await
    }

    async fn admitted(&self, code: &InvitationCode) -> Result<u32, StoreError> {
        admitted(&*self.reader().await?, code).await
    }

    async fn newest_registered(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        players::newest_registered(&*self.reader().await?, limit).await
    }

    async fn restricted(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        players::restricted(&*self.reader().await?, limit).await
    }

    async fn registered(
        &self,
        kind: PlayerKind,
        after: Option<&PlayerName>,
        limit: u32,
    ) -> Result<Vec<StoredPlayer>, StoreError> {
        players::registered(&*self.reader().await?, kind, after, limit).await
    }
}

async fn log(
    connection: &Connection,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<AuditEntry>, StoreError> {
    let sql = "SELECT number, action, subject, detail, until, reason, by_whom, at FROM audit \
               WHERE number < $1 ORDER BY number DESC LIMIT $2";
    let before = before.map_or(i64::MAX, to_sql);
    let rows: Vec<AuditRow> = db::query_as(sql).bind(before).bind(limit).fetch_all(connection).await?;
    decode_log(rows)
}

async fn orders(connection: &Connection) -> Result<Vec<AuditEntry>, StoreError> {
    let sql = "SELECT number, action, subject, detail, until, reason, by_whom, at FROM audit \
               WHERE action = ANY($1) ORDER BY number";
    let orders: Vec<&str> = AuditAction::ORDERS.map(Word::word).to_vec();
    let rows: Vec<AuditRow> = db::query_as(sql).bind(orders).fetch_all(connection).await?;
    decode_log(rows)
}

const UNBAN: &str = "UPDATE player SET banned_because = NULL, banned_until = NULL \
                     WHERE id = $1 AND banned_because IS NOT NULL";

/// Does what a measure says, or finds why it cannot be before anything is written.
pub(super) async fn take(connection: &Connection, measure: &Measure) -> WriteOutcome {
    let Measure { player, kind, because } = measure;
    let outcome = match kind {
        MeasureKind::Ban { until } => {
            let sql = "UPDATE player SET banned_because = $1, banned_until = $2 \
                       WHERE id = $3 AND NOT house AND kind <> 'guest'";
            let query = db::query(sql).bind(because.reason.as_str()).bind(until.map(|until| until.0));
            done_if(query.bind(player.as_str()).execute(connection).await?, Refused::NoSuchPlayer)
        }
        MeasureKind::Unban => {
            done_if(db::query(UNBAN).bind(player.as_str()).execute(connection).await?, Refused::NotBanned)
        }
        MeasureKind::Rename { name, .. } => rename(connection, player, name).await?,
        MeasureKind::ClearProfile => players::set_portrait(connection, player, &Portrait::default()).await?,
        MeasureKind::ResetPassword { password } => {
            credentials::set_password(connection, player, password, None).await?
        }
        MeasureKind::SignOut => credentials::revoke(connection, player, None).await?,
        MeasureKind::Mute { until } => {
            let sql = "UPDATE player SET muted_because = $1, muted_until = $2 \
                       WHERE id = $3 AND NOT house AND kind <> 'guest'";
            let query = db::query(sql).bind(because.reason.as_str()).bind(until.map(|until| until.0));
            done_if(query.bind(player.as_str()).execute(connection).await?, Refused::NoSuchPlayer)
        }
        MeasureKind::Unmute => {
            let sql = "UPDATE player SET muted_because = NULL, muted_until = NULL \
                       WHERE id = $1 AND muted_because IS NOT NULL";
            done_if(db::query(sql).bind(player.as_str()).execute(connection).await?, Refused::NotMuted)
        }
        MeasureKind::Delete { name } => delete(connection, player, name).await?,
        MeasureKind::Admit { code, uses } if admitted(connection, code).await? >= *uses => {
            Err(Refused::UsedUp)
        }
        MeasureKind::Admit { .. } => Ok(Written::Done),
        MeasureKind::Appoint { salt, recovery } => {
            operators::appoint(connection, player, because.at, salt, recovery).await?
        }
        MeasureKind::Dismiss => operators::dismiss(connection, player).await?,
    };
    if outcome.is_ok() {
        operator_log::note(connection, &kind.entry(player), because).await?;
    }
    Ok(outcome)
}

async fn admitted(connection: &Connection, code: &InvitationCode) -> Result<u32, StoreError> {
    let sql = "SELECT count(*) FROM audit WHERE action = $1 AND detail = $2";
    let query = db::query_scalar(sql).bind(AuditAction::Admit.word()).bind(code.as_str());
    let count: i64 = query.fetch_one(connection).await?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

async fn rename(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    if players::name_is_anothers(connection, player, name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    // A guest keeps the mark of guests.
    let sql = "UPDATE player SET name = $1 WHERE id = $2 AND NOT house \
               AND (kind <> 'guest' OR lower(name) LIKE $3 AND lower($1) LIKE $3)";
    let guests = format!("{GUEST_PREFIX}%");
    let query = db::query(sql).bind(name.as_str()).bind(player.as_str()).bind(guests);
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlayer))
}

async fn delete(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    let sql = "SELECT 1 FROM player WHERE id = $1 AND kind = 'guest'";
    if db::query(sql).bind(player.as_str()).has_row(connection).await? {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    leaving::leave(connection, player, name).await
}

/// Keeps an order, which is nothing but its entry in the log.
pub(super) async fn order(connection: &Connection, order: &Order) -> WriteOutcome {
    operator_log::note(connection, &order.kind.entry(), &order.because).await?;
    Ok(Ok(Written::Done))
}
