//! What waits to be sent to one session: its numbers, its queue and what can be sent again, in one ring.
//!
//! ```text
//!   numbers   1 .. 40 | 41 ........ 57 | 58 ....... 60 | 61
//!             forgotten      sent      |    waiting    | next
//!                     └────────────── ring ────────────┘
//! ```
//!
//! Rooms and lobby push into it, the socket that is attached takes out of it; whoever comes first holds the lock for
//! as long as it takes to move one entry. Where a move is told its room writes to the sockets itself, if they take it.
//! What was sent stays in the ring for a while, so that a client that comes back can have it again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::model::ids::GameId;
use crate::protocol::client::SEQ_MAX;
use crate::protocol::server::{NumberedText, Urgency};
use crate::protocol::{CloseCode, Frame, ServerMessage};
use crate::system::signal::Signal;

/// Messages kept, sent or not. The oldest falls out; a client that needs it starts afresh.
pub(crate) const RING_MESSAGES_MAX: usize = 256;
/// Messages that may wait for a socket that is attached. At one more, watchers' updates are dropped, and for anything
/// else the connection is closed: the client reads slower than its games go on.
pub(crate) const WAITING_MESSAGES_MAX: usize = 64;
/// The same in bytes of JSON.
pub(crate) const WAITING_BYTES_MAX: usize = 128 * 1024;
/// Ends of games of which the outbox remembers that it took them: as many as a client that comes back is told.
pub(crate) const ENDS_MAX: usize = 50;

/// The messages after the named one are gone, or it was never sent: the session cannot go on where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the messages after number {after} are gone")]
pub(crate) struct Gap {
    /// What was asked for.
    pub(crate) after: u64,
}

/// A socket's hold on an outbox. Equal only to its own clones.
#[derive(Clone, Debug)]
pub(crate) struct Attachment(Arc<Hold>);

/// What holds of a socket as long as it is attached.
#[derive(Default)]
struct Hold {
    changed: Signal,
    /// There since the socket serves its session.
    way: OnceLock<Arc<dyn Line>>,
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold").field("changed", &self.changed).finish_non_exhaustive()
    }
}

impl Attachment {
    /// Completes when something was queued, or the attachment ended, since this was last awaited.
    pub(crate) async fn changed(&self) {
        self.0.changed.raised().await;
    }

    /// The socket that holds it can be written to from elsewhere, too.
    pub(crate) fn open_way(&self, way: Arc<dyn Line>) {
        // It is opened once, by the socket that holds it.
        let _ = self.0.way.set(way);
    }
}

impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Attachment {}

/// The way to the client of a socket that is attached. Whoever has queued something can have it written at once, which
/// saves the socket's own task a turn: of three turns that it took for a move of each side two only wrote.
pub(crate) trait Line: Send + Sync {
    /// Writes what waits in `outbox` as far as the client takes it at once. False if something is left, or another
    /// thread is at the socket: its task has to look then.
    fn write(&self, outbox: &Outbox, attachment: &Attachment) -> bool;
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delivery {
    /// It has a number and waits, or is kept until the client is back.
    Queued,
    /// A watcher's update found the queue full. A snapshot will replace it.
    Dropped,
    /// It has a number and is kept, but the connection was given up as too slow.
    CutOff,
}

/// A message in the ring.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// It waits, or is being sent.
    Frame(Frame),
    /// It was sent: only its text is needed again, if the client comes back. The rest goes while it is at hand, and not
    /// hundreds of messages later, which took a third of the memory of a busy client.
    Text(Arc<str>),
}

impl Content {
    /// The JSON text without its numbers.
    fn body(&self) -> &Arc<str> {
        match self {
            Self::Frame(frame) => frame.body(),
            Self::Text(body) => body,
        }
    }
}

