//! Rooms and recipients at other nodes.
//!
//! Who asks and who owns the room speak in [`words`]. The [`Gateway`] is where sessions are: it writes commands as
//! orders, repeats them until they are answered or given up, and hands on what rooms say. The [`Owner`] is where rooms
//! are: it carries out each order once and in the order in which it was given, and is the recipient that rooms know.
//!
//! What gets lost on the way back is not sent again: a gateway that misses something asks for snapshots. Answers alone
//! are kept for as long as the order may be repeated, so that nothing is done twice and whoever asked hears of it.

mod gateway;
mod owner;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

pub(super) use self::gateway::Gateway;
use self::owner::Owner;
use super::command::{Commands, MemberId, Recipient};
use crate::cluster::Incarnation;
use crate::cluster::bus::{Faults, Inbox, MemoryBus};
use crate::cluster::port::{Counts, Port};
use crate::model::ids::{GameId, PlayerId};

/// Two nodes of one process: sessions are at one of them, all rooms at the other.
#[derive(Clone, Debug)]
pub(super) struct TwoNodes {
    gateway: Gateway,
    owner: Owner,
}

/// Where the packets to both come in.
#[derive(Debug)]
pub(super) struct Inboxes {
    to_gateway: Inbox,
    to_owner: Inbox,
}

const SESSIONS: Incarnation = Incarnation(1);
const ROOMS: Incarnation = Incarnation(2);

impl TwoNodes {
    /// Both on a bus in memory that fails like this.
    pub(super) fn new(faults: Faults) -> (Self, Inboxes) {
        Self::on(&MemoryBus::new(faults))
    }

    fn on(bus: &MemoryBus) -> (Self, Inboxes) {
        let ((sessions, to_gateway), (rooms, to_owner)) = (bus.join(SESSIONS), bus.join(ROOMS));
        let gateway = Gateway::new(Port::new(SESSIONS, sessions), ROOMS);
        let owner = Owner::new(Port::new(ROOMS, rooms));
        (Self { gateway, owner }, Inboxes { to_gateway, to_owner })
    }

    /// Runs both. `room` gives the inbox of a game's room.
    pub(super) async fn run(self, inboxes: Inboxes, room: impl Fn(&GameId) -> Option<Commands>) {
        let Inboxes { to_gateway, to_owner } = inboxes;
        tokio::join!(self.gateway.run(to_gateway), self.owner.run(to_owner, room));
    }

    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// A connection at the gateway as a room is to know it that does not run yet.
    pub(super) fn seat(
        &self,
        game: &GameId,
        player: &PlayerId,
        member: MemberId,
        recipient: &Arc<dyn Recipient>,
    ) -> (MemberId, Arc<dyn Recipient>) {
        let presence = self.gateway.seat(game, player, member, recipient);
        self.owner.seat(SESSIONS, game, presence)
    }

    /// The room of a game has closed.
    pub(super) fn closed(&self, game: &GameId) {
        self.gateway.closed(game);
        self.owner.closed(game);
    }

    /// What came in at the gateway, and at the owner.
    pub(super) fn counts(&self) -> [&Counts; 2] {
        [self.gateway.counts(), self.owner.counts()]
    }
}
