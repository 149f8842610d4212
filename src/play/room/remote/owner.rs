//! Where rooms are: carries out what other nodes order, and stands in for the connections there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use fourfold_engine::Column;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use super::words::{Answer, Answered, Letter, Order, OrderId, Presence, Telling, Word};
use crate::cluster::Incarnation;
use crate::cluster::bus::Inbox;
use crate::cluster::orders::OrderNumber;
use crate::cluster::port::{Counts, Port, Received};
use crate::model::clock::now;
use crate::model::ids::GameId;
use crate::play::room::command::{Command, Commands, MemberId, Recipient, ReplyTo};
use crate::play::room::state::{NoColumn, Play};
use crate::protocol::server::{Frame, ServerMessage, Urgency};

/// How often a node hears what it should have heard.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// Where rooms are. Cheap to clone.
#[derive(Clone)]
pub(super) struct Owner(Arc<Inner>);

struct Inner {
    port: Port,
    /// A lock, for rooms answer without waiting. It is held for one look or one entry, or while a packet is put on the
    /// bus.
    streams: Mutex<BTreeMap<(Incarnation, GameId), Stream>>,
}

/// The orders of one node to one room.
struct Stream {
    id: u64,
    /// What is to be done next. Orders before it are done, or were given up.
    next: OrderNumber,
    /// What was answered to orders that may come again.
    answers: BTreeMap<OrderNumber, Vec<Word>>,
    /// The node's connections that the room knows.
    members: BTreeMap<u64, Weak<RemoteMember>>,
}

impl Stream {
    fn new(id: u64, members: BTreeMap<u64, Weak<RemoteMember>>) -> Self {
        Self { id, next: OrderNumber::FIRST, answers: BTreeMap::new(), members }
    }
}

/// What is to become of an order.
enum Verdict {
    Do,
    /// It was done, and perhaps answered.
    DoneBefore(Vec<Word>),
    /// Others before it are missing.
    TooEarly,
    Stale,
}

/// An answer that a room still owes.
type Owed = BoxFuture<'static, (Incarnation, GameId, OrderId, Answer)>;

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(self.counts()).finish()
    }
}

impl Owner {
    pub(super) fn new(port: Port) -> Self {
        Self(Arc::new(Inner { port, streams: Mutex::default() }))
    }

    pub(super) fn counts(&self) -> &Counts {
        self.0.port.counts()
    }

    /// A connection of another node that is to sit in a room before it runs.
    pub(super) fn seat(
        &self,
        node: Incarnation,
        game: &GameId,
        presence: Presence,
    ) -> (MemberId, Arc<dyn Recipient>) {
        let mut streams = self.0.streams();
        let stream = streams.entry((node, game.clone())).or_insert_with(|| Stream::new(0, BTreeMap::new()));
        let member = self.member(stream, node, game, presence);
        (MemberId::of(node, presence.member), member)
    }

    /// The room of a game has closed.
    pub(super) fn closed(&self, game: &GameId) {
        self.0.streams().retain(|(_, other), _| other != game);
    }