/// A message as it goes to the socket. The text is made there, of [`Outgoing::numbered`].
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// Its number in the session.
    pub(crate) seq: u64,
    pub(crate) content: Content,
    /// The request that it answers.
    pub(crate) re: Option<Box<str>>,
}

impl Outgoing {
    /// The JSON text, to be written.
    pub(crate) fn numbered(&self) -> NumberedText<'_> {
        NumberedText::new(self.content.body(), self.seq, self.re.as_deref())
    }

    /// The JSON text.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.numbered().to_string()
    }

    /// The message as its receiver reads it.
    #[cfg(test)]
    pub(crate) fn read(&self) -> ServerMessage {
        serde_json::from_str(&self.text()).expect("what we write can be read")
    }

    /// The message, the first time that it is sent.
    pub(crate) fn message(&self) -> Option<&ServerMessage> {
        match &self.content {
            Content::Frame(frame) => Some(frame.message()),
            Content::Text(_) => None,
        }
    }
}

/// What the socket has to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Send this.
    Message(Outgoing),
    /// Nothing waits.
    Idle {
        /// Watched games need a snapshot: [`Outbox::take_behind`] names them.
        behind: bool,
    },
    /// Close with this code; nothing more will come.
    Close(CloseCode),
}

/// A session's outgoing messages. All methods return at once.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
}

#[derive(Debug)]
struct OutboxState {
    /// Ends with number `next - 1`.
    ring: VecDeque<QueuedMessage>,
    /// The number of the next message.
    next: u64,
    /// The last number that was handed to a socket.
    sent: u64,
    /// [`Outbox::age`] forgets what was sent up to here.
    aged: u64,
    /// When it last did.
    aged_at: Option<Instant>,
    /// Games of which updates were dropped.
    behind: Vec<Behind>,
    line: Option<AttachedSocket>,
    /// The socket that was dismissed. Boxed: few sessions ever have one.
    leaving: Option<Box<AttachedSocket>>,
    /// The last ends of the player's own games, each with its number. An end is told once.
    ends: VecDeque<(u64, GameId)>,
    /// Sockets that were attached so far.
    attachments: u64,
    /// What sockets that are no longer attached are told.
    parting: CloseCode,
}

#[derive(Debug)]
struct QueuedMessage {
    content: Content,
    re: Option<Box<str>>,
}

/// A watched game whose updates are dropped until a snapshot of it arrives: with a hole they are worth nothing.
#[derive(Debug)]
struct Behind {
    game: GameId,
    skipped: u64,
    /// A snapshot was asked for.
    asked: bool,
}

/// The socket that is attached.
struct AttachedSocket {
    attachment: Attachment,
    /// A `welcome` that repeats an old number, to be sent before everything else.
    greeting: Option<Box<Outgoing>>,
    /// The queue has not been empty since the socket came. What was missed and the games of the player may be more
    /// than otherwise may wait; the ring bounds it.
    catching_up: bool,
    /// Close with this code once this number was sent.
    closing: Option<(u64, CloseCode)>,
}

