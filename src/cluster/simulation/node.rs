//! A node: rooms of the places that it owns, sessions of the clients that it has, and the roles that are its. It is
//! told what happens and when; what it does comes out as [`Output`].

mod desk;
mod gateway;
mod owner;
mod writing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;

use self::desk::Desk;
use self::gateway::Session;
use self::owner::Room;
use self::writing::Lane;
use super::defect::Defect;
use super::words::{Answer, Call, Message, Order, Output, Packet, Reply, SessionNumber};
use crate::cluster::Incarnation;
use crate::cluster::lease::Lease;
use crate::cluster::links::{Links, Receipt};
use crate::cluster::membership;
use crate::cluster::orders::{OrderNumber, TOO_OLD_AFTER, Unanswered};
use crate::cluster::places::{Place, Places, Role};
use crate::cluster::roster::{Heard, OwnSessions, Roster};
use crate::model::ids::GameId;

/// Between two looks at the table of places, and between two words on how many packets were sent.
const SECOND: Duration = Duration::from_secs(1);

/// Whether new games may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Season {
    Open,
    Closed,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) me: Incarnation,
    defect: Option<Defect>,
    chance: ChaCha8Rng,
    lease: Lease,
    next_look: Instant,
    next_second: Instant,
    places: Places,
    /// Of the table, as far as it was read.
    version: u64,
    living: BTreeSet<Incarnation>,
    /// Those who were replaced: what they still say does not count.
    gone: BTreeSet<Incarnation>,
    links: Links,
    roster: Roster,
    own: OwnSessions,
    orders: Unanswered<Order>,
    sessions: BTreeMap<SessionNumber, Session>,
    /// Places of games that are being read, and since when they were asked for.
    opening: BTreeMap<Place, Instant>,
    /// Those whose games have rooms here.
    serving: BTreeSet<Place>,
    /// Those of them that are being handed over.
    leaving: BTreeSet<Place>,
    rooms: BTreeMap<GameId, Room>,
    lane: Lane,
    desk: Option<Desk>,
    settling: BTreeSet<GameId>,
    /// Nodes of which something did not arrive. All that is missing is asked for at once, at the next tick: asking at
    /// each hole would make more packets, and those more holes, without end.
    missed: BTreeSet<Incarnation>,
    /// Messages to this very node, which no bus carries.
    to_self: VecDeque<Message>,
    out: Vec<Output>,
    /// Numbers that were missing.
    pub(super) holes: u64,
}

