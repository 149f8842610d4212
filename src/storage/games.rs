//! What is read of games.

use std::collections::HashMap;

use async_trait::async_trait;
use fourfold_engine::BySide;

use super::error::StoreError;
use super::record::{DamagedGame, StoredGame};
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;

/// Which finished games to read, in the order in which they finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameQuery {
    /// Only games of this player.
    pub player: Option<PlayerId>,
    /// Only games that ended at or after this time.
    pub since: Option<UnixMillis>,
    /// Only games with a higher number (ascending), or with a lower one (descending).
    pub after: Option<u64>,
    /// The newest first instead of the oldest.
    pub newest_first: bool,
    /// At most so many.
    pub limit: u32,
}

/// The part of a store that is about games.
#[async_trait]
pub trait GameStore {
    /// All games that have not finished, for the start of the daemon; damaged ones too.
    async fn unfinished_games(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError>;

    /// Those of them that are not damaged.
    async fn live_games(&self) -> Result<Vec<StoredGame>, StoreError> {
        Ok(self.unfinished_games().await?.into_iter().filter_map(Result::ok).collect())
    }

    /// One game, live or finished.
    async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError>;

    /// Finished games. Damaged ones are left out, with a line in the log.
    async fn finished_games(&self, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError>;

    /// The last game of each series, those of tournaments too, that is not complete and whose last game ended at or
    /// after this time. Damaged ones are left out.
    async fn open_series(&self, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError>;

    /// Who has aborted or left a game that ended at or after this time, and when, the earliest first; guests left out.
    async fn departures(&self, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError>;

    /// The illegal moves of both sides in those games that go on in which there were some.
    async fn illegal_moves(&self) -> Result<HashMap<GameId, BySide<u8>>, StoreError>;

    /// How many rated games two players have begun since a time.
    async fn rated_games_between(
        &self,
        players: &BySide<PlayerId>,
        since: UnixMillis,
    ) -> Result<u32, StoreError>;
}
