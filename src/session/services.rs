//! What sessions need from the rest of the daemon.

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Variant;
use tracing::error;

use super::departed::{Departed, Departure};
use super::doors::Doors;
use super::port::RefusedHello;
use super::rate_limit::of_watchers;
use crate::accounts::Accounts;
use crate::cluster::port::Counts;
use crate::fourfold_version;
use crate::lobby::LobbyHandle;
use crate::model::ids::GameId;
use crate::model::player::PlayerKind;
use crate::model::signing::Signer;
use crate::model::time::UnixMillis;
use crate::play::feeds::Feeds;
use crate::play::host::Host;
use crate::play::host::admission::GUEST_GAMES_MAX;
use crate::play::presence::registry::{Removed, Sessions};
use crate::play::presence::session::{Session, SessionCommand, SessionEnding};
use crate::play::room::handle::ReplyTo;
use crate::play::room::{Connection, Directory, Recipient};
use crate::protocol::client::{ProgramFault, ProgramFaultKind};
use crate::protocol::server::{Limits, ServerInfo, ServerMessage, Synced, Welcome};
use crate::protocol::terms::WirePlayer;
use crate::protocol::{CLIENT_FRAME_BYTES_MAX, CloseCode, Frame, PROTOCOL_VERSION, REACTIONS, WireError};
use crate::storage::bot_versions::{BotFault, FaultKind, fault_note};
use crate::storage::left_sessions::LeftSession;
use crate::storage::store::Write;
use crate::storage::{Store, StoreError, Writer};
use crate::system::metrics::Metrics;
use crate::system::shares::Shares;

/// What sessions need from the rest of the daemon.
#[derive(Debug)]
pub struct Services {
    /// Reads players and games.
    pub store: Arc<dyn Store>,
    /// Stores what bots say about themselves.
    pub writer: Writer,
    /// Knows who is who.
    pub accounts: Accounts,
    /// Signs the secrets of sessions.
    pub(crate) signer: Signer,
    pub(crate) directory: Directory,
    pub sessions: Sessions,
    /// Sessions that have ended.
    pub(crate) departed: Departed,
    pub(crate) host: Host,
    pub(crate) lobby: LobbyHandle,
    /// Streams of events that are not one game.
    pub(crate) feeds: Feeds,
    /// Who may come and go now.
    pub(crate) doors: Doors,
    /// What each network may use up.
    pub(crate) shares: Shares,
    pub(crate) metrics: Arc<Metrics>,
    /// Owns the tasks that outlive a socket.
    pub(crate) tasks: crate::system::tasks::Tasks,
    /// Cancelled when the daemon stops.
    pub(crate) stop: tokio_util::sync::CancellationToken,
    /// Cancelled later, when the last sockets are to end: no client comes back to this process after that.
    pub(crate) sockets_stop: tokio_util::sync::CancellationToken,
    /// When this process began, by the wall clock.
    pub(crate) started_at: UnixMillis,
    /// When an earlier process stored something for the last time, as far as games tell.
    pub(crate) last_stored: UnixMillis,
    /// How often the server pings.
    pub(crate) heartbeat: Duration,
    /// Whether people play without an account.
    pub(crate) guests_play: bool,
    /// Sessions that one person may have at the same time; one more ends the oldest.
    pub(crate) connections_per_account: usize,
    /// Messages of one connection at once, and again in every 20 seconds.
    pub(crate) messages_per_20s: u32,
    /// Illegal moves of a side that one game forgives.
    pub(crate) illegal_retries: u8,
    /// What acknowledged moves survive: `strict` or `relaxed`.
    pub(crate) durability: &'static str,
    /// What is spoken here beyond the smallest exchange.
    pub(crate) features: Vec<&'static str>,
}

/// Whether the client knows its open offers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offers {
    Tell,
    Known,
}

/// Ends of its games that a client which comes back may not have heard.
#[derive(Debug)]
pub(super) enum Unheard {
    /// None: it has heard all, or it will hear them as messages that it missed.
    Nothing,
    /// Those that were queued for this session, which gives way, after the last message that the client has seen.
    After { session: Arc<Session>, seen: u64 },
    /// Those of these games, and of all that ended since then.
    Since { games: Vec<GameId>, at: UnixMillis },
}

/// The games whose ends have a higher number.
fn after(seen: u64, ends: Vec<(u64, GameId)>) -> Vec<GameId> {
    ends.into_iter().filter(|(number, _)| *number > seen).map(|(_, game)| game).collect()
}

