//! One client's presence, which outlives its socket.
//!
//! Who may do what with it:
//!
//! - Its *owner* alone attaches sockets, books their loss and ends it, one thing after the other: the task that reads
//!   its [`SessionCommand`]s. All others ask.
//! - Rooms and lobby send it messages, which wait in its [`Outbox`].
//! - Its socket asks for what is kept in mind about the client, and rooms change it with each message.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use tokio::sync::oneshot;

use super::outbox::{Attachment, Outbox};
use super::session_state::SessionState;
use crate::model::ids::{GameId, PlayerId, SessionId, TokenId};
use crate::play::room::{Connection, Directory, MemberId, Recipient};
use crate::protocol::CloseCode;
use crate::protocol::client::{Feed, Settings as Declared};
use crate::protocol::server::{Frame, ServerMessage, Urgency};

use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::storage::StoreError;
use crate::system::config::SiteOrigin;
use crate::system::shares::Payer;

pub(crate) use super::session_state::WATCHED_MAX;

/// One client's presence.
pub struct Session {
    id: SessionId,
    secret: String,
    member: MemberId,
    identity: Identity,
    credential: Option<TokenId>,
    outbox: Outbox,
    directory: Directory,
    /// Without a limit, for whoever commands waits for the answer: there are no more than such. A queue that has no
    /// room for thirty-two of them before there is one, for thousands of sessions have none. What is in it when the
    /// inbox is dropped goes with it.
    commands: mpsc::UnboundedSender<SessionCommand>,
    /// Measured by the socket, read by rooms with each turn: a number that nothing else must agree with.
    round_trip_us: AtomicU64,
    /// Whether its player's first illegal move loses a game, as declared: the registry keeps it true, each move reads
    /// it.
    is_strict: AtomicBool,
    /// A lock, for a room notes a turn in the moment in which it queues the message, and the socket must know of it
    /// when the answer comes. It is held for one method of the state, in which nothing waits and nothing else is
    /// locked.
    state: Mutex<SessionState>,
}

/// What happens to a session one thing after the other, so that rooms, lobby and feeds hear of it in that order.
#[derive(Debug)]
pub(crate) enum SessionCommand {
    /// Its client is back on another socket.
    Resume { returning: Box<Returning>, attached: oneshot::Sender<Result<Attachment, NotResumed>> },
    /// A socket is gone, and has been detached.
    SocketGone {
        /// Whether the client may come back.
        how: Connection,
        booked: oneshot::Sender<()>,
    },
    /// It ends for good.
    End { ending: SessionEnding, ended: oneshot::Sender<()> },
}

/// How a session ends.
#[derive(Clone, Debug)]
pub(crate) struct SessionEnding {
    pub(crate) how: Connection,
    /// With this a socket that is attached closes.
    pub(crate) code: CloseCode,
    /// What is said before, if anything.
    pub(crate) last: Option<Frame>,
}

impl SessionEnding {
    /// Without a word.
    pub(crate) fn silent(how: Connection, code: CloseCode) -> Self {
        Self { how, code, last: None }
    }
}

/// A client that comes back.
#[derive(Debug)]
pub(crate) struct Returning {
    /// The last message that it has seen.
    pub(crate) seen: u64,
    pub(crate) declared: Declared,
    /// Where it is now.
    pub(crate) address: IpAddr,
    /// By which address it has found the site.
    pub(crate) site: Option<SiteOrigin>,
    /// The request that `welcome` answers.
    pub(crate) re: Option<String>,
}

/// Why a session cannot go on.
#[derive(Debug)]
pub(crate) enum NotResumed {
    /// What came after the last message that was seen is gone.
    Gap,
    Store(StoreError),
}

/// Where a session's commands arrive: whoever holds it owns the session.
pub(crate) type SessionInbox = mpsc::UnboundedReceiver<SessionCommand>;

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
pub(crate) struct NewSession {
    pub(crate) id: SessionId,
    /// Proves the right to resume it.
    pub(crate) secret: String,
    pub(crate) identity: Identity,
    /// The stored credential whose revocation ends it.
    pub(crate) credential: Option<TokenId>,
    /// Where its client is.
    pub(crate) address: IpAddr,
    /// By which address it has found the site.
    pub(crate) site: Option<SiteOrigin>,
    /// Where its messages wait.
    pub(crate) outbox: Outbox,
    /// Tells whether the player has live games.
    pub(crate) directory: Directory,
}

