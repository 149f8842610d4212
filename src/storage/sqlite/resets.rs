//! Ratings that begin anew.

use super::db::{self, Connection};
use super::published;
use crate::model::ids::PlayerId;
use crate::storage::resets::{NewReset, RatingReset};
use crate::storage::rows::resets::{ResetRow, decode_resets};
use crate::storage::store::{Refused, StoreError, Written};

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

/// Selects the columns of a [`ResetRow`].
macro_rules! select_resets {
    ($rest:literal) => {
        concat!(
            "SELECT p.id AS player, r.at, r.after, r.version, r.reason \
             FROM rating_reset r JOIN player p ON p.key = r.player ",
            $rest
        )
    };
}

pub(super) fn all(connection: &Connection) -> Result<Vec<RatingReset>, StoreError> {
    let sql = select_resets!("ORDER BY r.at, r.player");
    let rows: Vec<ResetRow> = db::query_as(sql).fetch_all(connection)?;
    Ok(decode_resets(rows)?)
}

pub(super) fn of(connection: &Connection, player: &PlayerId) -> Result<Vec<RatingReset>, StoreError> {
    let sql = select_resets!("WHERE p.id = ?1 ORDER BY r.at");
    let rows: Vec<ResetRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection)?;
    Ok(decode_resets(rows)?)
}

/// Lets the ratings of a bot begin anew behind the last finished game.
pub(super) fn add(connection: &Connection, reset: &NewReset) -> WriteOutcome {
    let sql = "SELECT key FROM player WHERE id = ?1 AND kind = 'bot' AND house = 0";
    let query = db::query_scalar(sql).bind(reset.player.as_str());
    let Some(key): Option<i64> = query.fetch_optional(connection)? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let sql = "INSERT INTO rating_reset (player, at, after, version, reason) \
               SELECT ?1, ?2, (SELECT coalesce(max(number), 0) FROM settlement), ?3, ?4 \
               WHERE NOT EXISTS (SELECT 1 FROM rating_reset WHERE player = ?1 AND (at > ?5 OR at = ?2))";
    let query = db::query(sql).bind(key).bind(reset.at.0).bind(reset.version.as_str());
    let query = query.bind(reset.reason.as_str()).bind(reset.not_since.0);
    let added = query.execute(connection)?;
    if added == 0 {
        return Ok(Err(Refused::TooMany));
    }
    db::query("DELETE FROM rating WHERE player = ?1").bind(key).execute(connection)?;
    published::unpublish(connection)?;
    Ok(Ok(Written::Done))
}

/// Forgets the words, for a bot that leaves for good. The games before and after are told apart as before.
pub(super) fn forget(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "UPDATE rating_reset SET reason = '', version = '' \
               WHERE player = (SELECT key FROM player WHERE id = ?1)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    Ok(())
}