impl std::fmt::Debug for AttachedSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttachedSocket").field("attachment", &self.attachment).finish_non_exhaustive()
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Outbox {
    /// The outbox of a new session: the first message, `welcome`, is number 1.
    pub(crate) fn new() -> Self {
        Self::starting_at(0)
    }

    /// The outbox of a session that an earlier process opened: `seq` is the last number its client has seen.
    ///
    /// The messages up to there are gone, so a client can come back exactly at `seq` and nowhere else.
    pub(crate) fn starting_at(seq: u64) -> Self {
        let seq = seq.min(SEQ_MAX);
        let state = OutboxState {
            ring: VecDeque::new(),
            next: seq + 1,
            sent: seq,
            aged: seq,
            aged_at: None,
            behind: Vec::new(),
            line: None,
            leaving: None,
            ends: VecDeque::new(),
            attachments: 0,
            parting: CloseCode::Replaced,
        };
        Self { state: Mutex::new(state) }
    }

    /// Queues a message.
    ///
    /// Without a socket it is kept for the client's return, a watcher's update only while few wait.
    pub(crate) fn deliver(&self, frame: &Frame, urgency: Urgency) -> Delivery {
        let mut state = self.lock();
        let delivery = match urgency {
            Urgency::Must => state.push(frame, None),
            Urgency::Droppable => state.push_droppable(frame),
        };
        state.wake();
        delivery
    }

    /// Queues the answer to the request with id `re`. Answers must arrive.
    pub(crate) fn answer(&self, frame: &Frame, re: Option<&str>) -> Delivery {
        let mut state = self.lock();
        let delivery = state.push(frame, re.map(Into::into));
        state.wake();
        delivery
    }

    /// Queues a message that must arrive, perhaps as an answer, and wakes nobody: [`Self::flush`] has it sent, with all
    /// that is queued until then.
    pub(crate) fn queue(&self, frame: &Frame, re: Option<&str>) -> Delivery {
        self.lock().push(frame, re.map(Into::into))
    }

    /// Has what waits sent: at once and from here if that can be, else by the socket's task.
    pub(crate) fn flush(&self) {
        let state = self.lock();
        let Some(line) = state.line.as_ref().filter(|_| state.waiting() > 0) else { return };
        let attachment = line.attachment.clone();
        drop(state);
        let is_written = attachment.0.way.get().is_some_and(|way| way.write(self, &attachment));
        if !is_written {
            attachment.0.changed.raise();
        }
    }

    /// Attaches a socket and greets it with `welcome`, the answer to `re`. A socket that was attached is told to close
    /// with `4409`.
    ///
    /// With `after`, the session goes on: `welcome` repeats that number, and what came after it follows. Without, the
    /// session starts afresh: `welcome` is number 1 and whatever waited is forgotten.
    ///
    /// # Errors
    ///
    /// The ring no longer holds what came after `after`, or never did. Nothing has changed then.
    pub(crate) fn attach(
        &self,
        after: Option<u64>,
        welcome: &Frame,
        re: Option<&str>,
    ) -> Result<Attachment, Gap> {
        let mut state = self.lock();
        if let Some(after) = after
            && !state.can_resume(after)
        {
            return Err(Gap { after });
        }
        state.hang_up(CloseCode::Replaced);
        state.attachments += 1;
        let attachment = Attachment(Arc::default());
        let mut line = AttachedSocket {
            attachment: attachment.clone(),
            greeting: None,
            catching_up: true,
            closing: None,
        };
        if let Some(after) = after {
            let content = Content::Frame(welcome.clone());
            line.greeting = Some(Box::new(Outgoing { seq: after, content, re: re.map(Into::into) }));
            state.sent = after;
            state.behind.iter_mut().for_each(|behind| behind.asked = false);
            state.line = Some(line);
        } else {
            state.start_afresh();
            state.line = Some(line);
            state.push(welcome, re.map(Into::into));
        }
        Ok(attachment)
    }

    /// Lets the attached socket send what waits now, then close with `code`. The first call wins.
    pub(crate) fn close(&self, code: CloseCode) {
        let mut state = self.lock();
        let last = state.next - 1;
        if let Some(line) = &mut state.line {
            line.closing.get_or_insert((last, code));
            line.attachment.0.changed.raise();
        }
    }

    /// Takes the outbox away from the attached socket, which closes with `code` and sends nothing more.
    pub(crate) fn take_over(&self, code: CloseCode) {
        self.lock().hang_up(code);
    }

    /// The same with a last word: the socket sends what waits, and this after it, as far as its client takes it at
    /// once.
    pub(crate) fn dismiss(&self, last: &Frame, code: CloseCode) {
        let mut state = self.lock();
        if state.line.is_none() {
            return;
        }
        state.append(last, None);
        let last = state.next - 1;
        if let Some(line) = state.hang_up(code) {
            state.leaving = Some(Box::new(AttachedSocket { closing: Some((last, code)), ..line }));
        }
    }

    /// Gives up an attachment. Does nothing if another one has replaced it.
    pub(crate) fn detach(&self, attachment: &Attachment) {
        let mut state = self.lock();
        state.leaving.take_if(|leaving| leaving.attachment == *attachment);
        if state.is_attached(attachment) {
            state.line = None;
        }
    }

    /// Whether a socket is attached.
    pub(crate) fn has_socket(&self) -> bool {
        self.lock().line.is_some()
    }

    /// How many sockets were attached so far.
    pub(crate) fn attachments(&self) -> u64 {
        self.lock().attachments
    }

    /// The last ends of the player's games that were queued, each with its number, the oldest first.
    pub(crate) fn ends(&self) -> Vec<(u64, GameId)> {
        self.lock().ends.iter().cloned().collect()
    }

    /// From which number on all ends that were queued are known, and those with higher numbers: as far back as a client
    /// may go on from, for one that has heard less has missed more than ends.
    pub(crate) fn ends_to_hear(&self) -> (u64, Vec<(u64, GameId)>) {
        let state = self.lock();
        let is_full = state.ends.len() == ENDS_MAX;
        let oldest = state.ends.front().filter(|_| is_full).map_or(0, |(number, _)| number - 1);
        let after = oldest.max(state.first() - 1);
        (after, state.ends.iter().filter(|(number, _)| *number > after).cloned().collect())
    }

    /// The number of the last message.
    #[cfg(test)]
    pub(crate) fn last_seq(&self) -> u64 {
        self.lock().next - 1
    }

    /// What the socket that holds `attachment` has to do next. A message is handed out once.
    pub(crate) fn next(&self, attachment: &Attachment) -> Next {
        self.lock().next(attachment)
    }

    /// How the socket that holds `attachment` must close at once, if it must.
    pub(crate) fn parted(&self, attachment: &Attachment) -> Option<CloseCode> {
        let state = self.lock();
        (!state.is_attached(attachment)).then_some(state.parting)
    }

    /// The watched games that need a snapshot, and how many updates each has lost. Each is named once.
    #[must_use = "the games wait for a snapshot"]
    pub(crate) fn take_behind(&self, attachment: &Attachment) -> Vec<(GameId, u64)> {
        let mut state = self.lock();
        if !state.is_attached(attachment) {
            return Vec::new();
        }
        let asked = state.behind.iter_mut().filter(|behind| !behind.asked);
        asked
            .map(|behind| {
                behind.asked = true;
                (behind.game.clone(), behind.skipped)
            })
            .collect()
    }

    /// Stops waiting for a snapshot of a game that is no longer watched.
    pub(crate) fn forget_game(&self, game: &GameId) {
        self.lock().behind.retain(|behind| behind.game != *game);
    }

    /// Forgets what had been sent when this was last done, so long ago at least, and gives its memory back. So every
    /// message is kept that long, by however many sockets a client comes back meanwhile and fails to hear it.
    pub(crate) fn age(&self, now: Instant, keep: Duration) {
        let mut state = self.lock();
        if state.aged_at.is_some_and(|at| now.saturating_duration_since(at) < keep) {
            return;
        }
        state.aged_at = Some(now);
        let forgotten = state.aged.min(state.sent);
        while !state.ring.is_empty() && state.first() <= forgotten {
            state.ring.pop_front();
        }
        state.aged = state.next - 1;
        if state.ring.capacity() > 2 * state.ring.len() {
            state.ring.shrink_to_fit();
        }
    }

    /// The lock is held for one of the methods above, none of which can panic halfway.
    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxState {
    fn is_attached(&self, attachment: &Attachment) -> bool {
        self.line.as_ref().is_some_and(|line| line.attachment == *attachment)
    }

    /// The number of the oldest message in the ring, or of the next one.
    fn first(&self) -> u64 {
        self.next - self.ring.len() as u64
    }

    fn can_resume(&self, after: u64) -> bool {
        (self.first() - 1..self.next).contains(&after)
    }

    fn start_afresh(&mut self) {
        self.ring = VecDeque::new();
        self.behind = Vec::new();
        self.ends = VecDeque::new();
        self.next = 1;
        self.sent = 0;
        self.aged = 0;
    }

    fn waiting(&self) -> usize {
        usize::try_from(self.next - 1 - self.sent)
            .map_or(self.ring.len(), |waiting| waiting.min(self.ring.len()))
    }

    /// Whether one more message would be too many.
    ///
    /// The bytes are only counted when several wait: two frames are always within the limit, and whoever reads in
    /// time does not make the room write out JSON.
    fn is_full(&self, frame: &Frame) -> bool {
        let waiting = self.waiting();
        if waiting < 2 {
            return false;
        }
        let bytes = || {
            let queued = self.ring.range(self.ring.len() - waiting..);
            queued.map(|entry| entry.content.body().len()).sum::<usize>() + frame.body().len()
        };
        waiting >= WAITING_MESSAGES_MAX || bytes() > WAITING_BYTES_MAX
    }

    fn push(&mut self, frame: &Frame, re: Option<Box<str>>) -> Delivery {
        if let ServerMessage::GameEnd(end) = frame.message()
            && !self.note_end(&end.game)
            && re.is_none()
        {
            // Told before: by the store to a client that came back, while the room was about to say it, or the
            // other way round.
            return Delivery::Queued;
        }
        let bounded = self.line.as_ref().is_some_and(|line| !line.catching_up);
        let would_lose = self.ring.len() == RING_MESSAGES_MAX && self.first() > self.sent;
        let too_slow = self.line.is_some() && (would_lose || (bounded && self.is_full(frame)));
        if too_slow {
            self.hang_up(CloseCode::TooSlow);
        }
        if !self.behind.is_empty()
            && let Some((game, Kind::Snapshot)) = about(frame.message())
        {
            self.behind.retain(|behind| behind.game != *game);
        }
        self.append(frame, re);
        if too_slow { Delivery::CutOff } else { Delivery::Queued }
    }

    /// Notes that the end of a game takes the next number. False if it has been told.
    fn note_end(&mut self, game: &GameId) -> bool {
        if self.ends.iter().any(|(_, told)| told == game) {
            return false;
        }
        if self.ends.len() == ENDS_MAX {
            self.ends.pop_front();
        }
        self.ends.push_back((self.next, game.clone()));
        true
    }

    fn push_droppable(&mut self, frame: &Frame) -> Delivery {
        let Some((game, kind)) = about(frame.message()) else {
            if self.is_full(frame) {
                return Delivery::Dropped;
            }
            self.append(frame, None);
            return Delivery::Queued;
        };
        let behind = self.behind.iter().position(|behind| behind.game == *game);
        let usable = kind == Kind::Snapshot || behind.is_none();
        if !usable || self.is_full(frame) {
            self.fall_behind(game, behind, kind);
            return Delivery::Dropped;
        }
        if let Some(index) = behind {
            self.behind.swap_remove(index);
        }
        self.append(frame, None);
        Delivery::Queued
    }

    fn fall_behind(&mut self, game: &GameId, index: Option<usize>, kind: Kind) {
        match index.and_then(|index| self.behind.get_mut(index)) {
            Some(behind) => {
                behind.skipped += 1;
                // A snapshot that was asked for and had no room must be asked for again.
                behind.asked &= kind == Kind::Update;
            }
            None => self.behind.push(Behind { game: game.clone(), skipped: 1, asked: false }),
        }
    }

    /// Numbers a message and puts it into the ring.
    fn append(&mut self, frame: &Frame, re: Option<Box<str>>) {
        if self.ring.len() == RING_MESSAGES_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(QueuedMessage { content: Content::Frame(frame.clone()), re });
        self.next += 1;
        self.sent = self.sent.max(self.first() - 1);
    }

    /// Has the attached socket's task look for what waits.
    fn wake(&self) {
        if let Some(line) = &self.line {
            line.attachment.0.changed.raise();
        }
    }

    /// Ends the attachment: its socket finds out when it looks next, and is woken to look.
    fn hang_up(&mut self, code: CloseCode) -> Option<AttachedSocket> {
        let line = self.line.take()?;
        self.parting = code;
        line.attachment.0.changed.raise();
        Some(line)
    }

    fn next(&mut self, attachment: &Attachment) -> Next {
        let waiting = self.waiting();
        self.keep_text_before(waiting);
        let parting = self.parting;
        let mut lines = self.line.iter_mut().chain(self.leaving.as_deref_mut());
        let Some(line) = lines.find(|line| line.attachment == *attachment) else {
            return Next::Close(parting);
        };
        if let Some(greeting) = line.greeting.take() {
            return Next::Message(*greeting);
        }
        if let Some((last, code)) = line.closing
            && self.sent >= last
        {
            return Next::Close(code);
        }
        let Some(entry) = self.ring.get(self.ring.len() - waiting) else {
            line.catching_up = false;
            return Next::Idle { behind: self.behind.iter().any(|behind| !behind.asked) };
        };
        self.sent += 1;
        Next::Message(Outgoing { seq: self.sent, content: entry.content.clone(), re: entry.re.clone() })
    }

    /// Keeps no more than the text of the message that was handed out last, behind which so many wait: the socket has
    /// made it by now.
    fn keep_text_before(&mut self, waiting: usize) {
        let last = self.ring.len().checked_sub(waiting + 1);
        if let Some(entry) = last.and_then(|last| self.ring.get_mut(last))
            && let Content::Frame(frame) = &entry.content
        {
            entry.content = Content::Text(Arc::clone(frame.body()));
        }
    }
}

/// What a watcher's message is to its game.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Replaces all that was lost before it.
    Snapshot,
    /// Means something only to who has all before it.
    Update,
}

