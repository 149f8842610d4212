//! What is read of games in memory.

use std::collections::HashMap;

use async_trait::async_trait;
use fourfold_engine::BySide;

use super::{MemoryStore, MemoryTables, ended_at, is_between};
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::games::{ChosenGames, GameQuery, GameStore, GamesWanted};
use crate::storage::record::{DamagedGame, GamePair, GameSpec, StoredGame};

#[async_trait]
impl GameStore for MemoryStore {
    async fn unfinished_games(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        Ok(tables.live.iter().map(|(id, _)| Ok(tables.games[id].clone())).collect())
    }

    async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        self.seek().await?;
        Ok(self.tables().games.get(id).cloned())
    }

    async fn finished_games(&self, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError> {
        self.seek().await?;
        let mut tables = self.tables();
        tables.reach("games")?;
        let wanted = |&(number, game): &(u64, &StoredGame)| {
            let in_reach = match query.after {
                None => true,
                Some(after) if query.newest_first => number < after,
                Some(after) => number > after,
            };
            let players = game.spec.players.as_ref();
            in_reach
                && query.player.as_ref().is_none_or(|id| players.first == id || players.second == id)
                && query.since.is_none_or(|since| ended_at(game) >= since)
                && query.seen_by.may_see(&game.spec)
        };
        let limit = query.limit as usize;
        let clone = |(_, game): (u64, &StoredGame)| game.clone();
        Ok(if query.newest_first {
            tables.finished_games().rev().filter(wanted).take(limit).map(clone).collect()
        } else {
            tables.finished_games().filter(wanted).take(limit).map(clone).collect()
        })
    }

    async fn chosen_games(&self, wanted: &GamesWanted) -> Result<ChosenGames, StoreError> {
        self.seek().await?;
        let mut tables = self.tables();
        tables.reach("games")?;
        Ok(tables.chosen(wanted))
    }

    async fn open_series(&self, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let goes_on = |pair: &GamePair| {
            let is_later = |other: &GamePair| other.id == pair.id && other.leg > pair.leg;
            tables.games.values().any(|game| game.spec.pair.as_ref().is_some_and(is_later))
        };
        let is_open = |game: &StoredGame| {
            let pair = game.spec.pair.as_ref().filter(|pair| pair.leg < pair.of);
            ended_at(game) >= since && pair.is_some_and(|pair| !goes_on(pair))
        };
        Ok(tables.finished_games().map(|(_, game)| game).filter(|game| is_open(game)).cloned().collect())
    }

    async fn departures(&self, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError> {
        let tables = self.tables();
        let departure = |(_, game): (u64, &StoredGame)| {
            let ending = game.ending().filter(|ending| ending.reason.is_departure())?;
            let player = tables.players.get(&game.spec.players[ending.by?])?;
            let counts = player.kind != PlayerKind::Guest && ended_at(game) >= since;
            counts.then(|| (player.id.clone(), ended_at(game)))
        };
        Ok(tables.finished_games().filter_map(departure).collect())
    }

    async fn illegal_moves(&self) -> Result<HashMap<GameId, BySide<u8>>, StoreError> {
        self.seek().await?;
        Ok(self.tables().illegal.clone())
    }

    async fn conditional_moves(
        &self,
        only: Option<&GameId>,
    ) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError> {
        self.seek().await?;
        let mut all = self.tables().conditional.clone();
        all.retain(|game, moves| {
            only.is_none_or(|only| only == game) && (moves.first.is_some() || moves.second.is_some())
        });
        Ok(all)
    }

    async fn rated_games_between(
        &self,
        players: &BySide<PlayerId>,
        since: UnixMillis,
    ) -> Result<u32, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        let counts = |spec: &GameSpec| spec.rated && spec.started_at >= since && is_between(spec, players);
        let count = tables.games.values().filter(|game| counts(&game.spec)).count();
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

impl MemoryTables {
    fn chosen(&self, wanted: &GamesWanted) -> ChosenGames {
        let in_reach = |&(number, game): &(u64, &StoredGame)| {
            let BySide { first, second } = &game.spec.players;
            wanted.before.is_none_or(|before| number < before)
                && wanted.player.as_ref().is_none_or(|id| first == id || second == id)
                && wanted.since.is_none_or(|since| ended_at(game) >= since)
                && wanted.seen_by.may_see(&game.spec)
        };
        let kind = |id: &PlayerId| self.players.get(id).map_or(PlayerKind::Guest, |player| player.kind);
        let finished = self.finished_games().rev().filter(in_reach);
        let looked_at: Vec<_> = finished.take(wanted.look_at as usize).collect();
        let is_taken = |&&(_, game): &&(u64, &StoredGame)| {
            let kinds = game.spec.players.as_ref().map(kind);
            wanted.filter.takes(game) && wanted.filter.takes_players(kinds)
        };
        let limit = wanted.limit as usize;
        let taken: Vec<_> = looked_at.iter().filter(is_taken).take(limit + 1).collect();
        let numbers: Vec<_> = taken.iter().map(|(number, _)| Some(*number)).collect();
        let lowest = looked_at.last().map_or(0, |(number, _)| *number);
        ChosenGames {
            games: taken.iter().take(limit).map(|(_, game)| (*game).clone()).collect(),
            goes_on_before: wanted.goes_on_before(&numbers, looked_at.len() as u64, lowest),
        }
    }
}
