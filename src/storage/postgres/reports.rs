//! What people report about others.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::operator_log;
use super::players::WriteOutcome;
use crate::model::ids::{GameId, PlayerId};
use crate::storage::reports::{
    NewReport, REPORTS_MAX, ReportQuery, ReportState, ReportStore, ReportVerdict, StoredReport,
};
use crate::storage::rows::reports::{ReportRow, decode_reports};
use crate::storage::rows::{parsed, to_sql, word};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word as _;

/// Selects the columns of a [`ReportRow`].
macro_rules! select_reports {
    ($rest:literal) => {
        concat!(
            "SELECT r.number, f.id AS reporter, p.id AS player, r.game, r.reason, r.note, r.at, r.state, ",
            "r.handled_by FROM report r JOIN player p ON p.key = r.player ",
            "LEFT JOIN player f ON f.key = r.reporter ",
            $rest
        )
    };
}

#[async_trait]
impl ReportStore for PostgresStore {
    async fn reports(&self, query: ReportQuery, limit: u32) -> Result<Vec<StoredReport>, StoreError> {
        reports(&*self.reader().await?, query, limit).await
    }

    async fn reports_by(&self, reporter: &PlayerId) -> Result<Vec<StoredReport>, StoreError> {
        reports_by(&*self.reader().await?, reporter).await
    }
}

async fn reports(
    connection: &Connection,
    query: ReportQuery,
    limit: u32,
) -> Result<Vec<StoredReport>, StoreError> {
    let sql = match query {
        ReportQuery::Open => select_reports!("WHERE r.state IN ('open', 'taken') ORDER BY r.number LIMIT $1"),
        ReportQuery::All => select_reports!("ORDER BY r.number DESC LIMIT $1"),
    };
    let rows: Vec<ReportRow> = db::query_as(sql).bind(limit).fetch_all(connection).await?;
    decode_reports(rows)
}

async fn reports_by(connection: &Connection, reporter: &PlayerId) -> Result<Vec<StoredReport>, StoreError> {
    let sql = select_reports!("WHERE f.id = $1 ORDER BY r.number DESC");
    let rows: Vec<ReportRow> = db::query_as(sql).bind(reporter.as_str()).fetch_all(connection).await?;
    decode_reports(rows)
}

pub(super) async fn add(connection: &Connection, report: &NewReport) -> WriteOutcome {
    let key = async |player: &PlayerId| -> Result<Option<i64>, StoreError> {
        let sql = "SELECT key FROM player WHERE id = $1";
        db::query_scalar(sql).bind(player.as_str()).fetch_optional(connection).await
    };
    let (Some(reporter), Some(player)) = (key(&report.reporter).await?, key(&report.player).await?) else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let sql = "SELECT 1 FROM report WHERE reporter = $1 AND player = $2 AND state IN ('open', 'taken')";
    if db::query(sql).bind(reporter).bind(player).has_row(connection).await? {
        return Ok(Err(Refused::ReportedAlready));
    }
    if !make_room(connection).await? {
        return Ok(Err(Refused::TooMany));
    }
    let sql = "INSERT INTO report (reporter, player, game, reason, note, at, state) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    db::query(sql)
        .bind(reporter)
        .bind(player)
        .bind(report.game.as_ref().map(GameId::as_str))
        .bind(report.reason.word())
        .bind(report.note.as_str())
        .bind(report.at.0)
        .bind(ReportState::Open.word())
        .execute(connection)
        .await?;
    Ok(Ok(Written::Done))
}

/// Forgets the oldest report that was dealt with, if there are as many as are kept. Says whether there is room.
async fn make_room(connection: &Connection) -> Result<bool, StoreError> {
    let count: i64 = db::query_scalar("SELECT count(*) FROM report").fetch_one(connection).await?;
    if count < i64::from(REPORTS_MAX) {
        return Ok(true);
    }
    let sql = "DELETE FROM report WHERE number = \
               (SELECT min(number) FROM report WHERE state IN ('dismissed', 'resolved'))";
    Ok(db::query(sql).execute(connection).await? > 0)
}

/// Does with a report what an operator says, and notes it in the log.
pub(super) async fn handle(connection: &Connection, verdict: &ReportVerdict) -> WriteOutcome {
    let ReportVerdict { number, step, because } = verdict;
    let sql = "SELECT p.id, r.state FROM report r JOIN player p ON p.key = r.player WHERE r.number = $1";
    let found: Option<(String, String)> =
        db::query_as(sql).bind(to_sql(*number)).fetch_optional(connection).await?;
    let Some((player, state)) = found else { return Ok(Err(Refused::NoSuchReport)) };
    if !word::<ReportState>("report.state", &state)?.is_open() {
        return Ok(Err(Refused::ReportClosed));
    }
    let sql = "UPDATE report SET state = $1, handled_by = $2 WHERE number = $3";
    let query = db::query(sql).bind(step.state().word()).bind(because.by.as_str());
    query.bind(to_sql(*number)).execute(connection).await?;
    let player = parsed("report.player", &player)?;
    operator_log::note(connection, &step.entry(*number, &player), because).await?;
    Ok(Ok(Written::Done))
}

/// A guest has gone whose row becomes another's.
pub(super) async fn forget_guest(connection: &Connection, key: i64) -> Result<(), StoreError> {
    db::query("UPDATE report SET reporter = NULL WHERE reporter = $1").bind(key).execute(connection).await?;
    db::query("DELETE FROM report WHERE player = $1").bind(key).execute(connection).await?;
    Ok(())
}
