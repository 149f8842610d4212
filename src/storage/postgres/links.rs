//! Links to open challenges.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::ids::{ChallengeId, PlayerId, PlayerName};
use crate::storage::links::{LinkStore, StoredLink};
use crate::storage::rows::links::{LinkRow, decode_links};
use crate::storage::store::{Refused, StoreError};
use crate::storage::words::Word as _;
use crate::system::config::SiteOrigin;

#[async_trait]
impl LinkStore for PostgresStore {
    async fn links(&self) -> Result<Vec<StoredLink>, StoreError> {
        links(&*self.reader().await?).await
    }
}

async fn links(connection: &Connection) -> Result<Vec<StoredLink>, StoreError> {
    let query = db::query_as("SELECT * FROM challenge_link ORDER BY expires_at, id");
    let rows: Vec<LinkRow> = query.fetch_all(connection).await?;
    Ok(decode_links(rows))
}

pub(super) async fn open(connection: &Connection, link: &StoredLink) -> WriteOutcome {
    let sql = "INSERT INTO challenge_link (id, maker, guest, variant, bank_ms, increment_ms, move_ms, rated, is_load, \
               opening_kind, opening_moves, games, side, site, request_key, expires_at, listed, \
               is_private, asked) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
               ON CONFLICT DO NOTHING";
    let query = db::query(sql)
        .bind(link.id.as_str())
        .bind(link.maker.as_str())
        .bind(link.guest.as_ref().map(PlayerName::as_str))
        .bind(link.variant.to_string())
        .bind(link.time.bank_ms)
        .bind(link.time.increment_ms)
        .bind(link.time.move_ms)
        .bind(link.rated)
        .bind(link.is_load)
        .bind(link.opening.as_ref().map(|opening| opening.kind.word()))
        .bind(link.opening.as_ref().map(|opening| opening.moves.as_str()))
        .bind(link.games)
        .bind(link.side.word())
        .bind(link.site.as_ref().map(SiteOrigin::as_str))
        .bind(link.key.as_deref())
        .bind(link.expires_at.0)
        .bind(link.is_listed)
        .bind(link.is_private)
        .bind(link.to.as_ref().map(PlayerId::as_str));
    Ok(done_if(query.execute(connection).await?, Refused::IdTaken))
}

pub(super) async fn close(connection: &Connection, id: &ChallengeId) -> WriteOutcome {
    let query = db::query("DELETE FROM challenge_link WHERE id = $1").bind(id.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchLink))
}

/// Closes the challenges by and to somebody who is gone.
pub(super) async fn forget(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let query = db::query("DELETE FROM challenge_link WHERE maker = $1 OR asked = $1").bind(player.as_str());
    query.execute(connection).await?;
    Ok(())
}
