//! One session as its socket sees it: what every request does.

use fourfold_engine::Column;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tracing::error;

use super::port::{Disconnected, SessionPort};
use super::services::{Services, reply_to};
use crate::lobby::handle::LobbyRequest;
use crate::model::ids::GameId;
use crate::model::player::PlayerKind;
use crate::play::incident::failure;
use crate::play::presence::outbox::{Attachment, Outbox};
use crate::play::presence::registry::Removed;
use crate::play::presence::session::{Session, SessionCommand, SessionEnding, WATCHED_MAX};
use crate::play::room::handle::{Action, ReplyTo};
use crate::play::room::state::{NoColumn, Play};
use crate::play::room::{Connection, Recipient, RoomHandle, RoomRefusal};
use crate::protocol::client::{Bye, ColumnField, Feed, Move, Resign, Settings as Declared, Watch};
use crate::protocol::server::{Done, ServerMessage, Snapshot, Urgency};
use crate::protocol::{ClientMessage, CloseCode, ErrorCode, Frame, Request, WireError};
use crate::storage::StoreError;

/// Unreadable messages of one socket that its owner is told of: a bot that never says anything else is described by
/// the first few, and each is written to the disk.
const MISSPOKEN_MAX: u32 = 5;

/// A session and the services that its requests need.
#[derive(Debug)]
pub(crate) struct ClientSession {
    session: Arc<Session>,
    services: Arc<Services>,
    /// Messages of this socket that could not be read.
    misspoken: AtomicU32,
}

#[async_trait]
impl SessionPort for ClientSession {
    fn outbox(&self) -> &Outbox {
        self.session.outbox()
    }

    fn is_free(&self, message: &ClientMessage) -> bool {
        match message {
            ClientMessage::Move(played) => self.session.has_open_turn(&played.game, played.ply.number()),
            _ => false,
        }
    }

    fn only_watches(&self) -> bool {
        self.session.only_watches()
    }

    async fn handle(&self, request: Request, received: Instant) {
        let reply = reply_to(&self.session, request.id.as_deref());
        if let Err(error) = self.act(request, received, &reply).await {
            reply.send(&error.into());
        }
    }

    fn misspoke(&self, text: &str, error: &WireError) {
        if self.misspoken.fetch_add(1, Ordering::Relaxed) < MISSPOKEN_MAX {
            self.services.note_misspoken(&self.session, text, error);
        }
    }

    fn measured(&self, round_trip: Duration) {
        self.session.measured(round_trip);
    }

    async fn resync(&self, game: GameId, skipped: u64) {
        match self.services.directory.room(&game) {
            Some(room) => room.sync(None, reply_to(&self.session, None), Some(skipped)),
            None => self.show_stored(&game, None, Some(skipped)).await.unwrap_or_else(|error| {
                error!(game = %game, ?error, "a watcher's snapshot could not be read");
            }),
        }
    }

    async fn disconnected(&self, _attachment: Attachment, how: Disconnected) {
        let how = match how {
            Disconnected::Bye => Connection::Left,
            Disconnected::Lost => Connection::Lost,
        };
        let telling = self.session.ask(|booked| SessionCommand::SocketGone { how, booked });
        let booked = self.services.doors.go(telling).await;
        if booked.is_none() {
            self.outlived(how).await;
        }
    }
}

impl ClientSession {
    /// Joins a session to the services.
    pub(crate) fn new(session: Arc<Session>, services: Arc<Services>) -> Self {
        Self { session, services, misspoken: AtomicU32::new(0) }
    }

    /// The session has ended before its socket, or its task has panicked.
    async fn outlived(&self, how: Connection) {
        // Nobody else does after a panic; if it has ended, that was done then, and was no fault of the client's.
        let removed =
            self.services.strike_out(&self.session, SessionEnding::silent(how, CloseCode::Replaced)).await;
        if removed != Removed::WasNotThere && how == Connection::Lost {
            self.services.note_loss(&self.session);
        }
        // The socket may have gone to watch games after that.
        self.services.stop_watching(&self.session).await;
    }

