//! Ratings, leaderboards and histories.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::convert::id_list;
use super::db::{self, Connection};
use super::{SqliteStore, published, refit, resets};
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

#[async_trait]
impl RatingStore for SqliteStore {
    async fn rating(&self, player: &PlayerId, variant: Variant) -> Result<Option<RatingRow>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| one(connection, &player, variant)).await
    }

    async fn ratings_of_players(
        &self,
        players: &[PlayerId],
        variant: Variant,
    ) -> Result<Vec<(PlayerId, RatingRow)>, StoreError> {
        let players = players.to_vec();
        self.readers.read(move |connection| of_players(connection, &players, variant)).await
    }

    async fn ratings_of(&self, player: &PlayerId) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| of_player(connection, &player)).await
    }

    async fn leaderboard(
        &self,
        population: Population,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<LeaderboardRow>, StoreError> {
        self.readers.read(move |connection| leaderboard(connection, population, variant, limit)).await
    }

    async fn rating_history(
        &self,
        player: &PlayerId,
        variant: Variant,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<HistoryPoint>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| history(connection, &player, variant, before, limit)).await
    }

    async fn rated_games(&self, after: u64, limit: u32) -> Result<Vec<RatedGame>, StoreError> {
        self.readers.read(move |connection| published::rated_games(connection, after, limit)).await
    }

    async fn rated_games_of_people(
        &self,
        variant: Variant,
        since: UnixMillis,
        limit: u32,
    ) -> Result<Vec<u64>, StoreError> {
        self.readers
            .read(move |connection| published::rated_games_of_people(connection, variant, since, limit))
            .await
    }

    async fn correspondence_results(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<CorrespondenceResult>, StoreError> {
        self.readers.read(move |connection| published::correspondence_results(connection, after, limit)).await
    }

    async fn last_rated_games(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<RatedGame>, StoreError> {
        let player = player.clone();
        self.readers
            .read(move |connection| published::last_rated_games(connection, &player, variant, limit))
            .await
    }

    async fn crosstable(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<Against>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| published::crosstable(connection, &player, variant, limit)).await
    }

    async fn publication(&self) -> Result<Publication, StoreError> {
        self.readers.read(published::publication).await
    }

    async fn revision(&self) -> Result<u64, StoreError> {
        self.readers.read(published::revision).await
    }

    async fn owed_ratings(&self) -> Result<Vec<(Variant, u64)>, StoreError> {
        self.readers.read(refit::owed).await
    }

    async fn refit_games(
        &self,
        variant: Variant,
        after: u64,
        limit: u32,
    ) -> Result<Vec<RefitGame>, StoreError> {
        self.readers.read(move |connection| refit::games(connection, variant, after, limit)).await
    }

    async fn rating_resets(&self, only: Option<&PlayerId>) -> Result<Vec<RatingReset>, StoreError> {
        let only = only.cloned();
        let read = move |connection: &Connection| match only {
            Some(player) => resets::of(connection, &player),
            None => resets::all(connection),
        };
        self.readers.read(read).await
    }

    async fn games_that_count(
        &self,
        player: &PlayerId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, GameId)>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| refit::that_count(connection, &player, after, limit)).await
    }

    async fn voided_games(&self) -> Result<Vec<VoidedGame>, StoreError> {
        self.readers.read(published::voided_games).await
    }
}

pub(super) fn of_player(
    connection: &Connection,
    player: &PlayerId,
) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
    let sql = select_ratings!("WHERE p.id = ? ORDER BY r.variant");
    let rows: Vec<PlayerRatingRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection)?;
    rows.iter().map(|row| Ok((row.variant()?, row.decode()?))).collect()
}

pub(super) fn one(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
) -> Result<Option<RatingRow>, StoreError> {
    let sql = select_ratings!("WHERE p.id = ? AND r.variant = ?");
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string());
    let row: Option<PlayerRatingRow> = query.fetch_optional(connection)?;
    Ok(row.map(|row| row.decode()).transpose()?)
}

pub(super) fn of_players(
    connection: &Connection,
    players: &[PlayerId],
    variant: Variant,
) -> Result<Vec<(PlayerId, RatingRow)>, StoreError> {
    let sql = select_ratings!("WHERE p.id IN (SELECT value FROM json_each(?)) AND r.variant = ?");
    let query = db::query_as(sql).bind(id_list(players)).bind(variant.to_string());
    let rows: Vec<PlayerRatingRow> = query.fetch_all(connection)?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.player)?, row.decode()?))).collect()
}

pub(super) fn all(connection: &Connection) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
    let rows: Vec<PlayerRatingRow> = db::query_as(select_ratings!("")).fetch_all(connection)?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.player)?, row.variant()?, row.decode()?))).collect()
}

pub(super) fn leaderboard(
    connection: &Connection,
    population: Population,
    variant: Variant,
    limit: u32,
) -> Result<Vec<LeaderboardRow>, StoreError> {
    let sql = "SELECT p.id, p.name, p.kind, p.house, o.id AS owner, p.version, p.about, p.url, p.language, p.created_at, \
               p.banned_because, p.banned_until, p.muted_because, p.muted_until, p.start, p.picture, p.flag, p.line, \
               r.rating, r.games, r.wins, r.draws, r.losses \
               FROM rating r JOIN player p ON p.key = r.player LEFT JOIN player o ON o.key = p.owner \
               WHERE r.variant = ? AND p.kind IN (?, ?) ORDER BY r.rating DESC, p.name LIMIT ?";
    let [kind, other] = match population {
        Population::All => ["human", "bot"],
        Population::People => ["human", "human"],
        Population::Bots => ["bot", "bot"],
    };
    let query = db::query_as(sql).bind(variant.to_string()).bind(kind).bind(other).bind(limit);
    let rows: Vec<BoardRow> = query.fetch_all(connection)?;
    let rows: Result<Vec<_>, Damage> = rows.into_iter().map(BoardRow::decode).collect();
    Ok(LeaderboardRow::ranked(rows?))
}

pub(super) fn history(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<HistoryPoint>, StoreError> {
    let sql = "SELECT g.id, n.ended_at, e.before, e.after FROM rating_entry e \
               JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
               WHERE e.player = (SELECT key FROM player WHERE id = ?) AND e.variant = ? \
               AND e.number < ? ORDER BY e.number DESC LIMIT ?";
    let before = before.map_or(i64::MAX, to_sql);
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(before).bind(limit);
    let rows: Vec<(String, i64, i64, i64)> = query.fetch_all(connection)?;
    let point = |(game, at, before, after): (String, i64, i64, i64)| {
        let game = parsed("game.id", &game)?;
        Ok(HistoryPoint { game, at: UnixMillis(at), before: MilliElo(before), after: MilliElo(after) })
    };
    rows.into_iter().rev().map(point).collect()
}
