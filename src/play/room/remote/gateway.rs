//! Where sessions are: takes commands to rooms elsewhere, and hands on what these say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::MissedTickBehavior;

use super::words::{Answer, Answered, Letter, Order, OrderId, Presence, Telling, Word, micros};
use crate::cluster::Incarnation;
use crate::cluster::bus::Inbox;
use crate::cluster::orders::{OrderNumber, Unanswered};
use crate::cluster::port::{Counts, Port, Received};
use crate::model::clock::now;
use crate::model::ids::{GameId, PlayerId};
use crate::play::room::command::{Command, INBOX_MAX, MemberId, Recipient, ReplyTo, TakenSeat};
use crate::play::room::refusal::RoomRefusal;
use crate::protocol::ServerMessage;
use crate::protocol::server::{Frame, Snapshot, Urgency};

/// How often it is looked what must be sent again or is given up, and what was missed.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Orders are hurried at most once in this time: each that comes too early says that others are missing.
const HURRY_EVERY: Duration = Duration::from_millis(100);

/// For so long a room that has closed may still be heard.
const LINGER: Duration = Duration::from_secs(1);

/// Orders that were given up whose late answers are known as such, in each room.
const GIVEN_UP_MAX: usize = 64;

/// Where sessions are. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<Inner>);

struct Inner {
    port: Port,
    /// Whose rooms these are.
    owner: Incarnation,
    /// A lock, for sessions give orders without waiting. It is held for one look or one entry, or while packets are
    /// put on the bus; nobody is told anything meanwhile.
    rooms: Mutex<Rooms>,
}

#[derive(Default)]
struct Rooms {
    /// How often the numbering of orders has begun.
    streams: u64,
    by_game: BTreeMap<GameId, RemoteRoom>,
}

/// What a connection does in a room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It has asked for something.
    Asks,
    Sits,
    Watches,
}

impl Role {
    /// What becomes of somebody who was shown the game as a watcher.
    fn watching(self, asked: &Order) -> Self {
        match asked {
            Order::Watch { .. } => Self::Watches,
            _ => self,
        }
    }
}

/// A connection that a room knows, or is about to.
struct Known {
    player: Option<PlayerId>,
    recipient: Arc<dyn Recipient>,
    role: Role,
    /// How the owner believes that it stands.
    told: Presence,
}

/// What was ordered.
struct Given {
    member: Option<MemberId>,
    re: Option<Box<str>>,
    order: Order,
}

/// Who waits for an answer.
enum Asker {
    Nobody,
    /// Somebody who waits for words.
    Reply {
        reply: ReplyTo,
        is_move: bool,
    },
    /// All who watch, after something was missed.
    Crowd,
    Seat {
        member: MemberId,
        seated: oneshot::Sender<Option<TakenSeat>>,
    },
    Look(oneshot::Sender<Snapshot>),
    Pause(oneshot::Sender<()>),
}

struct Waiting {
    given: Arc<Given>,
    asker: Asker,
    /// Its place among the orders to this room.
    place: OwnedSemaphorePermit,
}

/// A room elsewhere.
struct RemoteRoom {
    stream: u64,
    orders: Unanswered<Arc<Given>>,
    waiting: BTreeMap<OrderNumber, Waiting>,
    given_up: BTreeSet<OrderNumber>,
    hurried: Option<Instant>,
    known: BTreeMap<MemberId, Known>,
    places: Arc<Semaphore>,
    /// Something that it said was missed.
    is_behind: bool,
    closed: Option<Instant>,
}

impl RemoteRoom {
    fn new(stream: u64) -> Self {
        Self {
            stream,
            orders: Unanswered::default(),
            waiting: BTreeMap::new(),
            given_up: BTreeSet::new(),
            hurried: None,
            known: BTreeMap::new(),
            places: Arc::new(Semaphore::new(INBOX_MAX)),
            is_behind: false,
            closed: None,
        }
    }

    /// Takes note of a connection that may be spoken to from now on.
    fn know(&mut self, member: MemberId, player: Option<&PlayerId>, recipient: &Arc<dyn Recipient>) {
        let told = presence_of(member, &**recipient);
        let known = self.known.entry(member).or_insert_with(|| Known {
            player: None,
            recipient: Arc::clone(recipient),
            role: Role::Asks,
            told,
        });
        known.player = player.cloned().or_else(|| known.player.take());
    }
}

fn presence_of(member: MemberId, recipient: &dyn Recipient) -> Presence {
    Presence {
        member: member.number(),
        is_connected: recipient.is_connected(),
        round_trip_us: micros(recipient.round_trip()),
    }
}