impl Unheard {
    /// What a session left unheard that has ended, or was of an earlier process, `otherwise` if nobody knows any more
    /// how it ended.
    pub(super) fn of_departed(departure: Option<Departure>, seen: u64, otherwise: UnixMillis) -> Self {
        match departure {
            Some(Departure { ends, at }) => Self::Since { games: after(seen, ends), at },
            None => Self::Since { games: Vec::new(), at: otherwise },
        }
    }
}

/// Where answers to this session go.
pub(crate) fn reply_to(session: &Arc<Session>, re: Option<&str>) -> ReplyTo {
    ReplyTo {
        member: session.member(),
        recipient: Arc::clone(session) as Arc<dyn Recipient>,
        re: re.map(Into::into),
    }
}

impl Services {
    /// How many rooms there are.
    pub fn rooms(&self) -> usize {
        self.directory.count()
    }

    /// What came in over the bus by which rooms are reached in tests: where sessions are, and where rooms are.
    #[doc(hidden)]
    pub fn bus_counts(&self) -> Option<[&Counts; 2]> {
        self.directory.bus_counts()
    }

    /// The first message to a socket.
    pub(super) async fn welcome(&self, session: &Session, resumed: bool) -> Result<Frame, StoreError> {
        let identity = session.identity();
        let rating = self.host.ratings().of(self.store.as_ref(), identity, Variant::STANDARD).await?;
        Ok(Frame::new(ServerMessage::Welcome(Box::new(Welcome {
            protocol: PROTOCOL_VERSION,
            session: session.id().clone(),
            secret: session.secret().to_owned(),
            resumed,
            server: ServerInfo { name: "fourfold".into(), version: fourfold_version().into() },
            you: WirePlayer::new(identity, rating, None),
            limits: Limits {
                frame_bytes: CLIENT_FRAME_BYTES_MAX,
                messages_per_20s: self.messages_per_20s,
                watcher_messages_per_20s: of_watchers(self.messages_per_20s),
                illegal_retries: self.illegal_retries,
                games: self.games_max_of(identity.kind),
            },
            heartbeat_ms: u64::try_from(self.heartbeat.as_millis()).unwrap_or(u64::MAX),
            reactions: REACTIONS.iter().map(|emoji| (*emoji).to_owned()).collect(),
            durability: self.durability.to_owned(),
            features: self.features.iter().map(|feature| (*feature).to_owned()).collect(),
        }))))
    }

    fn games_max_of(&self, kind: PlayerKind) -> u32 {
        let games_max = self.sessions.games_max();
        match kind {
            PlayerKind::Guest => games_max.min(GUEST_GAMES_MAX),
            PlayerKind::Human | PlayerKind::Bot => games_max,
        }
    }

    /// Says what waits: open offers, games that have ended, `synced`, and the turns. The live games themselves came
    /// when the seats were taken.
    pub(super) async fn catch_up(&self, session: &Arc<Session>, offers: Offers, unheard: Unheard) {
        match offers {
            Offers::Tell => self.lobby.tell_open(session).await,
            Offers::Known => {}
        }
        self.tell_ends(session, unheard).await;
        let mut live = 0;
        let mut your_turn = Vec::new();
        for room in self.directory.rooms_of(session.player()) {
            let Some(snapshot) = room.look(Some(session.player().clone())).await else { continue };
            live += u32::from(snapshot.to_move.is_some());
            if snapshot.to_move.is_some() && snapshot.to_move == snapshot.side_of(session.player()) {
                your_turn.push(room);
            }
        }
        let games = your_turn.iter().map(|room| room.game().clone()).collect();
        session.tell(ServerMessage::Synced(Synced { games: live, your_turn: games }));
        for room in your_turn {
            room.prompt(session.member()).await;
        }
    }

    /// Tells how games ended that the client may not know of. Those that the session has heard of meanwhile are not
    /// told again.
    async fn tell_ends(&self, session: &Session, unheard: Unheard) {
        let (games, since) = match unheard {
            Unheard::Nothing => return,
            Unheard::After { session, seen } => (after(seen, session.outbox().ends()), None),
            Unheard::Since { games, at } => (games, Some(at)),
        };
        match self.host.stored_ends(session.player(), games, since).await {
            Ok(ends) => ends.into_iter().for_each(|end| session.tell(ServerMessage::GameEnd(Box::new(end)))),
            Err(cause) => error!(error = %cause, "ends of games could not be read for a player who is back"),
        }
    }

