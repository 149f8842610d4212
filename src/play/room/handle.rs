//! The address of a room, and how rooms address those who listen to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fourfold_engine::Side;
use tokio::sync::{mpsc, oneshot};

use super::refusal::RoomRefusal;
use super::state::Play;
use crate::model::ids::{GameId, PlayerId};
use crate::protocol::server::{Snapshot, Urgency};
use crate::protocol::{ErrorCode, Frame, WireError};
use crate::system::ask::ask;

/// Commands that wait for one room. Players send one a move; a crowd that joins at once is served from here, and
/// whoever finds it full is told `busy`.
pub(super) const INBOX_MAX: usize = 256;

/// Somebody to whom a room sends: a session, or a house bot.
pub(crate) trait Recipient: Send + Sync {
    /// Takes a message without waiting. `re` is there if it answers a request of this very recipient.
    fn deliver(&self, frame: &Frame, re: Option<&str>, urgency: Urgency);

    /// The measured round trip; zero within the process.
    fn round_trip(&self) -> Duration;

    /// Whether it can be reached now. Rooms look when they are told that it came or went, so that it does not matter
    /// in which order such news arrive.
    fn is_connected(&self) -> bool;

    /// A move of this recipient's answered nothing: no turn of its was open, or there is no such live game.
    fn useless_move(&self) {}
}

/// Tells connections apart within the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct MemberId(u64);

impl MemberId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What became of the connection of somebody who sits at the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Connection {
    /// It is back.
    Up,
    /// It was lost, but the session may be resumed.
    Lost,
    /// The player left on purpose.
    Left,
}

/// Where an answer goes.
#[derive(Clone)]
pub(crate) struct ReplyTo {
    /// The connection that asks.
    pub(crate) member: MemberId,
    /// How to reach it.
    pub(crate) recipient: Arc<dyn Recipient>,
    pub(crate) re: Option<Box<str>>,
}

impl std::fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyTo").field("member", &self.member).field("re", &self.re).finish_non_exhaustive()
    }
}

impl ReplyTo {
    pub(crate) fn send(&self, frame: &Frame) {
        self.recipient.deliver(frame, self.re.as_deref(), Urgency::Must);
    }

    /// Refuses a move, which counts against the sender if it answered nothing.
    pub(crate) fn refuse_move(&self, error: WireError) {
        let is_useless =
            matches!(error.code, ErrorCode::NotYourTurn | ErrorCode::NoSuchGame | ErrorCode::GameOver);
        self.send(&error.into());
        if is_useless {
            self.recipient.useless_move();
        }
    }
}

/// What a player may do besides playing a stone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Gives up.
    Resign,
    /// Ends the game before it began in earnest.
    Abort,
    /// Takes the win after the opponent's absence.
    Claim,
    /// Wants another game.
    Rematch,
    /// Wants the last move back.
    Takeback,
    /// Answers such a wish.
    TakebackAnswer {
        /// Whether the move goes back.
        yes: bool,
    },
    /// Shows a feeling.
    React { emoji: String },
}

/// What the server makes of a seat that it keeps waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SeatWait {
    Begins,
    Ends,
}

pub(super) enum Command {
    Play {
        player: PlayerId,
        /// Boxed, for rooms that wait hold space for 32 commands.
        play: Box<Play>,
        reply: ReplyTo,
    },
    Act {
        player: PlayerId,
        action: Action,
        reply: ReplyTo,
    },
    Fail {
        side: Side,
    },
    Expel {
        player: PlayerId,
    },
    Wait {
        side: Side,
        wait: SeatWait,
    },
    Sit {
        player: PlayerId,
        member: MemberId,
        recipient: Arc<dyn Recipient>,
        seated: oneshot::Sender<Option<TakenSeat>>,
    },
    Prompt {
        member: MemberId,
    },
    Connected {
        member: MemberId,
        connection: Connection,
    },
    Leave {
        member: MemberId,
    },
    Watch {
        player: PlayerId,
        reply: ReplyTo,
    },
    Unwatch {
        member: MemberId,
    },
    Sync {
        player: Option<PlayerId>,
        reply: ReplyTo,
        skipped: Option<u64>,
    },
    Look {
        /// Who looks; somebody who does not play sees what watchers see.
        player: Option<PlayerId>,
        answer: oneshot::Sender<Snapshot>,
    },
    Pause {
        done: oneshot::Sender<()>,
    },
}

/// The seat that a player has taken, and what waits there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TakenSeat {
    /// Whether the player is to move.
    pub(crate) your_turn: bool,
    /// Whether the game is still going on.
    pub(crate) live: bool,
}

/// A cheap, cloneable address of one room. The rules live in `RoomState`, which only the actor touches.
#[derive(Clone)]
pub(crate) struct RoomHandle {
    game: GameId,
    commands: mpsc::Sender<Command>,
}

impl std::fmt::Debug for RoomHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RoomHandle").field(&self.game).finish()
    }
}

impl RoomHandle {
    pub(super) fn new(game: GameId, commands: mpsc::Sender<Command>) -> Self {
        Self { game, commands }
    }

    pub(crate) fn game(&self) -> &GameId {
        &self.game
    }

    /// Plays a stone. The answer, a `moved` or a refusal, goes to `reply`.
    pub(crate) fn play(&self, player: PlayerId, play: Play, reply: ReplyTo) {
        self.ask(Command::Play { player, play: Box::new(play), reply });
    }

    /// Does something else as a player. The answer goes to `reply`.
    pub(crate) fn act(&self, player: PlayerId, action: Action, reply: ReplyTo) {
        self.ask(Command::Act { player, action, reply });
    }

    /// Queues a command that has an asker, who is told when it cannot be taken.
    fn ask(&self, command: Command) {
        let (command, refusal) = match self.commands.try_send(command) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(command)) => (command, RoomRefusal::Busy),
            Err(mpsc::error::TrySendError::Closed(command)) => (command, RoomRefusal::Closed),
        };
        let reply = match command {
            Command::Play { reply, .. } => {
                reply.refuse_move(refusal.to_wire(&self.game));
                return;
            }
            Command::Act { reply, .. } | Command::Watch { reply, .. } | Command::Sync { reply, .. } => reply,
            Command::Fail { .. }
            | Command::Expel { .. }
            | Command::Wait { .. }
            | Command::Sit { .. }
            | Command::Prompt { .. }
            | Command::Connected { .. }
            | Command::Leave { .. }
            | Command::Unwatch { .. }
            | Command::Look { .. }
            | Command::Pause { .. } => return,
        };
        reply.send(&refusal.to_wire(&self.game).into());
    }

    /// Waits for a place in the queue; a closed room needs no news.
    async fn tell(&self, command: Command) {
        let _closed = self.commands.send(command).await;
    }

    /// The house bot at this seat is broken.
    pub(crate) async fn fail(&self, side: Side) {
        self.tell(Command::Fail { side }).await;
    }

    /// An operator has sent this player away: the game is lost, as if it had resigned.
    pub(crate) async fn expel(&self, player: PlayerId) {
        self.tell(Command::Expel { player }).await;
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
        ask(&self.commands, |seated| Command::Sit { player, member, recipient, seated }).await.flatten()
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
        ask(&self.commands, |answer| Command::Look { player, answer }).await
    }

    /// Stores the clocks as they stand, for a planned stop.
    pub(crate) async fn pause(&self) {
        // A room that ended meanwhile has nothing to store.
        let _ended = ask(&self.commands, |done| Command::Pause { done }).await;
    }
}
