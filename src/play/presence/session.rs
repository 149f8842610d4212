//! One client's presence, which outlives its socket.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::outbox::Outbox;
use crate::model::ids::{GameId, PlayerId, SessionId, TokenId};
use crate::play::room::{Directory, MemberId, Recipient};
use crate::protocol::client::Feed;
use crate::protocol::server::{Frame, GameStatus, ServerMessage, Urgency};

use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::protocol::{CloseCode, ErrorCode, WireError};

/// Moves that answer nothing, without a turn between them, before the connection is closed.
const USELESS_MOVES_MAX: u32 = 10;

/// Games that one connection may watch: a wall of boards has twelve.
pub(crate) const WATCHED_MAX: usize = 64;

/// A turn that waits for a move.
#[derive(Clone, Copy, Debug)]
struct OpenTurn {
    ply: u32,
    /// A move came, and the room has not said yet what became of it.
    answered: bool,
}

/// One client's presence.
pub struct Session {
    id: SessionId,
    secret: String,
    member: MemberId,
    identity: Identity,
    credential: Option<TokenId>,
    outbox: Outbox,
    directory: Directory,
    round_trip_us: AtomicU64,
    useless_moves: AtomicU32,
    /// The turn of each game where this client was asked for a move and none of its moves was played yet.
    open_turns: Mutex<HashMap<GameId, OpenTurn>>,
    watched: Mutex<HashSet<GameId>>,
    feeds: Mutex<HashSet<Feed>>,
    /// How often its socket was lost.
    losses: AtomicU64,
    /// The next loss is the server's own doing.
    is_cut: AtomicBool,
    /// Held by whoever changes whether a socket is attached, or ends the session.
    changing: tokio::sync::Mutex<()>,
    /// Set by `bye` with `drain`: the connection ends with the last game.
    draining: AtomicBool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("player", &self.identity.id)
            .finish_non_exhaustive()
    }
}

/// What a session is made of.
#[derive(Debug)]
pub struct NewSession {
    pub id: SessionId,
    /// Proves the right to resume it.
    pub secret: String,
    pub identity: Identity,
    /// The stored credential whose revocation ends it.
    pub credential: Option<TokenId>,
    /// Where its messages wait.
    pub outbox: Outbox,
    /// Tells whether the player has live games.
    pub directory: Directory,
}

impl Session {
    pub fn new(new: NewSession) -> Self {
        Self {
            id: new.id,
            secret: new.secret,
            member: MemberId::next(),
            identity: new.identity,
            credential: new.credential,
            outbox: new.outbox,
            directory: new.directory,
            round_trip_us: AtomicU64::new(0),
            useless_moves: AtomicU32::new(0),
            open_turns: Mutex::default(),
            watched: Mutex::default(),
            feeds: Mutex::default(),
            losses: AtomicU64::new(0),
            is_cut: AtomicBool::new(false),
            changing: tokio::sync::Mutex::default(),
            draining: AtomicBool::new(false),
        }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Proves the right to resume it.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// What rooms know it by.
    pub fn member(&self) -> MemberId {
        self.member
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn player(&self) -> &PlayerId {
        &self.identity.id
    }

    /// The stored credential whose revocation ends it.
    pub fn credential(&self) -> Option<&TokenId> {
        self.credential.as_ref()
    }

    /// Where its messages wait.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whether a socket is attached.
    pub fn is_attached(&self) -> bool {
        self.outbox.has_socket()
    }

    /// Waits until nobody else attaches a socket to this session, books the loss of one, or ends it, so that rooms,
    /// lobby and feeds hear of these things one after the other.
    pub async fn change_alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Sends a message that answers no request.
    pub fn tell(&self, message: ServerMessage) {
        self.deliver(&Frame::new(message), None, Urgency::Must);
    }

    /// Books a round trip that a ping measured: an average over about four pings.
    pub fn measured(&self, round_trip: Duration) {
        let new = u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX / 8);
        let old = self.round_trip_us.load(Ordering::Relaxed);
        let average = if old == 0 { new } else { (3 * old + new) / 4 };
        self.round_trip_us.store(average, Ordering::Relaxed);
    }

    /// The client has nothing more to say than to finish its games.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.close_if_drained();
    }

    fn close_if_drained(&self) {
        if self.draining.load(Ordering::Relaxed) && self.directory.games_of(self.player()) == 0 {
            self.outbox.close(CloseCode::Bye);
        }
    }

    /// Whether this very ply of this game waits for this client's move.
    pub fn has_open_turn(&self, game: &GameId, ply: u32) -> bool {
        self.open_turns().get(game).is_some_and(|turn| turn.ply == ply && !turn.answered)
    }