    /// Ends a session for good: nobody can resume it, its seats are left, its seeks and offers go, and a socket that is
    /// still attached closes with `code`. Does nothing if it has ended before.
    pub(crate) async fn end_session(&self, session: &Session, how: Connection, code: CloseCode) {
        self.end(session, SessionEnding::silent(how, code)).await;
    }

    /// The same for a player who is let in no more: the client hears why, as a `hello` would from now on.
    pub(crate) async fn turn_out(&self, session: &Session, why: RefusedHello) {
        let RefusedHello { error, code } = why;
        let last = Some(Frame::from(error));
        self.end(session, SessionEnding { how: Connection::Lost, code, last }).await;
    }

    async fn end(&self, session: &Session, ending: SessionEnding) {
        let asked = ending.clone();
        let ended = session.ask(|ended| SessionCommand::End { ending: asked, ended }).await;
        if ended.is_none() {
            // It has no owner any more: it has ended, or its task has panicked.
            self.strike_out(session, ending).await;
        }
    }

    /// As [`Self::end_session`], for the session's owner. Says whether it was there.
    pub(super) async fn strike_out(&self, session: &Session, ending: SessionEnding) -> Removed {
        let SessionEnding { how, code, last } = ending;
        let removed = self.sessions.remove(session);
        if removed == Removed::WasNotThere {
            return removed;
        }
        let at = UnixMillis::now();
        match last {
            Some(last) => session.outbox().dismiss(&last, code),
            None => session.outbox().take_over(code),
        }
        self.lobby.disconnected(session.member()).await;
        if removed == Removed::Last {
            self.lobby.left(session.player().clone()).await;
        }
        self.feeds.leave(session.member());
        for room in self.directory.rooms_of(session.player()) {
            room.connected(session.member(), how).await;
            room.leave(session.member()).await;
        }
        self.stop_watching(session).await;
        self.departed.note(session.id(), Departure { ends: session.outbox().ends(), at });
        self.feeds.lobby_changed();
        removed
    }

    /// How far all sessions have been told, for the next process. Nothing is told to any of them any more.
    pub(crate) fn left_sessions(&self) -> Vec<LeftSession> {
        let left = self.sessions.all().into_iter().map(|session| {
            let (after, ends) = session.outbox().ends_to_hear();
            LeftSession { session: session.id().clone(), after, ends }
        });
        left.collect()
    }

    /// Books for its owner that a bot lost its connection while it played.
    pub(super) fn note_loss(&self, session: &Session) {
        let games = self.directory.games_of(session.player());
        if session.was_cut()
            || games == 0
            || session.identity().kind != PlayerKind::Bot
            || self.stop.is_cancelled()
        {
            return;
        }
        let fault = BotFault {
            bot: session.player().clone(),
            game: None,
            kind: FaultKind::Disconnected,
            note: format!("games under way: {games}"),
            at: UnixMillis::now(),
        };
        self.writer.submit(Write::AddFault(fault), |_| {});
    }

    /// Books for its owner that the program behind a bot failed, in a game that it plays.
    pub(super) fn note_failure(&self, session: &Session, game: &GameId, fault: ProgramFault) {
        let player = session.player();
        let plays = self.directory.rooms_of(player).iter().any(|room| room.game() == game);
        if session.identity().kind != PlayerKind::Bot || !plays {
            return;
        }
        let kind = match fault.kind {
            ProgramFaultKind::Time => FaultKind::Time,
            ProgramFaultKind::Illegal => FaultKind::Illegal,
            ProgramFaultKind::Left => FaultKind::Left,
        };
        let (bot, game, at) = (player.clone(), Some(game.clone()), UnixMillis::now());
        let fault = BotFault { bot, game, kind, note: fault.note, at };
        self.writer.submit(Write::AddFault(fault), |_| {});
    }

    /// Books for its owner that a bot said something unreadable. What it meant by it nobody knows, but mostly it was a
    /// move, and the game will be lost on time.
    pub(super) fn note_misspoken(&self, session: &Session, text: &str, error: &WireError) {
        if session.identity().kind != PlayerKind::Bot {
            return;
        }
        let fault = BotFault {
            bot: session.player().clone(),
            game: None,
            kind: FaultKind::IllegalMove,
            note: fault_note(&error.message, text),
            at: UnixMillis::now(),
        };
        self.writer.submit(Write::AddFault(fault), |_| {});
    }

    /// Takes a session out of the rooms that it watches.
    pub(crate) async fn stop_watching(&self, session: &Session) {
        for game in session.watched_games() {
            if let Some(room) = self.directory.room(&game) {
                room.unwatch(session.member()).await;
            }
        }
    }
}
