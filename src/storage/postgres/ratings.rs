//! Ratings, leaderboards and histories.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::db::{self, Connection};
use super::{PostgresStore, published, refit, resets};
use crate::model::ids::{GameId, PlayerId};
use crate::model::population::Population;
use crate::model::rating::elo::MilliElo;
use crate::model::time::UnixMillis;
use crate::storage::published::{Against, CorrespondenceResult, Publication, RatedGame, VoidedGame};
use crate::storage::ratings::RatingStore;
use crate::storage::record::{HistoryPoint, LeaderboardRow, RatingRow};
use crate::storage::refit::RefitGame;
use crate::storage::resets::RatingReset;
use crate::storage::rows::ratings::{BoardRow, PlayerRatingRow};
use crate::storage::rows::{Damage, parsed, to_sql};
use crate::storage::store::StoreError;

/// Selects the columns of a [`PlayerRatingRow`].
macro_rules! select_ratings {
    ($rest:literal) => {
        concat!(
            "SELECT p.id AS player, r.variant, r.rating, r.games, r.wins, r.draws, r.losses ",
            "FROM rating r JOIN player p ON p.key = r.player ",
            $rest
        )
    };
}
pub(super) use select_ratings;

#[async_trait]
impl RatingStore for PostgresStore {
    async fn rating(&self, player: &PlayerId, variant: Variant) -> Result<Option<RatingRow>, StoreError> {
        one(&*self.reader().await?, player, variant).await
    }

    async fn ratings_of_players(
        &self,
        players: &[PlayerId],
        variant: Variant,
    ) -> Result<Vec<(PlayerId, RatingRow)>, StoreError> {
        of_players(&*self.reader().await?, players, variant).await
    }

    async fn ratings_of(&self, player: &PlayerId) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
        of_player(&*self.reader().await?, player).await
    }

    async fn leaderboard(
        &self,
        population: Population,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<LeaderboardRow>, StoreError> {
        leaderboard(&*self.reader().await?, population, variant, limit).await
    }

    async fn rating_history(
        &self,
        player: &PlayerId,
        variant: Variant,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<HistoryPoint>, StoreError> {
        history(&*self.reader().await?, player, variant, before, limit).await
    }

    async fn rated_games(&self, after: u64, limit: u32) -> Result<Vec<RatedGame>, StoreError> {
        published::rated_games(&*self.reader().await?, after, limit).await
    }

    async fn rated_games_of_people(
        &self,
        variant: Variant,
        since: UnixMillis,
        limit: u32,
    ) -> Result<Vec<u64>, StoreError> {
        published::rated_games_of_people(&*self.reader().await?, variant, since, limit).await
    }

    async fn correspondence_results(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<CorrespondenceResult>, StoreError> {
        published::correspondence_results(&*self.reader().await?, after, limit).await
    }

    async fn last_rated_games(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<RatedGame>, StoreError> {
        published::last_rated_games(&*self.reader().await?, player, variant, limit).await
    }

    async fn crosstable(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<Against>, StoreError> {
        published::crosstable(&*self.reader().await?, player, variant, limit).await
    }

    async fn publication(&self) -> Result<Publication, StoreError> {
        let moment = self.moment().await?;
        let publication = published::read_publication(&moment).await?;
        moment.end().await?;
        Ok(publication)
    }

    async fn revision(&self) -> Result<u64, StoreError> {
        published::revision(&*self.reader().await?).await
    }

    async fn owed_ratings(&self) -> Result<Vec<(Variant, u64)>, StoreError> {
        refit::owed(&*self.reader().await?).await
    }

    async fn refit_games(
        &self,
        variant: Variant,
        after: u64,
        limit: u32,
    ) -> Result<Vec<RefitGame>, StoreError> {
        refit::games(&*self.reader().await?, variant, after, limit).await
    }

    async fn rating_resets(&self, only: Option<&PlayerId>) -> Result<Vec<RatingReset>, StoreError> {
        let reader = self.reader().await?;
        match only {
            Some(player) => resets::of(&reader, player).await,
            None => resets::all(&reader).await,
        }
    }

    async fn games_that_count(
        &self,
        player: &PlayerId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, GameId)>, StoreError> {
        refit::that_count(&*self.reader().await?, player, after, limit).await
    }

    async fn voided_games(&self) -> Result<Vec<VoidedGame>, StoreError> {
        published::voided_games(&*self.reader().await?).await
    }
}

pub(super) async fn of_player(
    connection: &Connection,
    player: &PlayerId,
) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
    let sql = select_ratings!("WHERE p.id = $1 ORDER BY r.variant");
    let rows: Vec<PlayerRatingRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.variant()?, row.decode()?))).collect()
}

