//! The rooms of a node: the daemon's own rules of a table, fed with the orders of gateways.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};

use super::super::defect::Defect;
use super::super::words::{Answer, Call, Deed, Frame, Message, Order, Over, Stored};
use super::Node;
use crate::cluster::Incarnation;
use crate::cluster::orders::OrderNumber;
use crate::cluster::places::{Place, Tenure};
use crate::cluster::roster::Change;
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::play::room::state::{Effect, Play, PlayedMove, RoomState, StoreRequest};
use crate::storage::record::{EventKind, GameSpec, Settlement, StoredGame};

/// After so long what was asked of the database is asked again.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// How long a game that was handed over waits for its players before its clock runs.
const HANDED_OVER_WAIT: Duration = Duration::from_secs(3);

/// What the wall shows; no rule looks at it here.
const WALL: UnixMillis = UnixMillis(1_790_000_000_000);

pub(super) const PEOPLE: BySide<PlayerKind> = BySide { first: PlayerKind::Human, second: PlayerKind::Human };

/// Names an order: the gateway that gave it, and its number there.
type Asker = (Incarnation, OrderNumber);

#[derive(Debug)]
pub(in crate::cluster::simulation) struct Room {
    state: RoomState,
    /// Players by the nodes that have sessions of them.
    members: BTreeSet<(Incarnation, PlayerId)>,
    asker: Option<Asker>,
    deferred: VecDeque<(Asker, Order)>,
    /// The last events are stored, number and ratings are yet to come.
    settling: bool,
    /// When its clock runs at the latest, of one that was handed over.
    begins: Option<Instant>,
    /// Its clocks are stored: it is being handed over.
    paused: bool,
    /// Orders that were done, for a planted mistake alone.
    done: BTreeSet<Asker>,
}

impl Room {
    fn new(state: RoomState) -> Self {
        Self {
            state,
            members: BTreeSet::new(),
            asker: None,
            deferred: VecDeque::new(),
            settling: false,
            begins: None,
            paused: false,
            done: BTreeSet::new(),
        }
    }

    fn side_of(&self, player: &PlayerId) -> Option<Side> {
        let players = &self.state.spec().players;
        Side::BOTH.into_iter().find(|side| players[*side] == *player)
    }

    fn snapshot(&self, side: Side) -> Frame {
        let over = if self.state.end().is_some() { Over::Yes } else { Over::NotYet };
        let game = self.state.spec().id.clone();
        Frame::Snapshot { game, side, moves: self.state.game().moves().to_vec(), over }
    }

    fn is_here(&self, side: Side) -> bool {
        let player = &self.state.spec().players[side];
        self.members.iter().any(|(_, member)| member == player)
    }
}

impl Node {
    /// Asks for the games of places that are to be opened.
    pub(super) fn ask_for_places(&mut self) {
        let term = |place: &Place| Some((*place, self.places.tenure(*place)?.term));
        let places: Vec<(Place, u32)> = self.opening.keys().filter_map(term).collect();
        if !places.is_empty() {
            self.call(Call::Open { places });
        }
    }

    /// Asks again for what has not come.
    pub(super) fn open_places(&mut self, now: Instant) {
        let is_late = |asked: &Instant| now.saturating_duration_since(*asked) >= ASK_AGAIN_AFTER;
        if self.opening.values().any(is_late) {
            self.opening.values_mut().for_each(|asked| *asked = now);
            self.ask_for_places();
        }
    }

    /// Reads a place's games anew: what is stored differs from what was believed.
    pub(super) fn reopen(&mut self, place: Place, now: Instant) {
        self.close(place);
        if self.places.owner(place) == Some(self.me) {
            self.opening.insert(place, now);
            self.ask_for_places();
        }
    }

    pub(super) fn close(&mut self, place: Place) {
        self.serving.remove(&place);
        self.opening.remove(&place);
        self.leaving.remove(&place);
        self.rooms.retain(|game, _| Place::of(game) != place);
    }

    /// The games of places are read. What was asked for before this node wrote something is not the last word.
    pub(super) fn opened(&mut self, places: &[(Place, u32)], games: Vec<StoredGame>, now: Instant) {
        let mut ready: BTreeSet<Place> = BTreeSet::new();
        for (place, term) in places {
            let is_ours = self.places.tenure(*place).is_some_and(|tenure| tenure.term == *term);
            if is_ours && self.opening.contains_key(place) && !self.lane.is_about(*place) {
                self.opening.remove(place);
                self.serving.insert(*place);
                ready.insert(*place);
            }
        }
        for game in games.into_iter().filter(|game| ready.contains(&Place::of(&game.spec.id))) {
            self.open_room(game, now);
        }
    }