    /// Refuses whoever an operator keeps from asking others. Guests are never muted: that would not outlive their
    /// next name.
    async fn check_not_muted(&self) -> Result<(), WireError> {
        if self.session.identity().kind == PlayerKind::Guest {
            return Ok(());
        }
        match self.services.accounts.mute_of(self.session.player()).await {
            Ok(None) => Ok(()),
            Ok(Some(mute)) => {
                let message = format!("you may ask nobody now: {}", mute.reason);
                Err(WireError::new(ErrorCode::Forbidden, message))
            }
            Err(error) => Err(failure("a mute could not be looked up", &error)),
        }
    }

    /// Does what the client asks. What is refused here is answered by the caller; rooms and lobby answer themselves.
    async fn act(&self, request: Request, received: Instant, reply: &ReplyTo) -> Result<(), WireError> {
        let Request { id: _, message, text } = request;
        if asks_somebody(&message) {
            self.check_not_muted().await?;
        }
        match message {
            ClientMessage::Hello(_) => Err(WireError::bad_field("type", "the session is open already")),
            ClientMessage::Set(declared) => {
                self.declare(declared);
                ok(reply)
            }
            ClientMessage::Bye(Bye { drain }) => self.bye(drain, reply).await,
            ClientMessage::Ping(ping) => answer(reply, ServerMessage::Pong(ping)),
            // The one message that is an answer itself.
            ClientMessage::Pong(_) if reply.re.is_none() => Ok(()),
            ClientMessage::Pong(_) => ok(reply),
            ClientMessage::Seek(seek) => self.ask_lobby(LobbyRequest::Seek(seek), reply).await,
            ClientMessage::Unseek => self.ask_lobby(LobbyRequest::Unseek, reply).await,
            ClientMessage::Challenge(challenge) => {
                self.ask_lobby(LobbyRequest::Challenge(challenge), reply).await
            }
            ClientMessage::OpenChallenge(challenge) => {
                self.ask_lobby(LobbyRequest::OpenChallenge(challenge), reply).await
            }
            ClientMessage::Accept(accept) => self.ask_lobby(LobbyRequest::Accept(accept), reply).await,
            ClientMessage::Decline(decline) => self.ask_lobby(LobbyRequest::Decline(decline), reply).await,
            ClientMessage::Cancel(on) => self.ask_lobby(LobbyRequest::Cancel(on.challenge), reply).await,
            ClientMessage::PlayBot(play) => self.ask_lobby(LobbyRequest::PlayBot(play), reply).await,
            ClientMessage::Move(played) => self.play(played, text, received, reply).await,
            ClientMessage::Resign(resign) => self.resign(resign, reply).await,
            ClientMessage::Abort(on) => self.in_room(&on.game, Action::Abort, reply).await,
            ClientMessage::Rematch(on) => self.in_room(&on.game, Action::Rematch, reply).await,
            ClientMessage::Claim(on) => self.in_room(&on.game, Action::Claim, reply).await,
            ClientMessage::Takeback(on) => self.in_room(&on.game, Action::Takeback, reply).await,
            ClientMessage::TakebackAnswer(answer) => {
                self.in_room(&answer.game, Action::TakebackAnswer { yes: answer.yes }, reply).await
            }
            ClientMessage::React(react) => {
                self.in_room(&react.game, Action::React { emoji: react.emoji }, reply).await
            }
            ClientMessage::Sync(on) => self.sync(&on.game, reply).await,
            ClientMessage::Watch(watch) => self.watch(watch, reply).await,
            ClientMessage::Unwatch(watch) => self.unwatch(watch, reply).await,
        }
    }

    fn declare(&self, declared: Declared) {
        let games_max = self.services.sessions.games_max();
        self.services
            .sessions
            .declare(self.session.player(), |settings| settings.declare(declared, games_max));
    }