pub(super) async fn one(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
) -> Result<Option<RatingRow>, StoreError> {
    let sql = select_ratings!("WHERE p.id = $1 AND r.variant = $2");
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string());
    let row: Option<PlayerRatingRow> = query.fetch_optional(connection).await?;
    Ok(row.map(|row| row.decode()).transpose()?)
}

pub(super) async fn of_players(
    connection: &Connection,
    players: &[PlayerId],
    variant: Variant,
) -> Result<Vec<(PlayerId, RatingRow)>, StoreError> {
    let sql = select_ratings!("WHERE p.id = ANY($1) AND r.variant = $2");
    let query = db::query_as(sql)
        .bind(players.iter().map(PlayerId::as_str).collect::<Vec<&str>>())
        .bind(variant.to_string());
    let rows: Vec<PlayerRatingRow> = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.player)?, row.decode()?))).collect()
}

pub(super) async fn all(connection: &Connection) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
    let rows: Vec<PlayerRatingRow> = db::query_as(select_ratings!("")).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.player)?, row.variant()?, row.decode()?))).collect()
}

pub(super) async fn leaderboard(
    connection: &Connection,
    population: Population,
    variant: Variant,
    limit: u32,
) -> Result<Vec<LeaderboardRow>, StoreError> {
    let sql = "SELECT p.id, p.name, p.kind, p.house, o.id AS owner, p.version, p.about, p.url, p.language, p.created_at, \
               p.banned_because, p.banned_until, p.muted_because, p.muted_until, p.start, p.picture, p.flag, p.line, \
               r.rating, r.games, r.wins, r.draws, r.losses \
               FROM rating r JOIN player p ON p.key = r.player LEFT JOIN player o ON o.key = p.owner \
               WHERE r.variant = $1 AND p.kind IN ($2, $3) ORDER BY r.rating DESC, lower(p.name) LIMIT $4";
    let [kind, other] = match population {
        Population::All => ["human", "bot"],
        Population::People => ["human", "human"],
        Population::Bots => ["bot", "bot"],
    };
    let query = db::query_as(sql).bind(variant.to_string()).bind(kind).bind(other).bind(limit);
    let rows: Vec<BoardRow> = query.fetch_all(connection).await?;
    let rows: Result<Vec<_>, Damage> = rows.into_iter().map(BoardRow::decode).collect();
    Ok(LeaderboardRow::ranked(rows?))
}

pub(super) async fn history(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<HistoryPoint>, StoreError> {
    let sql = "SELECT g.id, n.ended_at, e.before, e.after FROM rating_entry e \
               JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
               WHERE e.player = (SELECT key FROM player WHERE id = $1) AND e.variant = $2 \
               AND e.number < $3 ORDER BY e.number DESC LIMIT $4";
    let before = before.map_or(i64::MAX, to_sql);
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(before).bind(limit);
    let rows: Vec<(String, i64, i64, i64)> = query.fetch_all(connection).await?;
    let point = |(game, at, before, after): (String, i64, i64, i64)| {
        let game = parsed("game.id", &game)?;
        Ok(HistoryPoint { game, at: UnixMillis(at), before: MilliElo(before), after: MilliElo(after) })
    };
    rows.into_iter().rev().map(point).collect()
}
