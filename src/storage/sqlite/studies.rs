//! Studies.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use super::operator_log;
use super::players::{WriteOutcome, done_if};
use crate::model::ids::{PlayerId, StudyId};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::rows::studies::{StudyRow, decode_studies, encode_comments};
use crate::storage::rows::to_sql;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::studies::{DamagedStudy, NewStudy, STUDIES_MAX, StoredStudy, StudyChange, StudyStore};

/// Selects the columns of a [`StudyRow`], `INNER` of studies that somebody made, `LEFT` of all.
macro_rules! select_studies {
    ($join:literal, $rest:literal) => {
        concat!(
            "SELECT s.number, s.id, COALESCE(p.id, '') AS owner, s.title, s.variant, s.moves, s.start, s.comments, s.listed, ",
            "s.version, s.made_at, s.changed_at FROM study s ",
            $join,
            " JOIN player p ON p.key = s.owner ",
            $rest
        )
    };
}

#[async_trait]
impl StudyStore for SqliteStore {
    async fn study(&self, id: &StudyId) -> Result<Option<StoredStudy>, StoreError> {
        let id = id.clone();
        self.readers.read(move |connection| study(connection, &id)).await
    }

    async fn studies_of(&self, owner: &PlayerId) -> Result<Vec<StoredStudy>, StoreError> {
        let owner = owner.clone();
        self.readers.read(move |connection| studies_of(connection, &owner)).await
    }

    async fn listed_studies(&self, before: Option<u64>, limit: u32) -> Result<Vec<StoredStudy>, StoreError> {
        self.readers.read(move |connection| listed(connection, before, limit)).await
    }
}

fn study(connection: &Connection, id: &StudyId) -> Result<Option<StoredStudy>, StoreError> {
    let query = db::query_as(select_studies!("INNER", "WHERE s.id = ?")).bind(id.as_str());
    let row: Option<StudyRow> = query.fetch_optional(connection)?;
    Ok(row.map(StudyRow::decode).transpose()?)
}

fn studies_of(connection: &Connection, owner: &PlayerId) -> Result<Vec<StoredStudy>, StoreError> {
    let sql = select_studies!("INNER", "WHERE p.id = ? ORDER BY s.number DESC");
    decode_studies(db::query_as(sql).bind(owner.as_str()).fetch_all(connection)?)
}

fn listed(connection: &Connection, before: Option<u64>, limit: u32) -> Result<Vec<StoredStudy>, StoreError> {
    let sql = select_studies!("INNER", "WHERE s.listed AND s.number < ? ORDER BY s.number DESC LIMIT ?");
    let query = db::query_as(sql).bind(to_sql(before.unwrap_or(u64::MAX))).bind(limit);
    decode_studies(query.fetch_all(connection)?)
}

pub(super) fn audit(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<Result<StoredStudy, DamagedStudy>>, StoreError> {
    let query = db::query_as(select_studies!("LEFT", "WHERE s.number > ? ORDER BY s.number LIMIT ?"));
    let rows: Vec<StudyRow> = query.bind(to_sql(after)).bind(limit).fetch_all(connection)?;
    Ok(rows.into_iter().map(StudyRow::audited).collect())
}

pub(super) fn add(connection: &Connection, new: &NewStudy) -> WriteOutcome {
    let sql = "SELECT p.key, count(s.number) FROM player p LEFT JOIN study s ON s.owner = p.key \
               WHERE p.id = ? AND p.kind = 'human' GROUP BY p.key";
    let owner: Option<(i64, i64)> = db::query_as(sql).bind(new.owner.as_str()).fetch_optional(connection)?;
    let Some((owner, others)) = owner else { return Ok(Err(Refused::NoSuchPlayer)) };
    if usize::try_from(others).is_ok_and(|others| others >= STUDIES_MAX) {
        return Ok(Err(Refused::TooMany));
    }
    let sql = "INSERT INTO study (id, owner, title, variant, moves, start, comments, listed, version, made_at, \
               changed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?9) ON CONFLICT DO NOTHING";
    let NewStudy { id, owner: _, study, at } = new;
    let query = db::query(sql)
        .bind(id.as_str())
        .bind(owner)
        .bind(study.title())
        .bind(study.game().variant().to_string())
        .bind(study.game().notation())
        .bind(study.start())
        .bind(encode_comments(study.comments()))
        .bind(study.listing.is_listed())
        .bind(at.0);
    Ok(done_if(query.execute(connection)?, Refused::IdTaken))
}

pub(super) fn change(connection: &Connection, change: &StudyChange) -> WriteOutcome {
    let StudyChange { id, owner, study, version, at } = change;
    let sql = "SELECT s.version FROM study s JOIN player p ON p.key = s.owner WHERE s.id = ? AND p.id = ?";
    let query = db::query_scalar(sql).bind(id.as_str()).bind(owner.as_str());
    let found: Option<i64> = query.fetch_optional(connection)?;
    match found {
        None => return Ok(Err(Refused::NoSuchStudy)),
        Some(found) if found != i64::from(*version) => return Ok(Err(Refused::StudyChanged)),
        Some(_) => {}
    }
    let sql = "UPDATE study SET title = ?, variant = ?, moves = ?, start = ?, comments = ?, listed = ?, \
               version = version + 1, changed_at = ? WHERE id = ?";
    db::query(sql)
        .bind(study.title())
        .bind(study.game().variant().to_string())
        .bind(study.game().notation())
        .bind(study.start())
        .bind(encode_comments(study.comments()))
        .bind(study.listing.is_listed())
        .bind(at.0)
        .bind(id.as_str())
        .execute(connection)?;
    Ok(Ok(Written::Done))
}

pub(super) fn drop(connection: &Connection, id: &StudyId, owner: &PlayerId) -> WriteOutcome {
    let sql = "DELETE FROM study WHERE id = ? AND owner = (SELECT key FROM player WHERE id = ?)";
    let query = db::query(sql).bind(id.as_str()).bind(owner.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchStudy))
}

/// An operator takes a study away.
pub(super) fn remove(connection: &Connection, id: &StudyId, because: &Because) -> WriteOutcome {
    let query = db::query_scalar("DELETE FROM study WHERE id = ? RETURNING title").bind(id.as_str());
    let title: Option<String> = query.fetch_optional(connection)?;
    let Some(title) = title else { return Ok(Err(Refused::NoSuchStudy)) };
    operator_log::note(connection, &AuditNote::remove_study(id, title), because)?;
    Ok(Ok(Written::Done))
}
