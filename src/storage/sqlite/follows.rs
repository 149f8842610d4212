//! Whom people follow, and whom they block.

use async_trait::async_trait;

use super::SqliteStore;
use super::db::{self, Connection};
use super::players::WriteOutcome;
use crate::model::ids::PlayerId;
use crate::storage::follows::{BLOCKS_MAX, FOLLOWS_MAX, FollowStore, Tie, TiedPlayer, is_full};
use crate::storage::rows::follows::{TiedRow, decode_pairs};
use crate::storage::store::{Refused, StoreError, Written};

#[async_trait]
impl FollowStore for SqliteStore {
    async fn follows_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| tied(connection, FOLLOWED, &player)).await
    }

    async fn blocks_of(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| tied(connection, BLOCKED, &player)).await
    }

    async fn all_blocks(&self) -> Result<Vec<(PlayerId, PlayerId)>, StoreError> {
        self.readers.read(all_blocks).await
    }
}

const FOLLOWED: &str = "SELECT o.id, o.name, o.kind, o.house, t.since, EXISTS (SELECT 1 FROM follow b \
                        WHERE b.player = o.key AND b.followed = p.key) AS is_mutual \
                        FROM player p JOIN follow t ON t.player = p.key JOIN player o ON o.key = t.followed \
                        WHERE p.id = ? ORDER BY o.name";

const BLOCKED: &str = "SELECT o.id, o.name, o.kind, o.house, t.since, EXISTS (SELECT 1 FROM block b \
                       WHERE b.player = o.key AND b.blocked = p.key) AS is_mutual \
                       FROM player p JOIN block t ON t.player = p.key JOIN player o ON o.key = t.blocked \
                       WHERE p.id = ? ORDER BY o.name";

fn tied(connection: &Connection, sql: &str, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
    let rows: Vec<TiedRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection)?;
    Ok(rows.into_iter().map(TiedRow::decode).collect::<Result<_, _>>()?)
}

fn all_blocks(connection: &Connection) -> Result<Vec<(PlayerId, PlayerId)>, StoreError> {
    let sql =
        "SELECT p.id, o.id FROM block t JOIN player p ON p.key = t.player JOIN player o ON o.key = t.blocked";
    Ok(decode_pairs(db::query_as(sql).fetch_all(connection)?)?)
}

/// The keys of two players and how many others the first one is tied to.
type Ends = Option<(i64, i64, i64)>;

pub(super) fn follow(connection: &Connection, follow: &Tie) -> WriteOutcome {
    let sql = "SELECT p.key, o.key, (SELECT count(*) FROM follow t WHERE t.player = p.key AND t.followed <> o.key) \
               FROM player p, player o WHERE p.id = ? AND p.kind = 'human' \
               AND o.id = ? AND o.kind <> 'guest' AND o.key <> p.key";
    let query = db::query_as(sql).bind(follow.player.as_str()).bind(follow.to.as_str());
    let ends: Ends = query.fetch_optional(connection)?;
    let Some((player, to, others)) = ends else { return Ok(Err(Refused::NoSuchPlayer)) };
    let blocks = db::query("SELECT 1 FROM block WHERE player = ? AND blocked = ?").bind(player).bind(to);
    if blocks.has_row(connection)? {
        return Ok(Err(Refused::Blocked));
    }
    if is_full(others, FOLLOWS_MAX) {
        return Ok(Err(Refused::TooMany));
    }
    let sql = "INSERT INTO follow (player, followed, since) VALUES (?, ?, ?) ON CONFLICT (player, followed) DO NOTHING";
    db::query(sql).bind(player).bind(to).bind(follow.since.0).execute(connection)?;
    Ok(Ok(Written::Done))
}

pub(super) fn unfollow(connection: &Connection, player: &PlayerId, followed: &PlayerId) -> WriteOutcome {
    let sql = "DELETE FROM follow WHERE player = (SELECT key FROM player WHERE id = ?) \
               AND followed = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).bind(followed.as_str()).execute(connection)?;
    Ok(Ok(Written::Done))
}

/// Blocks somebody, which ends what either follows of the other.
pub(super) fn block(connection: &Connection, block: &Tie) -> WriteOutcome {
    let sql = "SELECT p.key, o.key, (SELECT count(*) FROM block t WHERE t.player = p.key AND t.blocked <> o.key) \
               FROM player p, player o WHERE p.id = ? AND p.kind = 'human' \
               AND o.id = ? AND o.house = 0 AND o.key <> p.key";
    let query = db::query_as(sql).bind(block.player.as_str()).bind(block.to.as_str());
    let ends: Ends = query.fetch_optional(connection)?;
    let Some((player, to, others)) = ends else { return Ok(Err(Refused::NoSuchPlayer)) };
    if is_full(others, BLOCKS_MAX) {
        return Ok(Err(Refused::TooMany));
    }
    let sql = "INSERT INTO block (player, blocked, since) VALUES (?, ?, ?) ON CONFLICT (player, blocked) DO NOTHING";
    db::query(sql).bind(player).bind(to).bind(block.since.0).execute(connection)?;
    let sql = "DELETE FROM follow WHERE (player = ?1 AND followed = ?2) OR (player = ?2 AND followed = ?1)";
    db::query(sql).bind(player).bind(to).execute(connection)?;
    Ok(Ok(Written::Done))
}

pub(super) fn unblock(connection: &Connection, player: &PlayerId, blocked: &PlayerId) -> WriteOutcome {
    let sql = "DELETE FROM block WHERE player = (SELECT key FROM player WHERE id = ?) \
               AND blocked = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).bind(blocked.as_str()).execute(connection)?;
    Ok(Ok(Written::Done))
}