    /// The client has answered: a second answer to the same turn is a message like any other.
    pub fn turn_answered(&self, game: &GameId) {
        if let Some(turn) = self.open_turns().get_mut(game) {
            turn.answered = true;
        }
    }

    /// An answer that was refused, but may be corrected, leaves the turn open.
    fn reopen_turn(&self, error: &WireError) {
        let may_correct = error.retries_left.is_some_and(|left| left > 0) || error.code == ErrorCode::Busy;
        if may_correct
            && let Some(game) = &error.game
            && let Some(turn) = self.open_turns().get_mut(game)
        {
            turn.answered = false;
        }
    }

    /// Notes that a game is watched. False if too many are.
    pub fn watch(&self, game: &GameId) -> bool {
        let mut watched = self.watched();
        watched.contains(game) || (watched.len() < WATCHED_MAX && watched.insert(game.clone()))
    }

    /// Notes that a game is no longer watched.
    pub fn unwatch(&self, game: &GameId) {
        self.watched().remove(game);
        self.outbox.forget_game(game);
    }

    pub fn watched_games(&self) -> Vec<GameId> {
        self.watched().iter().cloned().collect()
    }

    /// Notes that a feed is followed.
    pub fn follow(&self, feed: Feed) {
        self.feeds().insert(feed);
    }

    /// Notes that a feed is no longer followed.
    pub fn unfollow(&self, feed: Feed) {
        self.feeds().remove(&feed);
    }

    /// All feeds that are followed.
    pub fn followed_feeds(&self) -> Vec<Feed> {
        self.feeds().iter().copied().collect()
    }

    /// Counts the loss of its socket, and says which one it is.
    pub fn lost(&self) -> u64 {
        self.losses.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Closes its socket to see whether the client comes back, which is then no fault of the client's.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        self.outbox.close(CloseCode::Restart);
    }

    /// Whether the loss that has just happened was [`Self::cut`].
    pub(crate) fn was_cut(&self) -> bool {
        self.is_cut.swap(false, Ordering::Relaxed)
    }

    /// Whether its socket has been away ever since that loss.
    pub fn is_away_since(&self, loss: u64) -> bool {
        !self.is_attached() && self.losses.load(Ordering::Relaxed) == loss
    }

    fn feeds(&self) -> MutexGuard<'_, HashSet<Feed>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_turns(&self) -> MutexGuard<'_, HashMap<GameId, OpenTurn>> {
        self.open_turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, HashSet<GameId>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps account of turns before a message is queued.
    fn note(&self, message: &ServerMessage) {
        match message {
            ServerMessage::Turn(turn) => {
                let open = OpenTurn { ply: turn.ply, answered: false };
                self.open_turns().insert(turn.game.clone(), open);
                self.useless_moves.store(0, Ordering::Relaxed);
            }
            ServerMessage::GameEnd(end) => {
                self.open_turns().remove(&end.game);
                self.watched().remove(&end.game);
            }
            // Whoever asked for a game that is over has seen it all.
            ServerMessage::Game(snapshot) if snapshot.status == GameStatus::Over => {
                self.watched().remove(&snapshot.game);
            }
            ServerMessage::Moved(moved) => {
                self.open_turns().remove(&moved.game);
            }
            ServerMessage::Error(error) => self.reopen_turn(error),
            _ => {}
        }
    }
}

impl Recipient for Session {
    fn deliver(&self, frame: &Frame, re: Option<&str>, urgency: Urgency) {
        self.note(frame.message());
        let delivery = match re {
            Some(re) => self.outbox.answer(frame, Some(re)),
            None => self.outbox.deliver(frame, urgency),
        };
        // Whatever became of it, the outbox knows: what is dropped is followed by a snapshot, whoever is cut off
        // resumes.
        let _ = delivery;
        if matches!(frame.message(), ServerMessage::GameEnd(_)) {
            self.close_if_drained();
        }
    }

    fn round_trip(&self) -> Duration {
        Duration::from_micros(self.round_trip_us.load(Ordering::Relaxed))
    }

    fn is_connected(&self) -> bool {
        self.is_attached()
    }

    fn useless_move(&self) {
        if self.useless_moves.fetch_add(1, Ordering::Relaxed) + 1 >= USELESS_MOVES_MAX {
            self.outbox.close(CloseCode::Abuse);
        }
    }
}

/// Whether somebody is a bot, of which only one connection is kept.
pub fn is_single(kind: PlayerKind) -> bool {
    match kind {
        PlayerKind::Bot => true,
        PlayerKind::Human | PlayerKind::Guest => false,
    }
}

/// Shared by rooms, lobby and its socket.
pub type SharedSession = Arc<Session>;