impl Session {
    /// A session, and what makes its holder the owner.
    pub(crate) fn new(new: NewSession) -> (Arc<Self>, SessionInbox) {
        let (commands, inbox) = mpsc::unbounded();
        let session = Self {
            id: new.id,
            secret: new.secret,
            member: MemberId::next(),
            identity: new.identity,
            credential: new.credential,
            outbox: new.outbox,
            directory: new.directory,
            commands,
            round_trip_us: AtomicU64::new(0),
            is_strict: AtomicBool::new(false),
            state: Mutex::new(SessionState::at(new.address, new.site)),
        };
        (Arc::new(session), inbox)
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Proves the right to resume it.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// What rooms know it by.
    pub(crate) fn member(&self) -> MemberId {
        self.member
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn player(&self) -> &PlayerId {
        &self.identity.id
    }

    /// Whose shares it uses up.
    pub(crate) fn payer(&self) -> Payer {
        Payer { address: self.state().address, account: Some(self.identity.id.clone()) }
    }

    /// Its client is back, perhaps from elsewhere.
    pub(crate) fn moved_to(&self, address: IpAddr, site: Option<SiteOrigin>) {
        let mut state = self.state();
        (state.address, state.site) = (address, site);
    }

    /// By which address its client has found the site, for links that it passes on.
    pub(crate) fn site(&self) -> Option<SiteOrigin> {
        self.state().site.clone()
    }

    /// The stored credential whose revocation ends it.
    pub(crate) fn credential(&self) -> Option<&TokenId> {
        self.credential.as_ref()
    }

    /// Where its messages wait.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whether a socket is attached.
    pub fn is_attached(&self) -> bool {
        self.outbox.has_socket()
    }

    /// Has the session's owner do something, and waits until it is done. `None` if the session has ended.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> SessionCommand,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.commands.unbounded_send(command(answer)).ok()?;
        answered.await.ok()
    }

    /// Sends a message that answers no request.
    pub(crate) fn tell(&self, message: ServerMessage) {
        self.deliver(&Frame::new(message), None, Urgency::Must);
    }

    /// Books a round trip that a ping measured: an average over about four pings.
    pub(crate) fn measured(&self, round_trip: Duration) {
        let new = u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX / 8);
        let old = self.round_trip_us.load(Ordering::Relaxed);
        let average = if old == 0 { new } else { (3 * old + new) / 4 };
        self.round_trip_us.store(average, Ordering::Relaxed);
    }

    /// Whether its player's first illegal move loses a game.
    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict.load(Ordering::Relaxed)
    }

    pub(super) fn set_strict(&self, is_strict: bool) {
        self.is_strict.store(is_strict, Ordering::Relaxed);
    }

    /// The client has nothing more to say than to finish its games.
    pub(crate) fn drain(&self) {
        self.state().is_draining = true;
        self.close_if_drained();
    }

    fn close_if_drained(&self) {
        let is_draining = self.state().is_draining;
        if is_draining && self.directory.games_of(self.player()) == 0 {
            self.outbox.close(CloseCode::Bye);
        }
    }

    /// The last game of a client that is leaving ends with this message.
    fn close_after(&self, frame: &Frame) {
        if matches!(frame.message(), ServerMessage::GameEnd(_)) {
            self.close_if_drained();
        }
    }

    /// Whether this very ply of this game waits for this client's move.
    pub(crate) fn has_open_turn(&self, game: &GameId, ply: u32) -> bool {
        self.state().has_open_turn(game, ply)
    }

    /// The client has answered: a second answer to the same turn is a message like any other.
    pub(crate) fn turn_answered(&self, game: &GameId) {
        self.state().turn_answered(game);
    }

    /// Notes that a game is watched. False if too many are.
    pub(crate) fn watch(&self, game: &GameId) -> bool {
        self.state().watch(game)
    }

    /// Notes that a game is no longer watched.
    pub(crate) fn unwatch(&self, game: &GameId) {
        self.state().unwatch(game);
        self.outbox.forget_game(game);
    }

    pub(crate) fn watched_games(&self) -> Vec<GameId> {
        self.state().watched_games()
    }

    /// Whether the client watches, and its player has no game.
    pub(crate) fn only_watches(&self) -> bool {
        let watches = self.state().watches();
        watches && self.directory.games_of(self.player()) == 0
    }

    /// Notes that a feed is followed.
    pub(crate) fn follow(&self, feed: Feed) {
        self.state().follow(feed);
    }

    /// Notes that a feed is no longer followed.
    pub(crate) fn unfollow(&self, feed: Feed) {
        self.state().unfollow(feed);
    }

    /// All feeds that are followed.
    pub(crate) fn followed_feeds(&self) -> Vec<Feed> {
        self.state().followed_feeds()
    }

    /// Closes its socket to see whether the client comes back, which is then no fault of the client's.
    pub(crate) fn cut(&self) {
        self.state().is_cut = true;
        self.outbox.close(CloseCode::Restart);
    }

    /// Whether the loss that has just happened was [`Self::cut`].
    pub(crate) fn was_cut(&self) -> bool {
        std::mem::take(&mut self.state().is_cut)
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recipient for Session {
    fn deliver(&self, frame: &Frame, re: Option<&str>, urgency: Urgency) {
        self.state().note(frame.message());
        let delivery = match re {
            Some(re) => self.outbox.answer(frame, Some(re)),
            None => self.outbox.deliver(frame, urgency),
        };
        // Whatever became of it, the outbox knows: what is dropped is followed by a snapshot, whoever is cut off
        // resumes.
        let _ = delivery;
        self.close_after(frame);
    }

    fn queue(&self, frame: &Frame, re: Option<&str>) {
        self.state().note(frame.message());
        // As above.
        let _ = self.outbox.queue(frame, re);
        self.close_after(frame);
    }

    fn flush(&self) {
        self.outbox.flush();
    }

    fn round_trip(&self) -> Duration {
        Duration::from_micros(self.round_trip_us.load(Ordering::Relaxed))
    }

    fn is_connected(&self) -> bool {
        self.is_attached()
    }

    fn useless_move(&self) {
        let is_too_many = self.state().useless_move();
        if is_too_many {
            self.outbox.close(CloseCode::Abuse);
        }
    }
}

/// Whether somebody is a bot, of which only one connection is kept.
pub(crate) fn is_single(kind: PlayerKind) -> bool {
    match kind {
        PlayerKind::Bot => true,
        PlayerKind::Human | PlayerKind::Guest => false,
    }
}