    fn open_room(&mut self, stored: StoredGame, now: Instant) {
        let (game, players) = (stored.spec.id.clone(), stored.spec.players.clone());
        let is_paused = matches!(stored.events.last().map(|event| &event.kind), Some(EventKind::Paused));
        let room = if is_paused {
            let state = RoomState::replayed(stored, PEOPLE, now).expect("a stored game is legal");
            Room { begins: Some(now + HANDED_OVER_WAIT), ..Room::new(state) }
        } else {
            Room::new(
                RoomState::restore(stored, PEOPLE, now, WALL, &BySide::default())
                    .expect("a stored game is legal"),
            )
        };
        self.rooms.insert(game.clone(), room);
        self.tell_seated(&game, &players, now);
    }

    /// A game was stored that the desk has given us.
    pub(super) fn begin(&mut self, spec: GameSpec, now: Instant) {
        let (game, players) = (spec.id.clone(), spec.players.clone());
        let mut state = RoomState::new(spec, PEOPLE, now).expect("no opening is none that decides");
        let _prompt = state.begin(now);
        self.rooms.insert(game.clone(), Room::new(state));
        self.tell_seated(&game, &players, now);
    }

    /// Tells the nodes that have sessions of the players.
    fn tell_seated(&mut self, game: &GameId, players: &BySide<PlayerId>, now: Instant) {
        let theirs: BTreeSet<Incarnation> =
            Side::BOTH.into_iter().flat_map(|side| self.roster.nodes_of(&players[side])).collect();
        for node in theirs {
            let message = Message::Playing { game: game.clone(), players: players.clone() };
            self.send(node, message, now);
        }
    }

    pub(super) fn heard_change(&mut self, from: Incarnation, change: &Change, now: Instant) {
        match change {
            Change::Came(player) => self.came(from, player, now),
            Change::Went(_) => self.drop_absent(from, now),
        }
    }

    /// A player has a session at a node: it is told of the game that the player has here.
    pub(super) fn came(&mut self, node: Incarnation, player: &PlayerId, now: Instant) {
        let theirs = self.rooms.values().filter(|room| room.side_of(player).is_some());
        let specs = theirs.map(|room| (room.state.spec().id.clone(), room.state.spec().players.clone()));
        for (game, players) in specs.collect::<Vec<_>>() {
            self.send(node, Message::Playing { game, players }, now);
        }
    }

    /// Players who have no session at a node any more sit here no longer by it.
    pub(super) fn drop_absent(&mut self, node: Incarnation, now: Instant) {
        let games: Vec<GameId> = self.rooms.keys().cloned().collect();
        for game in games {
            let Some(room) = self.rooms.get_mut(&game) else { continue };
            let roster = &self.roster;
            room.members
                .retain(|(at, player)| *at != node || roster.nodes_of(player).any(|known| known == node));
            for side in Side::BOTH {
                self.presence(&game, side, now);
            }
        }
    }

    fn presence(&mut self, game: &GameId, side: Side, now: Instant) {
        let Some(room) = self.rooms.get_mut(game) else { return };
        let is_here = room.is_here(side);
        let effects = room.state.presence_changed(side, is_here, false, now);
        self.carry_out(game, effects, now);
    }

    /// A gateway has something done.
    pub(super) fn take_order(&mut self, asker: Asker, order: Order, now: Instant) {
        let place = Place::of(&order.game);
        let is_ours = self.places.owner(place) == Some(self.me);
        if !is_ours {
            self.answer(asker, Answer::NotHere, now);
            return;
        }
        let stands_still = self.lease.is_frozen(now) || self.leaving.contains(&place);
        if stands_still || !self.serving.contains(&place) {
            return; // it is repeated
        }
        let Some(room) = self.rooms.get_mut(&order.game) else {
            self.answer(asker, Answer::Over, now);
            return;
        };
        match order.deed {
            Deed::Sit => self.sit_down(asker, &order, now),
            Deed::Play { .. } if room.state.is_storing() => {
                let is_known =
                    room.asker == Some(asker) || room.deferred.iter().any(|(other, _)| *other == asker);
                if !is_known {
                    room.deferred.push_back((asker, order));
                }
            }
            Deed::Play { ply, column } => {
                let (column, round_trip) = (Ok(column), Duration::ZERO);
                let (info, said, received) = (None, None, now);
                let mut play = Play { ply, column, forgiven: 0, info, said, received, round_trip };
                let is_repeated = !room.done.insert(asker);
                if is_repeated && self.defect == Some(Defect::OrderTwice) {
                    play.ply = room.state.game().ply();
                }
                self.play_stone(asker, &order, &play, now);
            }
        }
    }

