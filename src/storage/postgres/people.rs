//! What is read of players and of what proves who they are.

use async_trait::async_trait;

use super::PostgresStore;
use super::db;
use super::guests;
use super::players::{select_players, select_tokens};
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::lookalike::Outline;
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore;
use crate::storage::record::{StoredPlayer, StoredToken};
use crate::storage::rows::players::{PlayerRow, TokenRow, decode_players, decode_tokens};
use crate::storage::store::{IdleGuests, StoreError};

#[async_trait]
impl PeopleStore for PostgresStore {
    async fn player(&self, id: &PlayerId) -> Result<Option<StoredPlayer>, StoreError> {
        let read = |ids: Vec<PlayerId>| async move {
            let players = self.players(&ids).await?;
            Ok(players.into_iter().map(|player| (player.id.clone(), player)).collect())
        };
        self.players_asked.get(id.clone(), read).await
    }

    async fn player_by_name(&self, name: &PlayerName) -> Result<Option<StoredPlayer>, StoreError> {
        let query = db::query_as(select_players!("WHERE lower(p.name) = lower($1)")).bind(name.as_str());
        let row: Option<PlayerRow> = query.fetch_optional(&*self.reader().await?).await?;
        Ok(row.map(PlayerRow::decode).transpose()?)
    }

    async fn players(&self, ids: &[PlayerId]) -> Result<Vec<StoredPlayer>, StoreError> {
        let ids: Vec<&str> = ids.iter().map(PlayerId::as_str).collect();
        let query = db::query_as(select_players!("WHERE p.id = ANY($1)")).bind(ids);
        decode_players(query.fetch_all(&*self.reader().await?).await?)
    }

    async fn lookalikes(&self, outline: &Outline) -> Result<Vec<StoredPlayer>, StoreError> {
        let sql = select_players!("WHERE translate(lower(p.name), '1i0_', 'llo-') = $1");
        decode_players(db::query_as(sql).bind(outline.as_str()).fetch_all(&*self.reader().await?).await?)
    }

    async fn house_bots(&self) -> Result<Vec<StoredPlayer>, StoreError> {
        let query = db::query_as(select_players!("WHERE p.house ORDER BY lower(p.name)"));
        decode_players(query.fetch_all(&*self.reader().await?).await?)
    }

    async fn bots_of(&self, owner: &PlayerId) -> Result<Vec<StoredPlayer>, StoreError> {
        let sql = select_players!("WHERE o.id = $1 ORDER BY lower(p.name)");
        decode_players(db::query_as(sql).bind(owner.as_str()).fetch_all(&*self.reader().await?).await?)
    }

    async fn idle_guests(&self, idle: IdleGuests, limit: u32) -> Result<Vec<PlayerId>, StoreError> {
        guests::idle(&*self.reader().await?, idle, limit).await
    }

    async fn password(&self, player: &PlayerId) -> Result<Option<String>, StoreError> {
        let query = db::query_scalar("SELECT password FROM player WHERE id = $1").bind(player.as_str());
        let password: Option<Option<String>> = query.fetch_optional(&*self.reader().await?).await?;
        Ok(password.flatten())
    }

    async fn token(&self, digest: &[u8; 32], now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        let read = |digests: Vec<[u8; 32]>| async move {
            let digests: Vec<Vec<u8>> = digests.iter().map(|digest| digest.to_vec()).collect();
            let query = db::query_as(select_tokens!("WHERE t.digest = ANY($1)")).bind(digests);
            let tokens = decode_tokens(query.fetch_all(&*self.reader().await?).await?)?;
            Ok(tokens.into_iter().map(|token| (token.digest, token)).collect())
        };
        let found = self.tokens_asked.get(*digest, read).await?;
        Ok(found.filter(|token| token.expires_at.is_none_or(|end| end > now)))
    }

    async fn token_by_id(&self, id: &TokenId, now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        let sql = select_tokens!("WHERE t.id = $1 AND (t.expires_at IS NULL OR t.expires_at > $2)");
        let query = db::query_as(sql).bind(id.as_str()).bind(now.0);
        let row: Option<TokenRow> = query.fetch_optional(&*self.reader().await?).await?;
        Ok(row.map(TokenRow::decode).transpose()?)
    }

    async fn tokens_of(&self, player: &PlayerId, now: UnixMillis) -> Result<Vec<StoredToken>, StoreError> {
        let sql = select_tokens!(
            "WHERE p.id = $1 AND (t.expires_at IS NULL OR t.expires_at > $2) \
             ORDER BY t.created_at DESC, t.id DESC"
        );
        let query = db::query_as(sql).bind(player.as_str()).bind(now.0);
        decode_tokens(query.fetch_all(&*self.reader().await?).await?)
    }
}