    async fn bye(&self, drain: bool, reply: &ReplyTo) -> Result<(), WireError> {
        if !drain {
            // The socket closes by itself after a plain bye.
            return ok(reply);
        }
        self.services.sessions.declare(self.session.player(), |settings| settings.draining = true);
        self.services.lobby.disconnected(self.session.member()).await;
        self.services.lobby.left(self.session.player().clone()).await;
        ok(reply)?;
        self.session.drain();
        Ok(())
    }

    async fn ask_lobby(&self, request: LobbyRequest, reply: &ReplyTo) -> Result<(), WireError> {
        if !self.services.guests_play && self.session.identity().kind == PlayerKind::Guest {
            let message = "here people play with an account: sign in first";
            return Err(WireError::new(ErrorCode::Forbidden, message));
        }
        if request.is_rated() {
            let asked = self.services.host.may_play_rated(self.session.identity()).await;
            asked.map_err(|error| error.to_wire())?;
        }
        self.services.lobby.ask(Arc::clone(&self.session), request, reply.clone()).await
    }

    async fn play(
        &self,
        played: Move,
        text: Option<Box<str>>,
        received: Instant,
        reply: &ReplyTo,
    ) -> Result<(), WireError> {
        self.session.turn_answered(&played.game);
        let info = match &played.info {
            None => None,
            Some(info) => Some(info.to_stored().map_err(|error| error.in_game(&played.game))?),
        };
        let play = Play {
            ply: played.ply.number(),
            column: column_of(played.column),
            forgiven: self.forgiven(),
            info,
            said: text.filter(|_| self.session.identity().kind == PlayerKind::Bot),
            received,
            round_trip: self.session.round_trip(),
        };
        let Some(room) = self.services.directory.room(&played.game) else {
            return self.play_late(&played.game, &play, reply).await;
        };
        room.play(self.session.player().clone(), play, reply.clone());
        Ok(())
    }

    /// Illegal moves that the player is forgiven in a game.
    fn forgiven(&self) -> u8 {
        if self.session.is_strict() { 0 } else { self.services.illegal_retries }
    }

    /// Answers a move in a game without a room: it is over, unknown, or kept while the daemon stops.
    async fn play_late(&self, game: &GameId, play: &Play, reply: &ReplyTo) -> Result<(), WireError> {
        match self.services.host.late_move(game, self.session.player(), play).await {
            Ok(Some(Ok(moved))) => return answer(reply, ServerMessage::Moved(moved)),
            Ok(Some(Err(refusal))) => reply.refuse_move(refusal.to_wire(game)),
            Ok(None) => reply.refuse_move(no_such_game(game)),
            Err(cause) => return Err(unreadable(game, &cause)),
        }
        Ok(())
    }

    async fn in_room(&self, game: &GameId, action: Action, reply: &ReplyTo) -> Result<(), WireError> {
        let room = self.room(game).await?;
        room.act(self.session.player().clone(), action, reply.clone());
        Ok(())
    }

    async fn resign(&self, resign: Resign, reply: &ReplyTo) -> Result<(), WireError> {
        let Resign { game, fault } = resign;
        if let Some(fault) = fault {
            fault.check().map_err(|error| error.in_game(&game))?;
            self.services.note_failure(&self.session, &game, fault);
        }
        self.in_room(&game, Action::Resign, reply).await
    }

    /// The room of a game, or the refusal that says why there is none.
    async fn room(&self, game: &GameId) -> Result<RoomHandle, WireError> {
        if let Some(room) = self.services.directory.room(game) {
            return Ok(room);
        }
        let refusal = match self.stored(game).await?.result {
            Some(result) => RoomRefusal::GameOver { result },
            None => RoomRefusal::Closed,
        };
        Err(refusal.to_wire(game))
    }

    async fn stored(&self, game: &GameId) -> Result<Snapshot, WireError> {
        match self.services.host.snapshot(game).await {
            Ok(Some(snapshot)) => Ok(snapshot),
            Ok(None) => Err(no_such_game(game)),
            Err(cause) => Err(unreadable(game, &cause)),
        }
    }

