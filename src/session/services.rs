//! What sessions need from the rest of the daemon.

use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Accounts;
use crate::lobby::LobbyHandle;
use crate::model::player::PlayerKind;
use crate::model::signing::Signer;
use crate::model::time::UnixMillis;
use crate::play::feeds::Feeds;
use crate::play::host::Host;
use crate::play::presence::registry::{Removed, Sessions};
use crate::play::presence::session::Session;
use crate::play::room::handle::ReplyTo;
use crate::play::room::{Connection, Directory, Recipient};
use crate::protocol::CloseCode;
use crate::storage::bot_versions::{BotFault, FaultKind};
use crate::storage::store::Write;
use crate::storage::{Store, Writer};

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
    pub signer: Signer,
    pub directory: Directory,
    pub sessions: Sessions,
    pub host: Host,
    pub lobby: LobbyHandle,
    /// Streams of events that are not one game.
    pub feeds: Feeds,
    /// Owns the tasks that outlive a socket.
    pub tasks: tokio_util::task::TaskTracker,
    /// Cancelled when the daemon stops.
    pub stop: tokio_util::sync::CancellationToken,
    /// When this process began, by the wall clock.
    pub started_at: UnixMillis,
    /// How often the server pings.
    pub heartbeat: Duration,
    /// Sessions that one person may have at the same time; one more ends the oldest.
    pub connections_per_account: usize,
    /// Messages of one connection in any 20 seconds.
    pub messages_per_20s: u32,
    /// What acknowledged moves survive: `strict` or `relaxed`.
    pub durability: &'static str,
}

impl Services {
    /// Where answers to this session go.
    pub fn reply_to(&self, session: &Arc<Session>, re: Option<&str>) -> ReplyTo {
        ReplyTo {
            member: session.member(),
            recipient: Arc::clone(session) as Arc<dyn Recipient>,
            re: re.map(Into::into),
        }
    }

    /// Ends a session for good: nobody can resume it, its seats are left, its seeks and offers go, and a socket that is
    /// still attached closes with `code`. Does nothing if it has ended before.
    pub async fn end_session(&self, session: &Arc<Session>, how: Connection, code: CloseCode) {
        let _alone = session.change_alone().await;
        self.end_alone(session, how, code).await;
    }

    /// As [`Self::end_session`], for a caller who holds the session's [`Session::change_alone`].
    pub(super) async fn end_alone(&self, session: &Arc<Session>, how: Connection, code: CloseCode) {
        let removed = self.sessions.remove(session);
        if removed == Removed::WasNotThere {
            return;
        }
        session.outbox().take_over(code);
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
        self.feeds.lobby_changed();
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

    /// Takes a session out of the rooms that it watches.
    pub async fn stop_watching(&self, session: &Session) {
        for game in session.watched_games() {
            if let Some(room) = self.directory.room(&game) {
                room.unwatch(session.member()).await;
            }
        }
    }
}
