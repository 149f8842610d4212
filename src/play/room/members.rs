//! Who hears what happens at a table: the connections of both seats, then the watchers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Side;

use super::command::{MemberId, Recipient, ReplyTo};
use crate::cluster::Incarnation;
use crate::protocol::Frame;
use crate::protocol::server::Urgency;

/// Watchers that are served before the task gives way. Whoever plays elsewhere waits for one such chunk at each step of
/// a move, a third of a millisecond; giving way costs a few microseconds.
const CROWD_CHUNK: usize = 32;

/// One connection of the player of a seat: several may sit there at once.
struct SeatConnection {
    id: MemberId,
    recipient: Arc<dyn Recipient>,
}

/// The connections at one table.
#[derive(Default)]
pub(super) struct Members {
    first: Vec<SeatConnection>,
    second: Vec<SeatConnection>,
    watchers: Vec<(MemberId, Arc<dyn Recipient>)>,
    crowds: BTreeMap<Incarnation, RemoteWatchers>,
}

/// Those who watch from one other node, which tells them what it is told once.
struct RemoteWatchers {
    members: BTreeSet<MemberId>,
    all: Arc<dyn Recipient>,
}

impl Members {
    fn seat(&self, side: Side) -> &Vec<SeatConnection> {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }

    fn seat_mut(&mut self, side: Side) -> &mut Vec<SeatConnection> {
        match side {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        }
    }

    /// Seats one more connection of the side's player, once.
    pub(super) fn sit(&mut self, side: Side, id: MemberId, recipient: Arc<dyn Recipient>) {
        let seat = self.seat_mut(side);
        if seat.iter().all(|seated| seated.id != id) {
            seat.push(SeatConnection { id, recipient });
        }
    }

    /// Which side this connection sits at.
    pub(super) fn side_of(&self, id: MemberId) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.seat(*side).iter().any(|s| s.id == id))
    }

    /// Forgets a session that has ended. True if it was a watcher.
    pub(super) fn leave(&mut self, id: MemberId) -> bool {
        self.first.retain(|seated| seated.id != id);
        self.second.retain(|seated| seated.id != id);
        self.unwatch(id)
    }

    /// Whether any connection of the side's player is up.
    pub(super) fn is_here(&self, side: Side) -> bool {
        self.seat(side).iter().any(|seated| seated.recipient.is_connected())
    }

    /// The shortest measured round trip of the side's player.
    pub(super) fn round_trip(&self, side: Side) -> Duration {
        let connected = self.seat(side).iter().filter(|seated| seated.recipient.is_connected());
        connected.map(|seated| seated.recipient.round_trip()).min().unwrap_or_default()
    }

    /// Adds a watcher, once.
    pub(super) fn watch(&mut self, id: MemberId, recipient: Arc<dyn Recipient>) {
        if let Some(all) = recipient.crowd() {
            let members = BTreeSet::new();
            let crowd = self.crowds.entry(id.node()).or_insert(RemoteWatchers { members, all });
            crowd.members.insert(id);
        } else if !self.watchers.iter().any(|(watcher, _)| *watcher == id) {
            self.watchers.push((id, recipient));
        }
    }

    /// Removes a watcher. False if it was none.
    pub(super) fn unwatch(&mut self, id: MemberId) -> bool {
        if let Some(crowd) = self.crowds.get_mut(&id.node()) {
            let was_there = crowd.members.remove(&id);
            if crowd.members.is_empty() {
                self.crowds.remove(&id.node());
            }
            return was_there;
        }
        let before = self.watchers.len();
        self.watchers.retain(|(watcher, _)| *watcher != id);
        self.watchers.len() < before
    }

    pub(super) fn watching(&self) -> u32 {
        let remote: usize = self.crowds.values().map(|crowd| crowd.members.len()).sum();
        u32::try_from(self.watchers.len() + remote).unwrap_or(u32::MAX)
    }

    /// Tells all connections of one side, with what is told it until [`Self::flush`].
    pub(super) fn tell_side(&self, side: Side, frame: &Frame, reply: Option<&ReplyTo>) {
        for seated in self.seat(side) {
            seated.recipient.queue(frame, re_for(seated.id, reply));
        }
    }

    /// Tells both sides, the mover (or asker) first, with what is told them until [`Self::flush`].
    pub(super) fn tell_players(&self, first: Side, frame: &Frame, reply: Option<&ReplyTo>) {
        self.tell_side(first, frame, reply);
        self.tell_side(first.opponent(), frame, reply);
    }

    /// Sends what both sides were told, to this one first: the mover, or whoever asked.
    pub(super) fn flush(&self, first: Side) {
        for seated in self.seat(first).iter().chain(self.seat(first.opponent())) {
            seated.recipient.flush();
        }
    }

    /// Tells one connection.
    pub(super) fn tell_member(&self, id: MemberId, frame: &Frame, urgency: Urgency) {
        let seated = self.first.iter().chain(&self.second).map(|seated| (seated.id, &seated.recipient));
        let watching = self.watchers.iter().map(|(id, recipient)| (*id, recipient));
        if let Some((_, recipient)) = seated.chain(watching).find(|(member, _)| *member == id) {
            recipient.deliver(frame, None, urgency);
        }
    }

    /// Tells the watchers, giving way to other tasks between chunks.
    pub(super) async fn tell_watchers(&self, frame: &Frame, urgency: Urgency) {
        for crowd in self.crowds.values() {
            crowd.all.deliver(frame, None, urgency);
        }
        for chunk in self.watchers.chunks(CROWD_CHUNK) {
            for (_, recipient) in chunk {
                recipient.deliver(frame, None, urgency);
            }
            if chunk.len() == CROWD_CHUNK {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// The answer's `re`, if this is the connection that asked.
fn re_for(id: MemberId, reply: Option<&ReplyTo>) -> Option<&str> {
    reply.filter(|reply| reply.member == id).and_then(|reply| reply.re.as_deref())
}