    async fn sync(&self, game: &GameId, reply: &ReplyTo) -> Result<(), WireError> {
        match self.services.directory.room(game) {
            Some(room) => {
                room.sync(Some(self.session.player().clone()), reply.clone(), None);
                Ok(())
            }
            None => self.show_stored(game, Some(reply), None).await,
        }
    }

    /// Sends a stored game's snapshot, from the player's own side if it played.
    async fn show_stored(
        &self,
        game: &GameId,
        reply: Option<&ReplyTo>,
        skipped: Option<u64>,
    ) -> Result<(), WireError> {
        let mut snapshot = self.stored(game).await?;
        snapshot.you = snapshot.side_of(self.session.player());
        snapshot.skipped = skipped;
        let frame = Frame::new(ServerMessage::Game(Box::new(snapshot)));
        match reply {
            Some(reply) => reply.send(&frame),
            None => self.session.deliver(&frame, None, Urgency::Must),
        }
        Ok(())
    }

    async fn watch(&self, watch: Watch, reply: &ReplyTo) -> Result<(), WireError> {
        if let Some(feed) = watch.feed {
            self.watch_feed(feed);
            return ok(reply);
        }
        let Some(game) = watch.game else { return Ok(()) };
        let Some(room) = self.services.directory.room(&game) else {
            return self.show_stored(&game, Some(reply), None).await;
        };
        if !self.session.watch(&game) {
            let message = format!("one connection watches at most {WATCHED_MAX} games");
            return Err(WireError::new(ErrorCode::Busy, message).in_game(&game));
        }
        room.watch(self.session.player().clone(), reply.clone());
        Ok(())
    }

    fn watch_feed(&self, feed: Feed) {
        self.session.follow(feed);
        let recipient = Arc::clone(&self.session) as Arc<dyn Recipient>;
        self.services.feeds.subscribe(feed, self.session.member(), recipient);
        if !self.services.sessions.contains(&self.session) {
            // It has ended while this request was on its way: nobody would unsubscribe it.
            self.services.feeds.leave(self.session.member());
        }
    }

    async fn unwatch(&self, watch: Watch, reply: &ReplyTo) -> Result<(), WireError> {
        if let Some(feed) = watch.feed {
            self.session.unfollow(feed);
            self.services.feeds.unsubscribe(feed, self.session.member());
        }
        if let Some(game) = watch.game {
            self.session.unwatch(&game);
            if let Some(room) = self.services.directory.room(&game) {
                room.unwatch(self.session.member()).await;
            }
        }
        ok(reply)
    }
}

fn no_such_game(game: &GameId) -> WireError {
    WireError::new(ErrorCode::NoSuchGame, format!("there is no game {game}")).in_game(game)
}

fn unreadable(game: &GameId, cause: &StoreError) -> WireError {
    failure("the game could not be read", cause).in_game(game)
}

#[expect(clippy::unnecessary_wraps, reason = "the last step of every request that succeeds")]
fn answer(reply: &ReplyTo, message: ServerMessage) -> Result<(), WireError> {
    reply.send(&Frame::new(message));
    Ok(())
}

fn ok(reply: &ReplyTo) -> Result<(), WireError> {
    answer(reply, ServerMessage::Ok(Done {}))
}

/// The column that a client means. What is none is the room's business: it counts against the sender if the ply is due.
fn column_of(field: ColumnField) -> Result<Column, NoColumn> {
    match field {
        ColumnField::Number(number) => {
            let column = u8::try_from(number).ok().and_then(Column::from_number);
            column.ok_or(NoColumn::OutOfRange(number))
        }
        ColumnField::Malformed => Err(NoColumn::Malformed),
    }
}

/// Whether somebody else sees it and is asked something, or is to take note: what is too much from one may be stopped.
fn asks_somebody(message: &ClientMessage) -> bool {
    matches!(
        message,
        ClientMessage::Challenge(_)
            | ClientMessage::OpenChallenge(_)
            | ClientMessage::Rematch(_)
            | ClientMessage::Takeback(_)
            | ClientMessage::React(_)
    )
}
