//! Games that have no room: how they stand in the store, and what is said to whoever moves in them.

use fourfold_engine::{BySide, Side};

use super::Host;
use crate::model::clock::now;
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::play::presence::outbox::ENDS_MAX;
use crate::play::room::RoomRefusal;
use crate::play::room::state::{Play, RoomState};
use crate::play::room::view::SeatedPlayer;
use crate::play::series;
use crate::protocol::server::{GameEnd, Moved, Snapshot};
use crate::storage::record::StoredGame;

use crate::model::time::UnixMillis;
use crate::storage::store::{GameQuery, StoreError};

impl Host {
    /// A game as a watcher sees it, live or stored.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn snapshot(&self, id: &GameId) -> Result<Option<Snapshot>, StoreError> {
        if let Some(room) = self.inner.deps.directory.room(id)
            && let Some(snapshot) = room.look(None).await
        {
            return Ok(Some(snapshot));
        }
        let Some(game) = self.inner.deps.store.game(id).await? else { return Ok(None) };
        let players = self.stored_players(&game).await?;
        let before = series::before(&*self.inner.deps.store, &game.spec).await?;
        let state = replayed(game, &players)?.with_series(before);
        Ok(Some(state.snapshot(None, &players, 0, now())))
    }

    /// Answers a move in a game that has no room (any more): the same move again gets the same `moved`, for ever.
    ///
    /// `None` if there is no such game.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn late_move(
        &self,
        game: &GameId,
        player: &PlayerId,
        play: &Play,
    ) -> Result<Option<Result<Moved, RoomRefusal>>, StoreError> {
        let Some(game) = self.inner.deps.store.game(game).await? else { return Ok(None) };
        let players = self.stored_players(&game).await?;
        let mut state = replayed(game, &players)?;
        Ok(Some(answer(&mut state, player, play)))
    }

    /// How these games of a player ended, and all that ended since then, the oldest first; of more than
    /// [`ENDS_MAX`] the last ones. Those that go on are left out.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn stored_ends(
        &self,
        player: &PlayerId,
        games: Vec<GameId>,
        since: Option<UnixMillis>,
    ) -> Result<Vec<GameEnd>, StoreError> {
        let store = &self.inner.deps.store;
        let mut ended = Vec::new();
        if let Some(at) = since
            && store.last_end_of(player).await?.is_some_and(|last| last >= at)
        {
            let limit = u32::try_from(ENDS_MAX).unwrap_or(u32::MAX);
            let player = Some(player.clone());
            ended = store
                .finished_games(&GameQuery {
                    player,
                    since,
                    newest_first: true,
                    limit,
                    ..GameQuery::default()
                })
                .await?;
        }
        for id in games {
            if ended.iter().all(|game| game.spec.id != id) {
                ended.extend(store.game(&id).await?);
            }
        }
        ended.sort_by_key(|game| game.settlement.as_ref().map(|settlement| settlement.number));
        let surplus = ended.len().saturating_sub(ENDS_MAX);
        let ends = ended.into_iter().skip(surplus).map(end_of);
        Ok(ends.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    async fn stored_players(&self, game: &StoredGame) -> Result<BySide<SeatedPlayer>, StoreError> {
        let seats = self.read_seats(std::slice::from_ref(game)).await?;
        self.seats_of(&seats, &game.spec).map_err(|error| StoreError::Failed(Box::new(error)))
    }
}

/// How a stored game ended, if it has.
pub(super) fn end_of(game: StoredGame) -> Result<Option<GameEnd>, StoreError> {
    // Whoever played: the end says nothing of them.
    let kinds = BySide { first: PlayerKind::Human, second: PlayerKind::Human };
    let state = RoomState::replayed(game, kinds, now()).map_err(StoreError::Corrupt)?;
    Ok(state.game_end(now()))
}

fn replayed(game: StoredGame, players: &BySide<SeatedPlayer>) -> Result<RoomState, StoreError> {
    let kinds = players.as_ref().map(|player| player.identity.kind);
    RoomState::replayed(game, kinds, now()).map_err(StoreError::Corrupt)
}

fn answer(state: &mut RoomState, player: &PlayerId, play: &Play) -> Result<Moved, RoomRefusal> {
    if state.end().is_none() {
        return Err(RoomRefusal::Closed);
    }
    let mut sides = [Side::First, Side::Second].into_iter();
    let side = sides.find(|side| state.spec().players[*side] == *player).ok_or(RoomRefusal::NotAPlayer)?;
    // Nothing can happen in a game that is over, so there are no effects.
    let (verdict, _none) = state.play(side, play, UnixMillis::now());
    let repeated = verdict?.ok_or(RoomRefusal::Closed)?;
    Ok(state.moved(&repeated))
}