impl Node {
    pub(super) fn new(me: Incarnation, chance: ChaCha8Rng, defect: Option<Defect>, now: Instant) -> Self {
        let mut node = Self {
            me,
            defect,
            chance,
            lease: Lease::joined(now),
            next_look: now,
            next_second: now,
            places: Places::default(),
            version: 0,
            living: BTreeSet::from([me]),
            gone: BTreeSet::new(),
            links: Links::default(),
            roster: Roster::default(),
            own: OwnSessions::default(),
            orders: Unanswered::default(),
            sessions: BTreeMap::new(),
            opening: BTreeMap::new(),
            serving: BTreeSet::new(),
            leaving: BTreeSet::new(),
            rooms: BTreeMap::new(),
            lane: Lane::default(),
            desk: None,
            settling: BTreeSet::new(),
            missed: BTreeSet::new(),
            to_self: VecDeque::new(),
            out: Vec::new(),
            holes: 0,
        };
        node.call(Call::Places);
        node
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    /// What is to be done, after what this node has said to itself is done.
    pub(super) fn outputs(&mut self, now: Instant) -> Vec<Output> {
        while let Some(message) = self.to_self.pop_front() {
            self.hear(self.me, message, now);
        }
        std::mem::take(&mut self.out)
    }

    /// Nothing waits here for anything.
    pub(super) fn is_quiet(&self) -> bool {
        self.orders.is_empty() && self.rooms.is_empty() && self.lane.is_empty() && self.leaving.is_empty()
    }

    pub(super) fn what_is_left(&self) -> String {
        let games: Vec<&GameId> = self.rooms.keys().collect();
        format!("orders {:?}, rooms {games:?}, {:?}, leaving {:?}", self.orders, self.lane, self.leaving)
    }

    fn call(&mut self, call: Call) {
        self.out.push(Output::Call(call));
    }

    fn send(&mut self, to: Incarnation, message: Message, now: Instant) {
        if to == self.me {
            self.to_self.push_back(message);
            return;
        }
        let number = match message {
            Message::Told { .. } => None,
            _ => Some(self.links.number(to)),
        };
        let packet = Packet { from: self.me, number, sent: now, message };
        self.out.push(Output::Send { to, packet });
    }

    fn send_all(&mut self, message: &Message, now: Instant) {
        let others: Vec<Incarnation> = self.living.iter().copied().filter(|node| *node != self.me).collect();
        for node in others {
            self.send(node, message.clone(), now);
        }
    }

    /// A tenth of a second has passed.
    pub(super) fn tick(&mut self, season: Season, now: Instant) {
        self.beat(now);
        for node in std::mem::take(&mut self.missed) {
            self.heal(node, now);
        }
        self.repeat_orders(now);
        if now >= self.next_second {
            self.next_second = now + SECOND;
            self.every_second(now);
        }
        self.lane_tick(now);
        if self.lease.is_frozen(now) {
            return;
        }
        self.wake_rooms(now);
        self.hand_over(now);
        self.run_desk(season, now);
    }

    fn beat(&mut self, now: Instant) {
        if self.lease.is_beat_due(now) {
            self.lease.beat_sent(now);
            self.call(Call::Beat { sent: now });
        }
        if now >= self.next_look {
            let rank = self.living.range(..self.me).count();
            self.next_look = now + membership::look_again_after(rank);
            self.call(Call::Beats);
        }
    }

    fn every_second(&mut self, now: Instant) {
        self.call(Call::Places);
        let others: Vec<Incarnation> = self.living.iter().copied().filter(|node| *node != self.me).collect();
        for node in others {
            let last = self.links.last(node);
            self.send(node, Message::Told { last }, now);
        }
        self.ask_missing_seats();
        self.open_places(now);
        self.ask_for_settlements();
        if self.places.owner(Place::of_role(Role::Registrar)) == Some(self.me) {
            self.call(Call::Unsettled);
        }
    }

    /// A packet has come.
    pub(super) fn receive(&mut self, packet: Packet, now: Instant) {
        let Packet { from, number, sent, message } = packet;
        if self.gone.contains(&from) {
            return;
        }
        let receipt = match (&message, number) {
            (Message::Told { last }, _) if self.links.told(from, *last) => Receipt::AfterAHole,
            (_, Some(number)) => self.links.receive(from, number),
            (_, None) => Receipt::InOrder,
        };
        if receipt == Receipt::Old {
            return;
        }
        if receipt == Receipt::AfterAHole {
            self.holes += 1;
            if !self.has(Defect::GapIgnored) {
                self.missed.insert(from);
            }
        }
        let is_too_old = now.saturating_duration_since(sent) >= TOO_OLD_AFTER;
        if !(is_too_old && matches!(message, Message::Order { .. } | Message::Start { .. })) {
            self.hear(from, message, now);
        }
    }

    /// Something of what a node has sent is missing: all that it may have been about is asked for.
    fn heal(&mut self, from: Incarnation, now: Instant) {
        self.send(from, Message::RosterWanted, now);
        self.sit_again(|places, place| places.owner(place) == Some(from), now);
        for session in self.sessions.values_mut().filter(|session| session.game.is_none()) {
            session.asked = false;
        }
    }

    fn hear(&mut self, from: Incarnation, message: Message, now: Instant) {
        match message {
            Message::Order { number, order } => self.take_order((from, number), order, now),
            Message::Answer { number, answer } => self.take_answer(number, answer, now),
            Message::Deliver { to, frame } => self.deliver(&to, &frame),
            Message::Playing { game, players } => self.seated(&game, &players, now),
            Message::Start { spec, desk_term } => self.take_start(from, *spec, desk_term, now),
            Message::Started { game } => self.started(&game),
            Message::Roster { version, change } => match self.roster.change(from, version, &change) {
                Heard::Applied => self.heard_change(from, &change, now),
                Heard::Old => {}
                Heard::Missing => self.send(from, Message::RosterWanted, now),
            },
            Message::RosterWanted => {
                let (version, players) = self.own.whole();
                self.send(from, Message::WholeRoster { version, players }, now);
            }
            Message::WholeRoster { version, players } => {
                for player in self.roster.whole(from, version, players) {
                    self.came(from, &player, now);
                }
                self.drop_absent(from, now);
            }
            Message::PlacesChanged => self.call(Call::Places),
            Message::Told { .. } => {}
        }
    }

    /// The database has answered.
    pub(super) fn hear_database(&mut self, reply: Reply, now: Instant) {
        match reply {
            Reply::Beaten { sent } => self.lease.renewed(sent),
            Reply::Fenced => self.out.push(Output::End),
            Reply::Beats(beats) => {
                if let Some(whom) =
                    membership::lost(&beats, self.me).filter(|_| self.lease.may_take_over(now))
                {
                    self.call(Call::TakeOver { whom });
                }
            }
            Reply::Places { version, places, living } if version > self.version => {
                self.version = version;
                self.adopt(places, living, now);
            }
            Reply::Places { .. } => {} // overtaken on its way
            Reply::Opened { places, games } => self.opened(&places, games, now),
            Reply::Seat { session, game } => self.seat_known(session, game, now),
            Reply::Seats { poll, players } => self.seats_known(poll, players),
            Reply::Committed { number, outcomes } => self.committed(number, &outcomes, now),
            Reply::Unsettled(games) => self.number(games),
            Reply::Settled(settlements) => self.settled(settlements, now),
            Reply::Game { session, game } => self.game_read(session, game.map(|game| *game), now),
        }
    }

    /// The table has changed: rooms of what is no longer ours close, what is ours now is read, and players are seated
    /// where their games are now.
    fn adopt(&mut self, places: Places, living: BTreeSet<Incarnation>, now: Instant) {
        let before = std::mem::replace(&mut self.places, places);
        let dead: Vec<Incarnation> = self.living.difference(&living).copied().collect();
        let new: Vec<Incarnation> = living.difference(&self.living).copied().collect();
        self.living = living;
        for node in dead {
            self.bury(node, now);
        }
        for node in new {
            self.send(node, Message::RosterWanted, now);
        }
        for (place, tenure) in self.places.clone().tenures() {
            if before.tenure(place).is_some_and(|known| known.term == tenure.term) {
                continue;
            }
            self.close(place);
            if tenure.owner == self.me {
                self.opening.insert(place, now);
            }
        }
        self.ask_for_places();
        if !self.has(Defect::SeatLost) {
            self.sit_again(
                |places, place| {
                    places.tenure(place).map(|now| now.term) != before.tenure(place).map(|then| then.term)
                },
                now,
            );
        }
    }

    /// Somebody was replaced.
    fn bury(&mut self, node: Incarnation, now: Instant) {
        self.gone.insert(node);
        self.links.forget(node);
        self.roster.forget(node);
        self.drop_absent(node, now);
    }

    fn answer(&mut self, (to, number): (Incarnation, OrderNumber), answer: Answer, now: Instant) {
        self.send(to, Message::Answer { number, answer }, now);
    }
}
