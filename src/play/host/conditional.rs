//! What players of games by correspondence say in advance: checked, stored, and handed to the room.

use fourfold_engine::{Game, Side};
use thiserror::Error;

use super::Host;
use crate::model::conditional::{ConditionalError, ConditionalMoves};
use crate::model::ids::{GameId, PlayerId};
use crate::protocol::server::Snapshot;
use crate::protocol::terms::WireSide;
use crate::storage::store::{Refused, StoreError, Write};
use crate::storage::writer::WriteError;

/// Why something is not said in advance.
#[derive(Debug, Error)]
pub(crate) enum ConditionalRefusal {
    /// There is no such game.
    #[error("you have no game by correspondence of this id that goes on")]
    NoSuchGame,
    /// Nothing is to be foreseen.
    #[error("it is your move: lines begin with one of the opponent")]
    YourMove,
    /// The lines make no sense.
    #[error(transparent)]
    Lines(#[from] ConditionalError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store could not be written.
    #[error(transparent)]
    Write(WriteError),
}

impl From<WriteError> for ConditionalRefusal {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(Refused::NoSuchGame) => Self::NoSuchGame,
            other => Self::Write(other),
        }
    }
}

impl Host {
    /// Stores what a player answers if the opponent plays so, in the place of what was said before; no lines take it
    /// back. What was foreseen by the time it is stored is answered at once.
    ///
    /// # Errors
    ///
    /// See [`ConditionalRefusal`].
    pub(crate) async fn say_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
        lines: &[String],
    ) -> Result<Vec<String>, ConditionalRefusal> {
        let (side, seen) = self.own_turns(game, player).await?;
        let moves = if lines.is_empty() {
            None
        } else {
            if seen.to_move == Some(WireSide::from(side)) {
                return Err(ConditionalRefusal::YourMove);
            }
            Some(ConditionalMoves::new(&board(&seen)?, lines)?)
        };
        let write = Write::SetConditional { game: game.clone(), side, moves: moves.clone() };
        self.inner.deps.writer.write(write).await?;
        if let Some(room) = self.inner.deps.directory.room(game) {
            room.set_conditional(player.clone(), moves).await;
        }
        Ok(lines.to_vec())
    }

    /// What a player has said in advance and may still come.
    ///
    /// # Errors
    ///
    /// See [`ConditionalRefusal`].
    pub(crate) async fn said_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
    ) -> Result<Vec<String>, ConditionalRefusal> {
        let (side, seen) = self.own_turns(game, player).await?;
        let mut said = self.inner.deps.store.conditional_moves(Some(game)).await?;
        let moves = said.remove(game).and_then(|mut sides| sides[side].take());
        let board = board(&seen)?;
        Ok(moves.map(|moves| moves.left(board.moves())).unwrap_or_default())
    }

    /// A player's side in a game by correspondence that goes on, and the game as the player sees it.
    async fn own_turns(
        &self,
        game: &GameId,
        player: &PlayerId,
    ) -> Result<(Side, Snapshot), ConditionalRefusal> {
        let directory = &self.inner.deps.directory;
        let is_own = directory.correspondence_of(player).iter().any(|public| public.spec.id == *game);
        let room = directory.room(game).filter(|_| is_own).ok_or(ConditionalRefusal::NoSuchGame)?;
        let seen = room.look(Some(player.clone())).await.ok_or(ConditionalRefusal::NoSuchGame)?;
        let side = seen.you.ok_or(ConditionalRefusal::NoSuchGame)?;
        seen.to_move.ok_or(ConditionalRefusal::NoSuchGame)?;
        Ok((side.into(), seen))
    }
}

fn board(seen: &Snapshot) -> Result<Game, ConditionalRefusal> {
    // What a room shows can be played again; should it not be so, there is no such game to speak of.
    Game::from_moves(seen.variant.0, &seen.moves).map_err(|_| ConditionalRefusal::NoSuchGame)
}
