//! What a room can be told, and who hears of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fourfold_engine::Side;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::state::{Play, Standstill};
use crate::cluster::Incarnation;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::PlayerId;
use crate::protocol::server::{Snapshot, Urgency};
use crate::protocol::{ErrorCode, Frame, WireError};

/// Commands that wait for one room. Players send one a move; a crowd that joins at once is served from here, and
/// whoever finds it full is told `busy`.
pub(super) const INBOX_MAX: usize = 256;

/// How commands get to a room of this process. Boxed, for the queue of each room has space for dozens from the start,
/// and hardly ever holds more than one.
pub(crate) type Commands = mpsc::Sender<Box<Command>>;

/// Where a room takes them.
pub(super) type Inbox = mpsc::Receiver<Box<Command>>;

/// Somebody to whom a room sends: a session, or a house bot.
pub(crate) trait Recipient: Send + Sync {
    /// Takes a message without waiting. `re` is there if it answers a request of this very recipient.
    fn deliver(&self, frame: &Frame, re: Option<&str>, urgency: Urgency);

    /// Takes a message that must arrive, as [`Self::deliver`] does, and may keep it until [`Self::flush`].
    fn queue(&self, frame: &Frame, re: Option<&str>) {
        self.deliver(frame, re, Urgency::Must);
    }

    /// Sends what was queued, without waiting.
    fn flush(&self) {}

    /// The measured round trip; zero within the process.
    fn round_trip(&self) -> Duration;

    /// Whether it can be reached now. Rooms look when they are told that it came or went, so that it does not matter
    /// in which order such news arrive.
    fn is_connected(&self) -> bool;

    /// A move of this recipient's answered nothing: no turn of its was open, or there is no such live game.
    fn useless_move(&self) {}

    /// Who takes what is told to all watchers that are where this one is, if they are told once for all of them.
    fn crowd(&self) -> Option<Arc<dyn Recipient>> {
        None
    }
}

/// Tells connections apart: which node they are at, and a number of that node's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct MemberId {
    node: Incarnation,
    number: u64,
}

impl MemberId {
    /// A new connection of this node.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self::of(Incarnation::HERE, NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The connection that a node calls by this number.
    pub(super) fn of(node: Incarnation, number: u64) -> Self {
        Self { node, number }
    }

    pub(super) fn node(self) -> Incarnation {
        self.node
    }

    /// What its node calls it.
    pub(super) fn number(self) -> u64 {
        self.number
    }
}

/// What became of the connection of somebody who sits at the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum SeatWait {
    Begins,
    Ends,
}

pub(super) enum Command {
    Play {
        player: PlayerId,
        /// Boxed, for rooms that wait hold space for 32 commands.
        play: Play,
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
    Vacation {
        player: PlayerId,
        /// How long it lasts; none any more if nothing.
        lasts: Option<Duration>,
    },
    StandStill(Standstill),
    Conditional {
        player: PlayerId,
        /// What the player answers from now on; nothing any more if none.
        moves: Option<ConditionalMoves>,
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TakenSeat {
    /// Whether the player is to move.
    pub(crate) your_turn: bool,
    /// Whether the game is still going on.
    pub(crate) live: bool,
}

impl Command {
    /// Whether somebody waits for words.
    pub(super) fn has_asker(&self) -> bool {
        matches!(self, Self::Play { .. } | Self::Act { .. } | Self::Watch { .. } | Self::Sync { .. })
    }

    /// Tells whoever asked, if somebody waits for words, that it is not taken.
    pub(super) fn refuse(self, error: WireError) {
        match self {
            Self::Play { reply, .. } => reply.refuse_move(error),
            Self::Act { reply, .. } | Self::Watch { reply, .. } | Self::Sync { reply, .. } => {
                reply.send(&error.into());
            }
            Self::Fail { .. }
            | Self::Expel { .. }
            | Self::Vacation { .. }
            | Self::StandStill(_)
            | Self::Conditional { .. }
            | Self::Wait { .. }
            | Self::Sit { .. }
            | Self::Prompt { .. }
            | Self::Connected { .. }
            | Self::Leave { .. }
            | Self::Unwatch { .. }
            | Self::Look { .. }
            | Self::Pause { .. } => {}
        }
    }
}
