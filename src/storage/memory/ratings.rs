//! Ratings in memory.

use async_trait::async_trait;
use fourfold_engine::{Side, Variant};

use super::{MemoryStore, ended_at};
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::rating::elo::RatingEntry;
use crate::model::time::UnixMillis;
use crate::storage::published::{Against, CorrespondenceResult, Publication, RatedGame, VoidedGame};
use crate::storage::ratings::RatingStore;
use crate::storage::record::{HistoryPoint, LeaderboardRow, RatingRow, StoredGame, StoredPlayer};
use crate::storage::refit::RefitGame;
use crate::storage::resets::RatingReset;
use crate::storage::store::StoreError;

#[async_trait]
impl RatingStore for MemoryStore {
    async fn rating(&self, player: &PlayerId, variant: Variant) -> Result<Option<RatingRow>, StoreError> {
        self.seek().await?;
        let mut tables = self.tables();
        tables.reach("rating")?;
        Ok(tables.ratings.get(&(player.clone(), variant)).copied())
    }

    async fn ratings_of_players(
        &self,
        players: &[PlayerId],
        variant: Variant,
    ) -> Result<Vec<(PlayerId, RatingRow)>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let row = |id: &PlayerId| Some((id.clone(), *tables.ratings.get(&(id.clone(), variant))?));
        Ok(players.iter().filter_map(row).collect())
    }

    async fn ratings_of(&self, player: &PlayerId) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
        let tables = self.tables();
        let own = tables.ratings.iter().filter(|((id, _), _)| id == player);
        let mut ratings: Vec<(Variant, RatingRow)> =
            own.map(|((_, variant), row)| (*variant, *row)).collect();
        ratings.sort_by_key(|(variant, _)| variant.to_string());
        Ok(ratings)
    }

    async fn leaderboard(
        &self,
        population: Population,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<LeaderboardRow>, StoreError> {
        let tables = self.tables();
        let here = tables.ratings.iter().filter(|((_, of), _)| *of == variant);
        let mut rows: Vec<(StoredPlayer, RatingRow)> = here
            .filter_map(|((id, _), row)| Some((tables.players.get(id)?.clone(), *row)))
            .filter(|(player, _)| population.includes(player.kind))
            .collect();
        rows.sort_by_key(|(player, row)| (-row.standing.rating.0, player.name.key()));
        rows.truncate(limit as usize);
        Ok(LeaderboardRow::ranked(rows))
    }

    async fn rating_history(
        &self,
        player: &PlayerId,
        variant: Variant,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<HistoryPoint>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let point = |(_, game): (u64, &StoredGame)| {
            let ratings = game.settlement.as_ref()?.ratings?;
            let side = Side::BOTH.into_iter().find(|side| game.spec.players[*side] == *player)?;
            let RatingEntry { before, after, .. } = ratings[side];
            Some(HistoryPoint { game: game.spec.id.clone(), at: ended_at(game), before, after })
        };
        let here = tables.finished_games().rev().filter(|(number, game)| {
            game.spec.variant == variant && before.is_none_or(|before| *number < before)
        });
        let mut points: Vec<HistoryPoint> = here.filter_map(point).take(limit as usize).collect();
        points.reverse();
        Ok(points)
    }

    async fn rated_games(&self, after: u64, limit: u32) -> Result<Vec<RatedGame>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        Ok(tables.rated_games().filter(|game| game.number > after).take(limit as usize).collect())
    }

    async fn rated_games_of_people(
        &self,
        variant: Variant,
        since: UnixMillis,
        limit: u32,
    ) -> Result<Vec<u64>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let kind = |player: &PlayerId| tables.players.get(player).map(|player| player.kind);
        let is_person = |player: &PlayerId| kind(player) != Some(PlayerKind::Bot);
        let games = tables.rated_games().rev().filter(|game| {
            let RatedGame { players, ended_at, .. } = game;
            game.variant == variant
                && *ended_at >= since
                && is_person(&players.first)
                && is_person(&players.second)
        });
        let mut numbers: Vec<u64> = games.map(|game| game.number).take(limit as usize).collect();
        numbers.reverse();
        Ok(numbers)
    }

    async fn correspondence_results(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<CorrespondenceResult>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let results = tables.finished_games().filter_map(|(_, game)| CorrespondenceResult::of(game));
        Ok(results.filter(|game| game.number > after).take(limit as usize).collect())
    }

    async fn last_rated_games(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<RatedGame>, StoreError> {
        let tables = self.tables();
        let plays = |game: &RatedGame| game.players.first == *player || game.players.second == *player;
        let own = tables.rated_games().rev().filter(|game| game.variant == variant && plays(game));
        Ok(own.take(limit as usize).collect())
    }

    async fn crosstable(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<Against>, StoreError> {
        let mut rows = self.tables().crosstable(player, variant);
        rows.truncate(limit as usize);
        Ok(rows)
    }

    async fn publication(&self) -> Result<Publication, StoreError> {
        Ok(self.tables().publication.clone())
    }

    async fn revision(&self) -> Result<u64, StoreError> {
        Ok(self.tables().publication.revision)
    }

    async fn owed_ratings(&self) -> Result<Vec<(Variant, u64)>, StoreError> {
        let tables = self.tables();
        let owed = tables.owed.iter().filter_map(|(variant, after)| Some((variant.parse().ok()?, *after)));
        Ok(owed.collect())
    }

    async fn refit_games(
        &self,
        variant: Variant,
        after: u64,
        limit: u32,
    ) -> Result<Vec<RefitGame>, StoreError> {
        Ok(self.tables().refit_games(variant, after).take(limit as usize).collect())
    }

    async fn rating_resets(&self, only: Option<&PlayerId>) -> Result<Vec<RatingReset>, StoreError> {
        let tables = self.tables();
        let wanted = tables.resets.iter().filter(|reset| only.is_none_or(|player| reset.player == *player));
        Ok(wanted.cloned().collect())
    }

    async fn games_that_count(
        &self,
        player: &PlayerId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, GameId)>, StoreError> {
        let tables = self.tables();
        let is_wanted = |(number, game): &(u64, &StoredGame)| {
            let spec = &game.spec;
            let plays = spec.players.first == *player || spec.players.second == *player;
            *number > after && plays && !tables.is_voided(&spec.id)
        };
        let games = tables.finished_games().filter(is_wanted).take(limit as usize);
        Ok(games.map(|(number, game)| (number, game.spec.id.clone())).collect())
    }

    async fn voided_games(&self) -> Result<Vec<VoidedGame>, StoreError> {
        Ok(self.tables().voided.clone())
    }
}