    fn sit_down(&mut self, asker: Asker, order: &Order, now: Instant) {
        let Some(room) = self.rooms.get_mut(&order.game) else { return };
        let Some(side) = room.side_of(&order.player) else {
            self.answer(asker, Answer::Refused, now);
            return;
        };
        room.members.insert((asker.0, order.player.clone()));
        let frame = room.snapshot(side);
        self.answer(asker, Answer::Done, now);
        self.send(asker.0, Message::Deliver { to: order.player.clone(), frame }, now);
        self.presence(&order.game, side, now);
        self.begin_handed_over(&order.game, now);
    }

    /// The clock of a game that was handed over runs as soon as both are there.
    fn begin_handed_over(&mut self, game: &GameId, now: Instant) {
        let Some(room) = self.rooms.get_mut(game) else { return };
        let Some(begins) = room.begins else { return };
        if now >= begins || Side::BOTH.into_iter().all(|side| room.is_here(side)) {
            room.begins = None;
            let effects = room.state.begin(now);
            self.carry_out(game, effects, now);
        }
    }

    fn play_stone(&mut self, asker: Asker, order: &Order, play: &Play, now: Instant) {
        let Some(room) = self.rooms.get_mut(&order.game) else { return };
        let Some(side) = room.side_of(&order.player) else { return };
        if room.begins.take().is_some() {
            let _prompt = room.state.begin(now);
        }
        let (verdict, effects) = room.state.play(side, play, WALL);
        match verdict {
            Ok(None) => room.asker = Some(asker),
            Ok(Some(repeated)) => {
                let frame = moved(&order.game, &repeated);
                self.answer(asker, Answer::Done, now);
                self.send(asker.0, Message::Deliver { to: order.player.clone(), frame }, now);
            }
            Err(_) => self.answer(asker, Answer::Refused, now),
        }
        self.carry_out(&order.game, effects, now);
    }

    fn carry_out(&mut self, game: &GameId, effects: Vec<Effect>, now: Instant) {
        for effect in effects {
            match effect {
                Effect::Store(StoreRequest { events, finishes, .. }) => {
                    if self.has(Defect::ToldEarly)
                        && let Some(early) = self.staged_move(game, &events)
                    {
                        self.tell(game, &|_| early.clone(), now);
                    }
                    let game = game.clone();
                    let write = if finishes {
                        Stored::Finish { game, events }
                    } else {
                        Stored::Append { game, events }
                    };
                    self.store(write, None);
                }
                Effect::Moved(played) => self.tell(game, &|_| moved(game, &played), now),
                Effect::Ended => {
                    let Some(room) = self.rooms.get(game) else { return };
                    let frames = BySide::from_fn(|side| room.snapshot(side));
                    self.tell(game, &|side| frames[side].clone(), now);
                }
                Effect::Prompt(_)
                | Effect::Resnapshot
                | Effect::GivenBack(_)
                | Effect::Presence { .. }
                | Effect::RematchOffered(_)
                | Effect::RematchAgreed
                | Effect::TakebackOffered(_)
                | Effect::TakebackRefused(_) => {}
            }
        }
    }

    fn staged_move(&self, game: &GameId, events: &[crate::storage::StoredEvent]) -> Option<Frame> {
        let EventKind::Move(played) = &events.first()?.kind else { return None };
        let ply = self.rooms.get(game)?.state.game().ply();
        Some(Frame::Moved { game: game.clone(), ply, column: played.column })
    }

