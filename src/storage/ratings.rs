//! What is read of ratings, live and published.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::error::StoreError;
use super::published::{Against, CorrespondenceResult, Publication, RatedGame, VoidedGame};
use super::record::{HistoryPoint, LeaderboardRow, RatingRow};
use super::refit::RefitGame;
use super::resets::RatingReset;
use crate::model::ids::{GameId, PlayerId};
use crate::model::population::Population;
use crate::model::time::UnixMillis;

/// The part of a store that is about ratings.
#[async_trait]
pub trait RatingStore {
    /// A player's rating in a variant, if it has played a rated game there.
    async fn rating(&self, player: &PlayerId, variant: Variant) -> Result<Option<RatingRow>, StoreError>;

    /// The ratings of those of these players who have played a rated game in a variant, in no order.
    async fn ratings_of_players(
        &self,
        players: &[PlayerId],
        variant: Variant,
    ) -> Result<Vec<(PlayerId, RatingRow)>, StoreError>;

    /// All ratings of a player.
    async fn ratings_of(&self, player: &PlayerId) -> Result<Vec<(Variant, RatingRow)>, StoreError>;

    /// The strongest players of a variant, at most `limit`, by rating and then by name.
    async fn leaderboard(
        &self,
        population: Population,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<LeaderboardRow>, StoreError>;

    /// How a player's rating in a variant went, the newest `limit` points of games with a number below `before`, the
    /// oldest first.
    async fn rating_history(
        &self,
        player: &PlayerId,
        variant: Variant,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<HistoryPoint>, StoreError>;

    /// Games that moved ratings, with a number above `after`, in order, at most `limit`. Damaged ones are left out.
    async fn rated_games(&self, after: u64, limit: u32) -> Result<Vec<RatedGame>, StoreError>;

    /// The numbers of the games of a variant between people that moved ratings and ended at or after a time: the last
    /// so many, in order. It reads what people have played, not what bots have.
    async fn rated_games_of_people(
        &self,
        variant: Variant,
        since: UnixMillis,
        limit: u32,
    ) -> Result<Vec<u64>, StoreError>;

    /// Games by correspondence that were to be rated and have ended, with a number above `after`, in order, at most
    /// `limit`. Those that an operator took out and damaged ones are left out.
    async fn correspondence_results(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<CorrespondenceResult>, StoreError>;

    /// The last games that moved a player's rating in a variant, the newest first, at most `limit`.
    async fn last_rated_games(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<RatedGame>, StoreError>;

    /// How a player's rated games in a variant ended, by opponent: those met most often first, then by their ids; at
    /// most `limit`.
    async fn crosstable(
        &self,
        player: &PlayerId,
        variant: Variant,
        limit: u32,
    ) -> Result<Vec<Against>, StoreError>;

    /// The joint fits as they were last stored. Their revision is that of the records now: it grows when a game is
    /// taken out or a player leaves, and nothing is stored then until it has been fitted again.
    async fn publication(&self) -> Result<Publication, StoreError>;

    /// The revision alone.
    async fn revision(&self) -> Result<u64, StoreError>;

    /// The variants whose ratings are owed since games of an account were taken out, and of each the number of the last
    /// game before them.
    async fn owed_ratings(&self) -> Result<Vec<(Variant, u64)>, StoreError>;

    /// Finished games of a variant that were meant to be rated, with a number above `after`, in order, at most `limit`.
    async fn refit_games(
        &self,
        variant: Variant,
        after: u64,
        limit: u32,
    ) -> Result<Vec<RefitGame>, StoreError>;

    /// Ratings of a player that began anew, or those of all players: in the order in which they did.
    async fn rating_resets(&self, only: Option<&PlayerId>) -> Result<Vec<RatingReset>, StoreError>;

    /// Finished games of a player that were not taken out, with a number above `after`, in order, at most `limit`.
    async fn games_that_count(
        &self,
        player: &PlayerId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, GameId)>, StoreError>;

    /// All games that operators took out, in the order in which they did.
    async fn voided_games(&self) -> Result<Vec<VoidedGame>, StoreError>;
}
