//! What nodes, their database and their clients tell each other in the simulation.

use std::collections::BTreeSet;
use std::time::Instant;

use fourfold_engine::{BySide, Column, Side};

use crate::cluster::Incarnation;
use crate::cluster::membership::Beat;
use crate::cluster::orders::OrderNumber;
use crate::cluster::places::{Place, Places};
use crate::cluster::roster::Change;
use crate::model::ids::{GameId, PlayerId};
use crate::storage::record::{GameSpec, Settlement, StoredEvent, StoredGame};

/// One connection of a client, numbered by the run.
pub(super) type SessionNumber = u64;

/// A packet on the bus.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) from: Incarnation,
    /// Among those to its receiver; none of what only says how many there were.
    pub(super) number: Option<u64>,
    pub(super) sent: Instant,
    pub(super) message: Message,
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    /// To the owner of a game.
    Order {
        number: OrderNumber,
        order: Order,
    },
    Answer {
        number: OrderNumber,
        answer: Answer,
    },
    /// To the sessions of a player.
    Deliver {
        to: PlayerId,
        frame: Frame,
    },
    /// These two have a game, at the node that says so.
    Playing {
        game: GameId,
        players: BySide<PlayerId>,
    },
    /// From the desk: begin this game.
    Start {
        spec: Box<GameSpec>,
        desk_term: u32,
    },
    Started {
        game: GameId,
    },
    Roster {
        version: u64,
        change: Change,
    },
    RosterWanted,
    WholeRoster {
        version: u64,
        players: BTreeSet<PlayerId>,
    },
    /// A hint; the database is asked.
    PlacesChanged,
    /// How many packets were sent to the receiver so far.
    Told {
        last: u64,
    },
}

/// What a gateway has a game do for one of its sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    pub(super) game: GameId,
    pub(super) player: PlayerId,
    pub(super) session: SessionNumber,
    pub(super) deed: Deed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// Takes the player's seat and wants a snapshot.
    Sit,
    Play {
        ply: u32,
        column: Column,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Done,
    /// What it was about has passed.
    Refused,
    /// There is no such game any more.
    Over,
    /// The place is another node's.
    NotHere,
}

/// What a client hears of its game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Frame {
    Snapshot {
        game: GameId,
        side: Side,
        moves: Vec<Column>,
        over: Over,
    },
    Moved {
        game: GameId,
        ply: u32,
        column: Column,
    },
    /// Nobody answers: ask again later.
    Busy {
        game: GameId,
    },
}

impl Frame {
    pub(super) fn game(&self) -> &GameId {
        match self {
            Self::Snapshot { game, .. } | Self::Moved { game, .. } | Self::Busy { game } => game,
        }
    }
}

/// Whether a game is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Over {
    Yes,
    NotYet,
}

/// What a node asks of the database.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Beat {
        sent: Instant,
    },
    Beats,
    TakeOver {
        whom: Incarnation,
    },
    Places,
    /// Asks owners to hand over what is another's share.
    Balance,
    /// The games of these places that go on; the terms are for the asker.
    Open {
        places: Vec<(Place, u32)>,
    },
    /// The game of a player that goes on.
    Seat {
        session: SessionNumber,
        player: PlayerId,
    },
    /// All players that have a game.
    Seats {
        poll: u64,
    },
    Commit {
        number: u64,
        batch: Vec<Entry>,
    },
    /// Games that have ended without a number.
    Unsettled,
    /// What became of games that have ended.
    Settled {
        games: Vec<GameId>,
    },
    Game {
        session: SessionNumber,
        game: GameId,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Beaten {
        sent: Instant,
    },
    /// Somebody has taken this node for dead: it may do nothing any more.
    Fenced,
    Beats(Vec<Beat>),
    Places {
        version: u64,
        places: Places,
        living: BTreeSet<Incarnation>,
    },
    Opened {
        places: Vec<(Place, u32)>,
        games: Vec<StoredGame>,
    },
    Seat {
        session: SessionNumber,
        game: Option<GameId>,
    },
    Seats {
        poll: u64,
        players: BTreeSet<PlayerId>,
    },
    Committed {
        number: u64,
        outcomes: Vec<Outcome>,
    },
    Unsettled(Vec<GameId>),
    Settled(Vec<(GameId, Settlement)>),
    Game {
        session: SessionNumber,
        game: Option<Box<StoredGame>>,
    },
}

/// A write with the term in which its writer believes to own what it is about.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) term: u32,
    pub(super) write: Stored,
}

#[derive(Clone, Debug)]
pub(super) enum Stored {
    Start {
        spec: Box<GameSpec>,
        /// Refused if the desk has moved meanwhile: the next one may have given the players another game.
        desk_term: u32,
    },
    Append {
        game: GameId,
        events: Vec<StoredEvent>,
    },
    /// The last events; number and ratings come by [`Self::Settle`].
    Finish {
        game: GameId,
        events: Vec<StoredEvent>,
    },
    Settle {
        game: GameId,
    },
    HandOver,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Done,
    /// A place was handed over.
    GivenTo(Incarnation),
    Refused,
}

/// What a node does to the world around it.
#[derive(Debug)]
pub(super) enum Output {
    Send {
        to: Incarnation,
        packet: Packet,
    },
    Call(Call),
    Tell {
        session: SessionNumber,
        frame: Frame,
    },
    /// It was fenced: the process ends.
    End,
}