/// Something to be said once nothing is locked.
enum Saying {
    To { recipient: Arc<dyn Recipient>, frame: Frame, re: Option<Box<str>>, urgency: Urgency },
    Useless(Arc<dyn Recipient>),
    Refused { asker: Asker, game: GameId, refusal: RoomRefusal },
}

impl Saying {
    fn say(self) {
        match self {
            Self::To { recipient, frame, re, urgency } => recipient.deliver(&frame, re.as_deref(), urgency),
            Self::Useless(recipient) => recipient.useless_move(),
            Self::Refused { asker: Asker::Reply { reply, is_move }, game, refusal } => {
                let error = refusal.to_wire(&game);
                if is_move {
                    reply.refuse_move(error);
                } else {
                    reply.send(&error.into());
                }
            }
            // Whoever waits for something else hears of it by getting nothing.
            Self::Refused { .. } => {}
        }
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gateway").field(self.counts()).finish()
    }
}

impl Gateway {
    /// A gateway to the rooms of this node.
    pub(super) fn new(port: Port, owner: Incarnation) -> Self {
        Self(Arc::new(Inner { port, owner, rooms: Mutex::default() }))
    }

    pub(super) fn counts(&self) -> &Counts {
        self.0.port.counts()
    }

    fn rooms(&self) -> MutexGuard<'_, Rooms> {
        self.0.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an order for which there is a place.
    ///
    /// # Errors
    ///
    /// Too many orders wait, or the room is known to be closed.
    pub(in crate::play::room) fn try_send(
        &self,
        game: &GameId,
        command: Box<Command>,
    ) -> Result<(), TrySendError<Box<Command>>> {
        let mut rooms = self.rooms();
        let room = rooms.room(game);
        if room.closed.is_some() {
            return Err(TrySendError::Closed(command));
        }
        match Arc::clone(&room.places).try_acquire_owned() {
            Ok(place) => self.give(game, room, *command, place),
            Err(_full) => return Err(TrySendError::Full(command)),
        }
        Ok(())
    }

    /// Gives an order as soon as there is a place for it; a closed room needs no news.
    pub(in crate::play::room) async fn send(&self, game: &GameId, command: Command) {
        let places = Arc::clone(&self.rooms().room(game).places);
        let Ok(place) = places.acquire_owned().await else { return };
        let mut rooms = self.rooms();
        let room = rooms.room(game);
        if room.closed.is_none() {
            self.give(game, room, command, place);
        }
    }

    /// A connection that sits in a room which does not run yet.
    pub(super) fn seat(
        &self,
        game: &GameId,
        player: &PlayerId,
        member: MemberId,
        recipient: &Arc<dyn Recipient>,
    ) -> Presence {
        let mut rooms = self.rooms();
        let room = rooms.room_that_opens(game);
        room.know(member, Some(player), recipient);
        if let Some(known) = room.known.get_mut(&member) {
            known.role = Role::Sits;
        }
        presence_of(member, &**recipient)
    }

    /// A room has closed. What it said last may still be under way.
    pub(super) fn closed(&self, game: &GameId) {
        if let Some(room) = self.rooms().by_game.get_mut(game) {
            room.closed = Some(now());
        }
    }

    fn give(&self, game: &GameId, room: &mut RemoteRoom, command: Command, place: OwnedSemaphorePermit) {
        let (given, asker) = given_by(room, command);
        self.order(game, room, Arc::new(given), asker, place);
    }

    fn order(
        &self,
        game: &GameId,
        room: &mut RemoteRoom,
        given: Arc<Given>,
        asker: Asker,
        place: OwnedSemaphorePermit,
    ) {
        let number = room.orders.add(Arc::clone(&given), now());
        self.post(game, room, number, &given);
        if let (Order::Leave | Order::Unwatch, Some(member)) = (&given.order, given.member) {
            let leaves = given.order == Order::Leave;
            let goes = |known: &Known| leaves || known.role != Role::Sits;
            if room.known.get(&member).is_some_and(goes) {
                room.known.remove(&member);
            }
        }
        room.waiting.insert(number, Waiting { given, asker, place });
    }

    /// Puts an order on the bus, with what its connection is like now.
    fn post(&self, game: &GameId, room: &mut RemoteRoom, number: OrderNumber, given: &Given) {
        let known = given.member.and_then(|member| Some((member, room.known.get_mut(&member)?)));
        let presence = known.map(|(member, known)| {
            known.told = presence_of(member, &*known.recipient);
            known.told
        });
        let letter = Letter {
            id: OrderId { stream: room.stream, number },
            oldest: room.orders.oldest(),
            game: game.clone(),
            member: given.member.map(MemberId::number),
            presence,
            re: given.re.clone(),
            order: given.order.clone(),
        };
        self.0.port.send(self.0.owner, Word::Order(Box::new(letter)));
    }