    /// Carries out what is ordered. `room` gives the inbox of a game's room.
    pub(super) async fn run(self, mut inbox: Inbox, room: impl Fn(&GameId) -> Option<Commands>) {
        let mut owed = FuturesUnordered::<Owed>::new();
        let mut beat = tokio::time::interval(BEAT_EVERY);
        beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                biased;
                packet = inbox.recv() => match packet {
                    Some(packet) => owed.extend(self.take(&packet, &room)),
                    None => return,
                },
                Some((node, game, order, answer)) = owed.next(), if !owed.is_empty() => {
                    self.answer(node, &game, order, answer);
                }
                _ = beat.tick() => self.beat(),
            }
        }
    }

    fn beat(&self) {
        let mut streams = self.0.streams();
        for stream in streams.values_mut() {
            stream.members.retain(|_, member| member.strong_count() > 0);
        }
        let mut nodes: Vec<Incarnation> = streams.keys().map(|(node, _)| *node).collect();
        nodes.dedup();
        drop(streams);
        for node in nodes {
            self.0.port.beat(node);
        }
    }

    fn take(&self, packet: &[u8], room: impl Fn(&GameId) -> Option<Commands>) -> Option<Owed> {
        // Of orders that are missing their numbers tell.
        let Received { from, word, .. } = self.0.port.receive(packet)?;
        match word? {
            Word::Order(letter) if letter.is_sound() => {
                let room = room(&letter.game);
                self.order(from, *letter, room.as_ref())
            }
            Word::Presence { game, presence } => {
                let streams = self.0.streams();
                let stream = streams.get(&(from, game));
                if let Some(member) =
                    stream.and_then(|stream| stream.members.get(&presence.member)?.upgrade())
                {
                    member.told(presence);
                }
                None
            }
            _ => {
                self.counts().add_unreadable();
                None
            }
        }
    }

    /// Carries out an order if it is its turn.
    pub(super) fn order(&self, from: Incarnation, letter: Letter, room: Option<&Commands>) -> Option<Owed> {
        let (game, order) = (letter.game.clone(), letter.id);
        let Some(room) = room else {
            self.0.port.send(from, Word::Answer { game, order, answer: Answer::Closed });
            return None;
        };
        let (verdict, member) = self.judge(from, &letter);
        match verdict {
            Verdict::Stale => return None,
            Verdict::DoneBefore(answers) => {
                for word in answers {
                    self.0.port.send(from, again(word));
                }
                return None;
            }
            Verdict::TooEarly => {
                self.0.port.send(from, Word::Missing { game, stream: order.stream });
                return None;
            }
            Verdict::Do => {}
        }
        let Some((command, owed)) = self.command(from, letter, member) else {
            // Its connection has left since.
            self.done(from, &game, order, Answer::Closed);
            return None;
        };
        let has_asker = command.has_asker();
        match room.try_send(Box::new(command)) {
            Ok(()) if has_asker || owed.is_some() => self.step(from, &game, order),
            Ok(()) => self.done(from, &game, order, Answer::Done),
            Err(TrySendError::Full(_)) if has_asker => self.done(from, &game, order, Answer::Busy),
            // It waits for a place: it comes again, and those behind it too.
            Err(TrySendError::Full(_)) => return None,
            Err(TrySendError::Closed(_)) => {
                self.done(from, &game, order, Answer::Closed);
                return None;
            }
        }
        owed
    }

    fn judge(&self, from: Incarnation, letter: &Letter) -> (Verdict, Option<Arc<RemoteMember>>) {
        let OrderId { stream: id, number } = letter.id;
        let mut streams = self.0.streams();
        let stream =
            streams.entry((from, letter.game.clone())).or_insert_with(|| Stream::new(id, BTreeMap::new()));
        if id < stream.id {
            return (Verdict::Stale, None);
        }
        if id > stream.id {
            *stream = Stream::new(id, std::mem::take(&mut stream.members));
        }
        stream.next = stream.next.max(letter.oldest);
        stream.answers = stream.answers.split_off(&letter.oldest);
        if number < stream.next {
            let answers = stream.answers.get(&number).cloned().unwrap_or_default();
            return (Verdict::DoneBefore(answers), None);
        }
        if number > stream.next {
            return (Verdict::TooEarly, None);
        }
        let member = letter.presence.map(|presence| self.member(stream, from, &letter.game, presence));
        (Verdict::Do, member)
    }

    /// The stand-in for a connection, which is told how it stands.
    fn member(
        &self,
        stream: &mut Stream,
        node: Incarnation,
        game: &GameId,
        presence: Presence,
    ) -> Arc<RemoteMember> {
        if let Some(member) = stream.members.get(&presence.member).and_then(Weak::upgrade) {
            member.told(presence);
            return member;
        }
        let member = Arc::new(RemoteMember {
            owner: Arc::downgrade(&self.0),
            node,
            game: game.clone(),
            number: presence.member,
            is_connected: AtomicBool::new(presence.is_connected),
            round_trip_us: AtomicU64::new(presence.round_trip_us),
        });
        stream.members.insert(presence.member, Arc::downgrade(&member));
        member
    }

    /// An order is done, and the answer comes from the room.
    fn step(&self, from: Incarnation, game: &GameId, order: OrderId) {
        if let Some(stream) = self.0.streams().get_mut(&(from, game.clone())) {
            stream.next = order.number.next();
        }
    }

    /// An order is done, and this is the answer.
    fn done(&self, from: Incarnation, game: &GameId, order: OrderId, answer: Answer) {
        self.step(from, game, order);
        self.answer(from, game, order, answer);
    }

    fn answer(&self, to: Incarnation, game: &GameId, order: OrderId, answer: Answer) {
        self.0.answer(to, game, order, Word::Answer { game: game.clone(), order, answer });
    }

    /// The command that an order stands for, and what is still owed for it. `None` if nobody could hear of it.
    fn command(
        &self,
        from: Incarnation,
        letter: Letter,
        recipient: Option<Arc<RemoteMember>>,
    ) -> Option<(Command, Option<Owed>)> {
        let Letter { id, game, member, re, order, .. } = letter;
        let member = member.map(|number| MemberId::of(from, number));
        let re = Some(Answered { order: id, re }.to_tag());
        let recipient = recipient.map(|recipient| recipient as Arc<dyn Recipient>);
        let asker = member.zip(recipient.clone());
        let reply = asker.map(|(member, recipient)| ReplyTo { member, recipient, re });
        let command = match order {
            Order::Play { player, ply, column, forgiven, info, said, round_trip_us } => {
                let number =
                    |column: u8| Column::from_number(column).ok_or(NoColumn::OutOfRange(column.into()));
                let round_trip = Duration::from_micros(round_trip_us) + self.0.port.round_trip(from);
                let column = column.and_then(number);
                let play = Play { ply, column, forgiven, info, said, received: now(), round_trip };
                Command::Play { player, play, reply: reply? }
            }
            Order::Act { player, action } => Command::Act { player, action, reply: reply? },
            Order::Fail { side } => Command::Fail { side: side.into() },
            Order::Expel { player } => Command::Expel { player },
            Order::Vacation { player, lasts } => Command::Vacation { player, lasts },
            Order::StandStill { standstill } => Command::StandStill(standstill),
            Order::Conditional { player, moves } => {
                // What cannot be read is nothing said: the store has it all the same.
                let moves = moves.and_then(|moves| moves.parse().ok());
                Command::Conditional { player, moves }
            }
            Order::Wait { side, wait } => Command::Wait { side: side.into(), wait },
            Order::Sit { player } => {
                let (seated, answer) = oneshot::channel();
                let command = Command::Sit { player, member: member?, recipient: recipient?, seated };
                return Some((command, Some(owed(from, game, id, answer, Answer::Seat))));
            }
            Order::Prompt => Command::Prompt { member: member? },
            Order::Connected { connection } => Command::Connected { member: member?, connection },
            Order::Leave => Command::Leave { member: member? },
            Order::Watch { player } => Command::Watch { player, reply: reply? },
            Order::Unwatch => Command::Unwatch { member: member? },
            Order::Sync { player, skipped } => Command::Sync { player, reply: reply?, skipped },
            Order::Look { player } => {
                let (answer, seen) = oneshot::channel();
                let looked = |snapshot| Answer::Looked(ServerMessage::Game(Box::new(snapshot)).into());
                return Some((Command::Look { player, answer }, Some(owed(from, game, id, seen, looked))));
            }
            Order::Pause => {
                let (done, paused) = oneshot::channel();
                return Some((
                    Command::Pause { done },
                    Some(owed(from, game, id, paused, |()| Answer::Done)),
                ));
            }
        };
        Some((command, None))
    }
}

