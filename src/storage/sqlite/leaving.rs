//! Whoever leaves for good, and all that goes with them.

use super::db::{self, Connection};
use super::players::{self, WriteOutcome};
use super::{credentials, links, puzzles, tournaments};
use crate::model::ids::{PlayerId, PlayerName};
use crate::storage::store::Refused;

/// Makes of a player somebody who has left, by another name and without credentials. Its bots have left before.
pub(super) fn leave(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    let sql = "SELECT 1 FROM player WHERE owner = (SELECT key FROM player WHERE id = ?)";
    if db::query(sql).bind(player.as_str()).has_row(connection)? {
        return Ok(Err(Refused::OwnsBots));
    }
    let retired = players::retire(connection, player, name)?;
    if retired.is_err() {
        return Ok(retired);
    }
    puzzles::forget(connection, player)?;
    links::forget(connection, player)?;
    tournaments::forget(connection, player)?;
    credentials::revoke(connection, player, None)
}