/// The game that a message is about. Those about none, feeds above all, are whole each time: a lost one is replaced
/// by the next.
fn about(message: &ServerMessage) -> Option<(&GameId, Kind)> {
    match message {
        ServerMessage::Game(snapshot) => Some((&snapshot.game, Kind::Snapshot)),
        ServerMessage::Moved(moved) => Some((&moved.game, Kind::Update)),
        ServerMessage::GameEnd(end) => Some((&end.game, Kind::Update)),
        ServerMessage::Turn(turn) => Some((&turn.game, Kind::Update)),
        ServerMessage::Reaction(reaction) => Some((&reaction.game, Kind::Update)),
        ServerMessage::OpponentGone(gone) => Some((&gone.game, Kind::Update)),
        ServerMessage::RematchOffer(offered)
        | ServerMessage::TakebackOffer(offered)
        | ServerMessage::TakebackRefused(offered) => Some((&offered.game, Kind::Update)),
        // Sent again with the next move or within a second or two; no snapshot needs to repair it.
        ServerMessage::Crowd(_)
        | ServerMessage::Truth(_)
        | ServerMessage::Welcome(_)
        | ServerMessage::Synced(_)
        | ServerMessage::Ok(_)
        | ServerMessage::Error(_)
        | ServerMessage::Notice(_)
        | ServerMessage::Ping(_)
        | ServerMessage::Pong(_)
        | ServerMessage::Challenge(_)
        | ServerMessage::ChallengeEnd(_)
        | ServerMessage::BotOffer(_)
        | ServerMessage::Lobby(_)
        | ServerMessage::Tv(_)
        | ServerMessage::Ladder(_)
        | ServerMessage::Result(_) => None,
    }
}

#[cfg(test)]
mod tests;
