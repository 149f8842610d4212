//! Whose turn it is in games by correspondence, for whoever tells them.

use std::time::Duration;

use fourfold_engine::Side;

use super::room::Directory;
use super::room::directory::PublicGame;
use crate::model::ids::GameId;
use crate::model::player::Identity;
use crate::protocol::server::Snapshot;

/// A game in which somebody is to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OpenTurn {
    pub(crate) game: GameId,
    pub(crate) mover: Identity,
    pub(crate) opponent: Identity,
    /// Stones on the board.
    pub(crate) ply: u32,
    /// Since when it is so.
    pub(crate) lasted: Duration,
    /// What is left for the move.
    pub(crate) left: Duration,
}

/// All of them. Asks each room.
pub(crate) async fn all(directory: &Directory) -> Vec<OpenTurn> {
    let mut open = Vec::new();
    for public in directory.by_correspondence() {
        let Some(room) = directory.room(&public.spec.id) else { continue };
        let snapshot = room.look(None).await;
        open.extend(snapshot.and_then(|game| open_turn(&public, &game)));
    }
    open
}

/// Whose turn it is in a game; nobody's if it is over.
fn open_turn(public: &PublicGame, game: &Snapshot) -> Option<OpenTurn> {
    let to_move = game.to_move?;
    let side = Side::from(to_move);
    let left = Duration::from_millis(game.clock.of(to_move));
    let limit = Duration::from_millis(public.spec.time.move_ms?.into());
    Some(OpenTurn {
        game: public.spec.id.clone(),
        mover: public.players[side].identity.clone(),
        opponent: public.players[side.opponent()].identity.clone(),
        ply: game.ply,
        lasted: limit.saturating_sub(left),
        left,
    })
}
