//! The address of a room, wherever it is.

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Side;
use tokio::sync::{mpsc, oneshot};

pub(crate) use super::command::{Action, Connection, MemberId, Recipient, ReplyTo, TakenSeat};
use super::command::{Command, Commands, SeatWait};
use super::refusal::RoomRefusal;
use super::remote::Gateway;
use super::state::Play;
use super::state::Standstill;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::protocol::server::Snapshot;
use crate::system::ask::ask;

/// How commands get to a room.
#[derive(Clone)]
enum Way {
    /// It runs in this process.
    Here(Commands),
    /// It runs at another node.
    There(Gateway),
}

/// A cheap, cloneable address of one room. The rules live in `RoomState`, which only the actor touches.
#[derive(Clone)]
pub(crate) struct RoomHandle {
    game: GameId,
    way: Way,
}

impl std::fmt::Debug for RoomHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RoomHandle").field(&self.game).finish()
    }
}

impl RoomHandle {
    pub(super) fn new(game: GameId, commands: Commands) -> Self {
        Self { game, way: Way::Here(commands) }
    }

    /// The room of a game that is reached by this gateway.
    pub(super) fn remote(game: GameId, gateway: Gateway) -> Self {
        Self { game, way: Way::There(gateway) }
    }

    /// Where a room of this process takes its commands.
    pub(super) fn inbox(&self) -> Option<&Commands> {
        match &self.way {
            Way::Here(commands) => Some(commands),
            Way::There(_) => None,
        }
    }

    pub(crate) fn game(&self) -> &GameId {
        &self.game
    }

    /// Plays a stone. The answer, a `moved` or a refusal, goes to `reply`.
    pub(crate) fn play(&self, player: PlayerId, play: Play, reply: ReplyTo) {
        self.ask(Command::Play { player, play, reply });
    }

    /// Does something else as a player. The answer goes to `reply`.
    pub(crate) fn act(&self, player: PlayerId, action: Action, reply: ReplyTo) {
        self.ask(Command::Act { player, action, reply });
    }

    /// Queues a command that has an asker, who is told when it cannot be taken.
    fn ask(&self, command: Command) {
        let sent = match &self.way {
            Way::Here(commands) => commands.try_send(Box::new(command)),
            Way::There(gateway) => gateway.try_send(&self.game, Box::new(command)),
        };
        let (command, refusal) = match sent {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(command)) => (command, RoomRefusal::Busy),
            Err(mpsc::error::TrySendError::Closed(command)) => (command, RoomRefusal::Closed),
        };
        command.refuse(refusal.to_wire(&self.game));
    }

    /// Waits for a place in the queue; a closed room needs no news.
    async fn tell(&self, command: Command) {
        match &self.way {
            Way::Here(commands) => {
                let _closed = commands.send(Box::new(command)).await;
            }
            Way::There(gateway) => gateway.send(&self.game, command).await,
        }
    }

    /// The same for a command that carries the way back, and waits for the answer. `None` if the room is gone, or
    /// nobody answers.
    async fn answer<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        match &self.way {
            Way::Here(commands) => ask(commands, |reply| Box::new(command(reply))).await,
            Way::There(gateway) => {
                let (reply, answer) = oneshot::channel();
                gateway.send(&self.game, command(reply)).await;
                answer.await.ok()
            }
        }
    }

    /// The house bot at this seat is broken.
    pub(crate) async fn fail(&self, side: Side) {
        self.tell(Command::Fail { side }).await;
    }

    /// An operator has sent this player away: the game is lost, as if it had resigned.
    pub(crate) async fn expel(&self, player: PlayerId) {
        self.tell(Command::Expel { player }).await;
    }

    /// A player has a vacation for so long, or none any more.
    pub(crate) async fn take_vacation(&self, player: PlayerId, lasts: Option<Duration>) {
        self.tell(Command::Vacation { player, lasts }).await;
    }

    /// A teacher lets the game stand still, or go on.
    pub(crate) async fn stand_still(&self, standstill: Standstill) {
        self.tell(Command::StandStill(standstill)).await;
    }

    /// A player says what it answers if the opponent plays so, or nothing any more.
    pub(crate) async fn set_conditional(&self, player: PlayerId, moves: Option<ConditionalMoves>) {
        self.tell(Command::Conditional { player, moves }).await;
    }

    /// The server keeps this seat waiting: its clock stands until [`Self::release`].
    pub(crate) async fn hold(&self, side: Side) {
        self.tell(Command::Wait { side, wait: SeatWait::Begins }).await;
    }

    /// The seat can begin.
    pub(crate) async fn release(&self, side: Side) {
        self.tell(Command::Wait { side, wait: SeatWait::Ends }).await;
    }

    /// Takes the player's seat with one more connection and sends it a snapshot. `None` if the player has none here.
    pub(crate) async fn sit(
        &self,
        player: PlayerId,
        member: MemberId,
        recipient: Arc<dyn Recipient>,
    ) -> Option<TakenSeat> {
        self.answer(|seated| Command::Sit { player, member, recipient, seated }).await.flatten()
    }

    /// Sends this connection a `turn` if its player is to move.
    pub(crate) async fn prompt(&self, member: MemberId) {
        self.tell(Command::Prompt { member }).await;
    }

    /// A seated connection was lost or is back.
    pub(crate) async fn connected(&self, member: MemberId, connection: Connection) {
        self.tell(Command::Connected { member, connection }).await;
    }

    /// A session has ended.
    pub(crate) async fn leave(&self, member: MemberId) {
        self.tell(Command::Leave { member }).await;
    }

    /// Watches, or from a player's connection takes the player's seat; answered by a snapshot.
    pub(crate) fn watch(&self, player: PlayerId, reply: ReplyTo) {
        self.ask(Command::Watch { player, reply });
    }

    pub(crate) async fn unwatch(&self, member: MemberId) {
        self.tell(Command::Unwatch { member }).await;
    }

    /// Asks for a fresh snapshot, as a player or as a watcher who lost `skipped` messages.
    pub(crate) fn sync(&self, player: Option<PlayerId>, reply: ReplyTo, skipped: Option<u64>) {
        self.ask(Command::Sync { player, reply, skipped });
    }

    /// The game as this player sees it, or a watcher.
    pub(crate) async fn look(&self, player: Option<PlayerId>) -> Option<Snapshot> {
        self.answer(|answer| Command::Look { player, answer }).await
    }

    /// Stores the clocks as they stand, for a planned stop.
    pub(crate) async fn pause(&self) {
        // A room that ended meanwhile has nothing to store.
        let _ended = self.answer(|done| Command::Pause { done }).await;
    }
}