    /// Sends a frame to everybody who sits.
    fn tell(&mut self, game: &GameId, frame: &dyn Fn(Side) -> Frame, now: Instant) {
        let Some(room) = self.rooms.get(game) else { return };
        let members: Vec<(Incarnation, PlayerId, Side)> = room
            .members
            .iter()
            .filter_map(|(node, player)| Some((*node, player.clone(), room.side_of(player)?)))
            .collect();
        for (node, to, side) in members {
            self.send(node, Message::Deliver { to, frame: frame(side) }, now);
        }
    }

    /// What a room had stored is durable.
    pub(super) fn stored(&mut self, game: &GameId, settlement: Option<Settlement>, now: Instant) {
        let Some(room) = self.rooms.get_mut(game) else { return };
        let effects = room.state.stored(settlement, now);
        let asker = room.asker.take();
        self.carry_out(game, effects, now);
        if let Some(asker) = asker {
            self.answer(asker, Answer::Done, now);
        }
        let Some(room) = self.rooms.get_mut(game) else { return };
        let deferred: Vec<(Asker, Order)> = room.deferred.drain(..).collect();
        if room.state.end().is_some() {
            self.rooms.remove(game);
        }
        for (asker, order) in deferred {
            self.take_order(asker, order, now);
        }
    }

    /// The last events of a game are durable: it waits for its number.
    pub(super) fn finished(&mut self, game: &GameId) {
        if let Some(room) = self.rooms.get_mut(game) {
            room.settling = true;
            self.call(Call::Settled { games: vec![game.clone()] });
        }
    }

    pub(super) fn ask_for_settlements(&mut self) {
        let waiting = self.rooms.iter().filter(|(_, room)| room.settling);
        let games: Vec<GameId> = waiting.map(|(game, _)| game.clone()).collect();
        if !games.is_empty() {
            self.call(Call::Settled { games });
        }
    }

    pub(super) fn settled(&mut self, settlements: Vec<(GameId, Settlement)>, now: Instant) {
        for (game, settlement) in settlements {
            if self.rooms.get(&game).is_some_and(|room| room.settling) {
                self.stored(&game, Some(settlement), now);
            }
        }
    }

    /// Deadlines of rooms pass, unless the database stands still.
    pub(super) fn wake_rooms(&mut self, now: Instant) {
        if self.lane.is_stalled(now) {
            return;
        }
        let games: Vec<GameId> = self.rooms.keys().cloned().collect();
        for game in games {
            self.begin_handed_over(&game, now);
            let Some(room) = self.rooms.get_mut(&game).filter(|room| !room.paused) else { continue };
            if room.state.next_deadline().is_some_and(|deadline| deadline <= now) {
                let effects = room.state.wake(now, WALL);
                self.carry_out(&game, effects, now);
            }
        }
    }

    /// Gives up places that others are to have: their rooms store their clocks, then the place changes hands in the
    /// commit after that.
    pub(super) fn hand_over(&mut self, now: Instant) {
        let is_asked = |(place, tenure): &(Place, Tenure)| {
            let is_served = self.serving.contains(place) && !self.leaving.contains(place);
            tenure.owner == self.me && tenure.wanted.is_some() && is_served
        };
        let asked: Vec<Place> = self.places.tenures().filter(is_asked).map(|(place, _)| place).collect();
        self.leaving.extend(asked);
        let rooms = self.rooms.iter().fold(BTreeMap::<Place, Vec<GameId>>::new(), |mut rooms, (game, _)| {
            rooms.entry(Place::of(game)).or_default().push(game.clone());
            rooms
        });
        for place in self.leaving.clone() {
            let games = rooms.get(&place).map(Vec::as_slice).unwrap_or_default();
            let mut is_still = true;
            for game in games {
                is_still &= self.pause(game, now);
            }
            if is_still && !self.lane.is_about(place) {
                self.store_at(place, Stored::HandOver, None);
            }
        }
    }

    /// Stores the clocks of a room, which does nothing any more; whether that is done.
    fn pause(&mut self, game: &GameId, now: Instant) -> bool {
        let Some(room) = self.rooms.get_mut(game) else { return true };
        if room.state.is_storing() || room.settling {
            return false;
        }
        if !room.paused {
            room.paused = true;
            let effects = room.state.pause(now, WALL);
            self.carry_out(game, effects, now);
            return false;
        }
        true
    }
}

fn moved(game: &GameId, played: &PlayedMove) -> Frame {
    Frame::Moved { game: game.clone(), ply: played.ply, column: played.column }
}
