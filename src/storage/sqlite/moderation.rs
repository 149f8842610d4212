//! What operators do to players, and the log of all that they did.

use async_trait::async_trait;

use super::SqliteStore;
use super::convert::text_list;
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
impl ModerationStore for SqliteStore {
    async fn audit_log(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        self.readers.read(move |connection| log(connection, before, limit)).await
    }

    async fn orders(&self) -> Result<Vec<AuditEntry>, StoreError> {
        self.readers.read(orders).await
    }

    async fn admitted(&self, code: &InvitationCode) -> Result<u32, StoreError> {
        let code = code.clone();
        self.readers.read(move |connection| admitted(connection, &code)).await
    }

    async fn newest_registered(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        self.readers.read(move |connection| players::newest_registered(connection, limit)).await
    }

    async fn restricted(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        self.readers.read(move |connection| players::restricted(connection, limit)).await
    }

    async fn registered(
        &self,
        kind: PlayerKind,
        after: Option<&PlayerName>,
        limit: u32,
    ) -> Result<Vec<StoredPlayer>, StoreError> {
        let after = after.cloned();
        self.readers
            .read(move |connection| players::registered(connection, kind, after.as_ref(), limit))
            .await
    }
}

fn log(connection: &Connection, before: Option<u64>, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
    let sql = "SELECT number, action, subject, detail, until, reason, by_whom, at FROM audit \
               WHERE number < ? ORDER BY number DESC LIMIT ?";
    let before = before.map_or(i64::MAX, to_sql);
    let rows: Vec<AuditRow> = db::query_as(sql).bind(before).bind(limit).fetch_all(connection)?;
    decode_log(rows)
}

fn orders(connection: &Connection) -> Result<Vec<AuditEntry>, StoreError> {
    let sql = "SELECT number, action, subject, detail, until, reason, by_whom, at FROM audit \
               WHERE action IN (SELECT value FROM json_each(?)) ORDER BY number";
    let orders = text_list(AuditAction::ORDERS.map(Word::word));
    let rows: Vec<AuditRow> = db::query_as(sql).bind(orders).fetch_all(connection)?;
    decode_log(rows)
}

/// Does what a measure says, or finds why it cannot be before anything is written.
pub(super) fn take(connection: &Connection, measure: &Measure) -> WriteOutcome {
    let Measure { player, kind, because } = measure;
    let outcome = match kind {
        MeasureKind::Ban { until } => {
            let sql = "UPDATE player SET banned_because = ?, banned_until = ? \
                       WHERE id = ? AND house = 0 AND kind <> 'guest'";
            let query = db::query(sql).bind(because.reason.as_str()).bind(until.map(|until| until.0));
            done_if(query.bind(player.as_str()).execute(connection)?, Refused::NoSuchPlayer)
        }
        MeasureKind::Unban => {
            let sql = "UPDATE player SET banned_because = NULL, banned_until = NULL \
                       WHERE id = ? AND banned_because IS NOT NULL";
            done_if(db::query(sql).bind(player.as_str()).execute(connection)?, Refused::NotBanned)
        }
        MeasureKind::Rename { name, .. } => rename(connection, player, name)?,
        MeasureKind::ClearProfile => players::set_portrait(connection, player, &Portrait::default())?,
        MeasureKind::ResetPassword { password } => {
            credentials::set_password(connection, player, password, None)?
        }
        MeasureKind::SignOut => credentials::revoke(connection, player, None)?,
        MeasureKind::Mute { until } => {
            let sql = "UPDATE player SET muted_because = ?, muted_until = ? \
                       WHERE id = ? AND house = 0 AND kind <> 'guest'";
            let query = db::query(sql).bind(because.reason.as_str()).bind(until.map(|until| until.0));
            done_if(query.bind(player.as_str()).execute(connection)?, Refused::NoSuchPlayer)
        }
        MeasureKind::Unmute => {
            let sql = "UPDATE player SET muted_because = NULL, muted_until = NULL \
                       WHERE id = ? AND muted_because IS NOT NULL";
            done_if(db::query(sql).bind(player.as_str()).execute(connection)?, Refused::NotMuted)
        }
        MeasureKind::Delete { name } => delete(connection, player, name)?,
        MeasureKind::Admit { code, uses } if admitted(connection, code)? >= *uses => Err(Refused::UsedUp),
        MeasureKind::Admit { .. } => Ok(Written::Done),
        MeasureKind::Appoint { salt, recovery } => {
            operators::appoint(connection, player, because.at, salt, recovery)?
        }
        MeasureKind::Dismiss => operators::dismiss(connection, player)?,
    };
    if outcome.is_ok() {
        operator_log::note(connection, &kind.entry(player), because)?;
    }
    Ok(outcome)
}

fn admitted(connection: &Connection, code: &InvitationCode) -> Result<u32, StoreError> {
    let sql = "SELECT count(*) FROM audit WHERE action = ? AND detail = ?";
    let query = db::query_scalar(sql).bind(AuditAction::Admit.word()).bind(code.as_str());
    Ok(query.fetch_one(connection)?)
}

fn rename(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    if players::name_is_anothers(connection, player, name)? {
        return Ok(Err(Refused::NameTaken));
    }
    // A guest keeps the mark of guests.
    let sql = "UPDATE player SET name = ? WHERE id = ? AND house = 0 \
               AND (kind <> 'guest' OR name LIKE ? AND ? LIKE ?)";
    let guests = format!("{GUEST_PREFIX}%");
    let query = db::query(sql).bind(name.as_str()).bind(player.as_str());
    let query = query.bind(guests.as_str()).bind(name.as_str()).bind(guests.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchPlayer))
}

fn delete(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    let sql = "SELECT 1 FROM player WHERE id = ? AND kind = 'guest'";
    if db::query(sql).bind(player.as_str()).has_row(connection)? {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    leaving::leave(connection, player, name)
}

/// Keeps an order, which is nothing but its entry in the log.
pub(super) fn order(connection: &Connection, order: &Order) -> WriteOutcome {
    operator_log::note(connection, &order.kind.entry(), &order.because)?;
    Ok(Ok(Written::Done))
}