fn owed<T: Send + 'static>(
    from: Incarnation,
    game: GameId,
    order: OrderId,
    answer: oneshot::Receiver<T>,
    word: impl FnOnce(T) -> Answer + Send + 'static,
) -> Owed {
    Box::pin(async move { (from, game, order, answer.await.map_or(Answer::Closed, word)) })
}

fn again(word: Word) -> Word {
    match word {
        Word::Deliver { game, member, urgency, answered, frame, .. } => {
            Word::Deliver { game, member, urgency, answered, frame, telling: Telling::Again }
        }
        other => other,
    }
}

impl Inner {
    fn streams(&self) -> MutexGuard<'_, BTreeMap<(Incarnation, GameId), Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an answer, and keeps it for as long as the order may come again.
    fn answer(&self, to: Incarnation, game: &GameId, order: OrderId, word: Word) {
        if let Some(stream) = self.streams().get_mut(&(to, game.clone()))
            && stream.id == order.stream
        {
            stream.answers.entry(order.number).or_default().push(word.clone());
        }
        self.port.send(to, word);
    }
}

/// A connection at another node, as a room knows it.
struct RemoteMember {
    owner: Weak<Inner>,
    node: Incarnation,
    game: GameId,
    number: u64,
    /// Both as they were told last; nothing else must agree with them.
    is_connected: AtomicBool,
    round_trip_us: AtomicU64,
}

impl RemoteMember {
    fn told(&self, presence: Presence) {
        self.is_connected.store(presence.is_connected, Ordering::Relaxed);
        self.round_trip_us.store(presence.round_trip_us, Ordering::Relaxed);
    }
}

impl Recipient for RemoteMember {
    fn deliver(&self, frame: &Frame, re: Option<&str>, urgency: Urgency) {
        let Some(owner) = self.owner.upgrade() else { return };
        let answered = re.and_then(Answered::of_tag);
        let order = answered.as_ref().map(|answered| answered.order);
        let (game, member, telling) = (self.game.clone(), self.number, Telling::First);
        let word = Word::Deliver { game, member, urgency, answered, telling, frame: frame.clone() };
        match order {
            Some(order) => owner.answer(self.node, &self.game, order, word),
            None => owner.port.send(self.node, word),
        }
    }

    fn round_trip(&self) -> Duration {
        Duration::from_micros(self.round_trip_us.load(Ordering::Relaxed))
    }

    fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Relaxed)
    }

    fn useless_move(&self) {
        if let Some(owner) = self.owner.upgrade() {
            owner.port.send(self.node, Word::Useless { game: self.game.clone(), member: self.number });
        }
    }

    fn crowd(&self) -> Option<Arc<dyn Recipient>> {
        let (owner, node, game) = (self.owner.clone(), self.node, self.game.clone());
        Some(Arc::new(RemoteCrowd { owner, node, game }))
    }
}

/// All who watch a room from another node: they are told once.
struct RemoteCrowd {
    owner: Weak<Inner>,
    node: Incarnation,
    game: GameId,
}

impl Recipient for RemoteCrowd {
    fn deliver(&self, frame: &Frame, _: Option<&str>, urgency: Urgency) {
        if let Some(owner) = self.owner.upgrade() {
            let (game, frame) = (self.game.clone(), frame.clone());
            owner.port.send(self.node, Word::Crowd { game, urgency, frame });
        }
    }

    fn round_trip(&self) -> Duration {
        Duration::ZERO
    }

    fn is_connected(&self) -> bool {
        true
    }
}