    /// Hands on what rooms say.
    pub(super) async fn run(self, mut inbox: Inbox) {
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                biased;
                packet = inbox.recv() => match packet {
                    Some(packet) => self.take(&packet),
                    None => return,
                },
                _ = look.tick() => {
                    looks = looks.wrapping_add(1);
                    self.look_around();
                    if looks.is_multiple_of(BEAT_LOOKS) {
                        self.0.port.beat(self.0.owner);
                    }
                }
            }
        }
    }

    fn take(&self, packet: &[u8]) {
        let Some(Received { after_a_hole, word, .. }) = self.0.port.receive(packet) else { return };
        let mut rooms = self.rooms();
        if after_a_hole {
            rooms.by_game.values_mut().for_each(|room| room.is_behind = true);
        }
        let sayings = word.map(|word| self.heard(&mut rooms, word)).unwrap_or_default();
        drop(rooms);
        sayings.into_iter().for_each(Saying::say);
    }

    fn heard(&self, rooms: &mut Rooms, word: Word) -> Vec<Saying> {
        let Some(room) = rooms.by_game.get_mut(word.game()) else { return Vec::new() };
        match word {
            Word::Deliver { game, member, urgency, answered: Some(answered), telling, frame } => {
                let late = ToMember { member, urgency, frame };
                self.answered(&game, room, answered, telling, late)
            }
            Word::Deliver { member, urgency, frame, .. } => {
                to_member(room, ToMember { member, urgency, frame }, None)
            }
            Word::Crowd { urgency, frame, .. } => to_crowd(room, &frame, urgency),
            Word::Useless { member, .. } => {
                let known = room.known.get(&MemberId::of(Incarnation::HERE, member));
                known.map(|known| Saying::Useless(Arc::clone(&known.recipient))).into_iter().collect()
            }
            Word::Answer { game, order, answer } => {
                concluded(room, &game, order, answer).into_iter().collect()
            }
            Word::Missing { game, stream } => {
                let rests = |hurried: Instant| now().saturating_duration_since(hurried) < HURRY_EVERY;
                if stream == room.stream && !room.hurried.is_some_and(rests) {
                    room.hurried = Some(now());
                    room.orders.hurry(|_| true);
                    self.repeat(&game, room);
                }
                Vec::new()
            }
            Word::Order(_) | Word::Presence { .. } => {
                self.counts().add_unreadable();
                Vec::new()
            }
        }
    }

    /// A room answers an order with a message.
    fn answered(
        &self,
        game: &GameId,
        room: &mut RemoteRoom,
        answered: Answered,
        telling: Telling,
        late: ToMember,
    ) -> Vec<Saying> {
        let Answered { order: OrderId { stream, number }, re } = answered;
        let waiting = if stream == room.stream { room.waiting.remove(&number) } else { None };
        let Some(Waiting { given, asker, place }) = waiting else {
            return match telling {
                Telling::Again => Vec::new(),
                Telling::First => answered_more(room, number, late, re),
            };
        };
        room.orders.answered(number);
        let you = match late.frame.message() {
            ServerMessage::Game(snapshot) => Some(snapshot.you),
            _ => None,
        };
        if let (Some(you), Some(known)) = (you, given.member.and_then(|member| room.known.get_mut(&member))) {
            known.role = if you.is_some() { Role::Sits } else { known.role.watching(&given.order) };
        }
        if telling == Telling::Again && you.is_some() {
            // The game has gone on since.
            let order = Order::Sync { player: given.order.player().cloned(), skipped: None };
            let given = Given { member: given.member, re: given.re.clone(), order };
            self.order(game, room, Arc::new(given), asker, place);
            return Vec::new();
        }
        let ToMember { urgency, frame, .. } = late;
        match asker {
            Asker::Reply { reply, .. } => {
                let ReplyTo { recipient, re, .. } = reply;
                vec![Saying::To { recipient, frame, re, urgency }]
            }
            Asker::Crowd => to_crowd(room, &frame, Urgency::Droppable),
            Asker::Nobody | Asker::Seat { .. } | Asker::Look(_) | Asker::Pause(_) => Vec::new(),
        }
    }

    /// Sends orders again that are due.
    fn repeat(&self, game: &GameId, room: &mut RemoteRoom) {
        for (number, given) in room.orders.due(now()) {
            self.post(game, room, number, &given);
        }
    }

    /// Sends again, gives up, tells what has changed and asks for what was missed.
    fn look_around(&self) {
        let mut sayings = Vec::new();
        let mut rooms = self.rooms();
        for (game, room) in &mut rooms.by_game {
            self.repeat(game, room);
            for (number, _) in room.orders.given_up(now()) {
                let Some(Waiting { asker, .. }) = room.waiting.remove(&number) else { continue };
                room.given_up.insert(number);
                let (game, refusal) = (game.clone(), RoomRefusal::Unreachable);
                sayings.push(Saying::Refused { asker, game, refusal });
            }
            while room.given_up.len() > GIVEN_UP_MAX {
                room.given_up.pop_first();
            }
            self.tell_presence(game, room);
            if std::mem::take(&mut room.is_behind) {
                self.catch_up(game, room);
            }
        }
        rooms.by_game.retain(|_, room| !room.is_done());
        drop(rooms);
        sayings.into_iter().for_each(Saying::say);
    }

    fn tell_presence(&self, game: &GameId, room: &mut RemoteRoom) {
        for (member, known) in room.known.iter_mut().filter(|(_, known)| known.role == Role::Sits) {
            let presence = presence_of(*member, &*known.recipient);
            if presence != known.told {
                known.told = presence;
                self.0.port.send(self.0.owner, Word::Presence { game: game.clone(), presence });
            }
        }
    }

    /// Asks for snapshots: one for each connection of a player, with a prompt if its turn may have been missed, and
    /// one for all who watch.
    fn catch_up(&self, game: &GameId, room: &mut RemoteRoom) {
        let mut wanted = Vec::new();
        let mut crowd = None;
        for (member, known) in &room.known {
            let (member, recipient) = (*member, Arc::clone(&known.recipient));
            match known.role {
                Role::Sits => {
                    let reply = ReplyTo { member, recipient, re: None };
                    let order = Order::Sync { player: known.player.clone(), skipped: None };
                    wanted.push((member, order, Asker::Reply { reply, is_move: false }));
                    wanted.push((member, Order::Prompt, Asker::Nobody));
                }
                Role::Watches => crowd = Some(member),
                Role::Asks => {}
            }
        }
        let order = Order::Sync { player: None, skipped: None };
        wanted.extend(crowd.map(|member| (member, order, Asker::Crowd)));
        for (member, order, asker) in wanted {
            let Ok(place) = Arc::clone(&room.places).try_acquire_owned() else {
                room.is_behind = true;
                return;
            };
            let given = Given { member: Some(member), re: None, order };
            self.order(game, room, Arc::new(given), asker, place);
        }
    }
}

