//! What gateways and owners of rooms tell each other. A change that an older node would misread needs another version
//! of the packets.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cluster::orders::OrderNumber;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::play::room::command::{Action, Connection, SeatWait, TakenSeat};
use crate::play::room::state::{NoColumn, Standstill};
use crate::protocol::server::{Frame, Urgency};
use crate::protocol::terms::WireSide;
use crate::protocol::{CLIENT_FRAME_BYTES_MAX, INFO_BYTES_MAX, REQUEST_ID_CHARS_MAX};

/// Longest reaction that is looked up in the list of them.
const EMOJI_BYTES_MAX: usize = 64;

/// What a room is to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Without the time of receipt: a move counts from its arrival at the owner.
    Play {
        player: PlayerId,
        ply: u32,
        column: Result<u8, NoColumn>,
        forgiven: u8,
        info: Option<Box<str>>,
        said: Option<Box<str>>,
        round_trip_us: u64,
    },
    Act {
        player: PlayerId,
        action: Action,
    },
    Fail {
        side: WireSide,
    },
    Expel {
        player: PlayerId,
    },
    Vacation {
        player: PlayerId,
        lasts: Option<Duration>,
    },
    StandStill {
        standstill: Standstill,
    },
    Conditional {
        player: PlayerId,
        /// As they are stored.
        moves: Option<String>,
    },
    Wait {
        side: WireSide,
        wait: SeatWait,
    },
    Sit {
        player: PlayerId,
    },
    Prompt,
    Connected {
        connection: Connection,
    },
    Leave,
    Watch {
        player: PlayerId,
    },
    Unwatch,
    Sync {
        player: Option<PlayerId>,
        skipped: Option<u64>,
    },
    Look {
        player: Option<PlayerId>,
    },
    Pause,
}

impl Order {
    pub(super) fn conditional(player: PlayerId, moves: Option<&ConditionalMoves>) -> Self {
        Self::Conditional { player, moves: moves.map(ToString::to_string) }
    }

    /// The player who asks, if the order says so.
    pub(super) fn player(&self) -> Option<&PlayerId> {
        match self {
            Self::Play { player, .. }
            | Self::Act { player, .. }
            | Self::Sit { player }
            | Self::Watch { player } => Some(player),
            Self::Sync { player, .. } | Self::Look { player } => player.as_ref(),
            Self::Fail { .. }
            | Self::Expel { .. }
            | Self::Vacation { .. }
            | Self::StandStill { .. }
            | Self::Conditional { .. }
            | Self::Wait { .. }
            | Self::Prompt
            | Self::Connected { .. }
            | Self::Leave
            | Self::Unwatch
            | Self::Pause => None,
        }
    }
}

/// A connection as its node sees it at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Presence {
    pub(super) member: u64,
    pub(super) is_connected: bool,
    pub(super) round_trip_us: u64,
}

/// An order on its way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Letter {
    pub(super) id: OrderId,
    /// Nobody waits for the answers to orders before this one, and none of them will be sent again.
    pub(super) oldest: OrderNumber,
    pub(super) game: GameId,
    /// Whom it is about, or who asks.
    pub(super) member: Option<u64>,
    /// How that connection stands, if its node knows it well enough to be told what the room says.
    pub(super) presence: Option<Presence>,
    /// What the asker calls the request.
    pub(super) re: Option<Box<str>>,
    pub(super) order: Order,
}

impl Letter {
    /// Whether what it carries has a size that clients' messages can have.
    pub(super) fn is_sound(&self) -> bool {
        let text_fits = match &self.order {
            Order::Play { info, said, .. } => {
                info.as_ref().is_none_or(|info| info.len() <= INFO_BYTES_MAX)
                    && said.as_ref().is_none_or(|said| said.len() <= CLIENT_FRAME_BYTES_MAX)
            }
            Order::Act { action: Action::React { emoji }, .. } => emoji.len() <= EMOJI_BYTES_MAX,
            _ => true,
        };
        text_fits && self.re.as_ref().is_none_or(|re| re.chars().count() <= REQUEST_ID_CHARS_MAX)
    }
}

/// Names an order among those of a node to one room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct OrderId {
    /// Counts how often the node has begun to number orders to a room. Of an earlier count nothing is done any more.
    pub(super) stream: u64,
    pub(super) number: OrderNumber,
}

/// The order that a frame answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) order: OrderId,
    pub(super) re: Option<Box<str>>,
}

impl Answered {
    /// As a room carries it to the answer: what it takes for the asker's name of the request.
    pub(super) fn to_tag(&self) -> Box<str> {
        let OrderId { stream, number } = self.order;
        let re = self.re.as_ref().map_or_else(String::new, |re| format!(" {re}"));
        format!("{stream} {number}{re}").into()
    }

    /// See [`Self::to_tag`].
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        let mut parts = tag.splitn(3, ' ');
        let stream = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        Some(Self { order: OrderId { stream, number }, re: parts.next().map(Into::into) })
    }
}

/// Whether it is told once more, because the first time may have got lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Telling {
    First,
    Again,
}

/// An answer that is no message to a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Done,
    Busy,
    Closed,
    Seat(Option<TakenSeat>),
    Looked(Frame),
}

/// All that is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// To the owner: do this.
    Order(Box<Letter>),
    /// To the owner: this connection has changed.
    Presence { game: GameId, presence: Presence },
    /// To a gateway: for one connection.
    Deliver {
        game: GameId,
        member: u64,
        urgency: Urgency,
        answered: Option<Answered>,
        telling: Telling,
        frame: Frame,
    },
    /// To a gateway: for all who watch there.
    Crowd { game: GameId, urgency: Urgency, frame: Frame },
    /// To a gateway: that move answered nothing.
    Useless { game: GameId, member: u64 },
    /// To a gateway: what became of an order.
    Answer { game: GameId, order: OrderId, answer: Answer },
    /// To a gateway: an order came before others that are missing.
    Missing { game: GameId, stream: u64 },
}

impl Word {
    /// The game of whose room it is told.
    pub(super) fn game(&self) -> &GameId {
        match self {
            Self::Order(letter) => &letter.game,
            Self::Presence { game, .. }
            | Self::Deliver { game, .. }
            | Self::Crowd { game, .. }
            | Self::Useless { game, .. }
            | Self::Answer { game, .. }
            | Self::Missing { game, .. } => game,
        }
    }
}

/// Whole microseconds, as they travel.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
