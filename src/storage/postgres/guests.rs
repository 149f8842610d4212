//! Guests that nobody comes back to. Their rows are used again for others: to delete one, the whole table of games
//! would be searched for it.

use super::db::{self, Connection};
use super::links;
use super::players::{WriteOutcome, done_if, forget_ties, name_is_taken};
use super::puzzles;
use super::reports;
use crate::model::ids::{GUEST_PREFIX, PlayerId};
use crate::storage::record::StoredPlayer;
use crate::storage::rows::{Damage, parsed};
use crate::storage::store::{IdleGuests, Refused, StoreError};

/// Whether a player is idle: $1 and $2 are the times, $3 is the pattern of guests' names.
macro_rules! is_idle {
    () => {
        "p.kind = 'guest' AND lower(p.name) LIKE lower($3) AND p.password IS NULL \
         AND NOT EXISTS (SELECT 1 FROM player_game o WHERE o.player = p.key) \
         AND NOT EXISTS (SELECT 1 FROM live_game l JOIN game g ON g.key = l.game \
                         WHERE p.key IN (g.first_player, g.second_player)) \
         AND coalesce((SELECT max(t.at) < $2 FROM puzzle_try t WHERE t.player = p.key), p.created_at < $1)"
    };
}

fn names() -> String {
    format!("{GUEST_PREFIX}%")
}

/// Some of them, the oldest first.
pub(super) async fn idle(
    connection: &Connection,
    idle: IdleGuests,
    limit: u32,
) -> Result<Vec<PlayerId>, StoreError> {
    let sql =
        concat!("SELECT p.id FROM player p WHERE ", is_idle!(), " ORDER BY p.created_at, p.id LIMIT $4");
    let query = db::query_scalar(sql).bind(idle.stored_before.0).bind(idle.tried_before.0);
    let ids: Vec<String> = query.bind(names()).bind(limit).fetch_all(connection).await?;
    let ids: Result<Vec<PlayerId>, Damage> = ids.iter().map(|id| parsed("player.id", id)).collect();
    Ok(ids?)
}

/// Makes another guest of the row of one who is idle.
pub(super) async fn replace(
    connection: &Connection,
    old: &PlayerId,
    new: &StoredPlayer,
    idle: IdleGuests,
) -> WriteOutcome {
    let sql = concat!("SELECT p.key FROM player p WHERE p.id = $4 AND ", is_idle!());
    let query = db::query_scalar(sql).bind(idle.stored_before.0).bind(idle.tried_before.0);
    let found: Option<i64> = query.bind(names()).bind(old.as_str()).fetch_optional(connection).await?;
    let Some(key) = found else { return Ok(Err(Refused::NoSuchPlayer)) };
    if name_is_taken(connection, &new.name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    puzzles::forget(connection, old).await?;
    links::forget(connection, old).await?;
    forget_ties(connection, old).await?;
    reports::forget_guest(connection, key).await?;
    let sql = "UPDATE player SET id = $1, name = $2, created_at = $3 WHERE key = $4";
    let query = db::query(sql).bind(new.id.as_str()).bind(new.name.as_str()).bind(new.created_at.0);
    let updated = query.bind(key).execute(connection).await?;
    Ok(done_if(updated, Refused::NoSuchPlayer))
}