/// Looks between two beats: one a second.
const BEAT_LOOKS: u32 = 4;

impl Rooms {
    fn room(&mut self, game: &GameId) -> &mut RemoteRoom {
        let streams = &mut self.streams;
        self.by_game.entry(game.clone()).or_insert_with(|| {
            *streams += 1;
            RemoteRoom::new(*streams)
        })
    }

    /// A room that opens, perhaps again: then it knows nobody yet.
    fn room_that_opens(&mut self, game: &GameId) -> &mut RemoteRoom {
        let room = self.room(game);
        if room.closed.take().is_some() {
            room.known.clear();
        }
        room
    }
}

impl RemoteRoom {
    /// Whether it can be forgotten.
    fn is_done(&self) -> bool {
        let has_lingered = |closed: Instant| now().saturating_duration_since(closed) >= LINGER;
        self.orders.is_empty() && self.closed.map_or(self.known.is_empty(), has_lingered)
    }
}

/// A frame for one connection.
struct ToMember {
    member: u64,
    urgency: Urgency,
    frame: Frame,
}

fn to_member(room: &mut RemoteRoom, told: ToMember, re: Option<Box<str>>) -> Vec<Saying> {
    let ToMember { member, urgency, frame } = told;
    let Some(known) = room.known.get_mut(&MemberId::of(Incarnation::HERE, member)) else { return Vec::new() };
    if known.role == Role::Asks {
        // It is told unasked what players are told.
        known.role = Role::Sits;
    }
    vec![Saying::To { recipient: Arc::clone(&known.recipient), frame, re, urgency }]
}

/// An answer to an order for which nobody waits any more.
fn answered_more(
    room: &mut RemoteRoom,
    number: OrderNumber,
    late: ToMember,
    re: Option<Box<str>>,
) -> Vec<Saying> {
    if !room.given_up.contains(&number) {
        // The same request is answered by more than one message.
        return to_member(room, late, re);
    }
    // Whoever asked was told that nobody answers.
    match late.frame.message() {
        ServerMessage::Error(_) | ServerMessage::Ok(_) => Vec::new(),
        _ => to_member(room, late, None),
    }
}

fn to_crowd(room: &RemoteRoom, frame: &Frame, urgency: Urgency) -> Vec<Saying> {
    let watchers = room.known.values().filter(|known| known.role == Role::Watches);
    let told = |known: &Known| {
        let (recipient, frame) = (Arc::clone(&known.recipient), frame.clone());
        Saying::To { recipient, frame, re: None, urgency }
    };
    watchers.map(told).collect()
}

/// What became of an order that is answered by no message.
fn concluded(room: &mut RemoteRoom, game: &GameId, order: OrderId, answer: Answer) -> Option<Saying> {
    if order.stream != room.stream {
        return None;
    }
    let Waiting { asker, .. } = room.waiting.remove(&order.number)?;
    room.orders.answered(order.number);
    match (asker, answer) {
        (Asker::Seat { member, seated }, Answer::Seat(seat)) => {
            match (seat, room.known.get_mut(&member)) {
                (Some(_), Some(known)) => known.role = Role::Sits,
                (None, Some(known)) if known.role == Role::Asks => {
                    room.known.remove(&member);
                }
                (_, _) => {}
            }
            // Whoever asked may have gone.
            let _ = seated.send(seat);
            None
        }
        (Asker::Look(answer), Answer::Looked(frame)) => {
            if let ServerMessage::Game(snapshot) = frame.message() {
                let _ = answer.send((**snapshot).clone()); // as above
            }
            None
        }
        (Asker::Pause(done), Answer::Done) => {
            let _ = done.send(()); // as above
            None
        }
        (asker, Answer::Busy) => Some(refused(asker, game, RoomRefusal::Busy)),
        (asker, Answer::Closed) => Some(refused(asker, game, RoomRefusal::Closed)),
        _ => None,
    }
}

fn refused(asker: Asker, game: &GameId, refusal: RoomRefusal) -> Saying {
    Saying::Refused { asker, game: game.clone(), refusal }
}

/// The order that a command stands for, and who waits for what becomes of it.
fn given_by(room: &mut RemoteRoom, command: Command) -> (Given, Asker) {
    let mut replied = |order: Order, reply: ReplyTo, is_move: bool| {
        room.know(reply.member, order.player(), &reply.recipient);
        let given = Given { member: Some(reply.member), re: reply.re.clone(), order };
        (given, Asker::Reply { reply, is_move })
    };
    let plain = |member: Option<MemberId>, order: Order| (Given { member, re: None, order }, Asker::Nobody);
    match command {
        Command::Play { player, play, reply } => {
            let order = Order::Play {
                player,
                ply: play.ply,
                column: play.column.map(fourfold_engine::Column::number),
                forgiven: play.forgiven,
                info: play.info,
                said: play.said,
                round_trip_us: micros(play.round_trip),
            };
            replied(order, reply, true)
        }
        Command::Act { player, action, reply } => replied(Order::Act { player, action }, reply, false),
        Command::Watch { player, reply } => replied(Order::Watch { player }, reply, false),
        Command::Sync { player, reply, skipped } => replied(Order::Sync { player, skipped }, reply, false),
        Command::Sit { player, member, recipient, seated } => {
            room.know(member, Some(&player), &recipient);
            let (given, _) = plain(Some(member), Order::Sit { player });
            (given, Asker::Seat { member, seated })
        }
        Command::Look { player, answer } => {
            let (given, _) = plain(None, Order::Look { player });
            (given, Asker::Look(answer))
        }
        Command::Pause { done } => (plain(None, Order::Pause).0, Asker::Pause(done)),
        Command::Fail { side } => plain(None, Order::Fail { side: side.into() }),
        Command::Expel { player } => plain(None, Order::Expel { player }),
        Command::Vacation { player, lasts } => plain(None, Order::Vacation { player, lasts }),
        Command::StandStill(standstill) => plain(None, Order::StandStill { standstill }),
        Command::Conditional { player, moves } => plain(None, Order::conditional(player, moves.as_ref())),
        Command::Wait { side, wait } => plain(None, Order::Wait { side: side.into(), wait }),
        Command::Prompt { member } => plain(Some(member), Order::Prompt),
        Command::Connected { member, connection } => plain(Some(member), Order::Connected { connection }),
        Command::Leave { member } => plain(Some(member), Order::Leave),
        Command::Unwatch { member } => plain(Some(member), Order::Unwatch),
    }
}
