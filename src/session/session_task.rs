//! The task that owns one open session: attaches the sockets of a client that comes back, books their loss, and ends
//! it.
//!
//! [`super::gateway`] opens the session, is its owner meanwhile, and then leaves it to this task. What was asked in
//! between waits in the inbox.

use std::ops::ControlFlow;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::port::{IDLE_GUEST_WITHIN, RESUME_WITHIN};
use super::services::{Offers, Services, Unheard, reply_to};
use crate::model::player::PlayerKind;
use crate::play::presence::outbox::Attachment;
use crate::play::presence::session::{
    NotResumed, Returning, Session, SessionCommand, SessionEnding, SessionInbox,
};
use crate::play::room::{Connection, Recipient};
use crate::protocol::CloseCode;

/// Owns one open session.
#[derive(Debug)]
pub(super) struct SessionTask {
    session: Arc<Session>,
    services: Arc<Services>,
    inbox: SessionInbox,
    /// When it ends unless its client comes back.
    ends_at: Option<Instant>,
    /// Until when it waits if its player has something to come back for.
    waits_until: Option<Instant>,
}

impl SessionTask {
    pub(super) fn new(session: Arc<Session>, services: Arc<Services>, inbox: SessionInbox) -> Self {
        Self { session, services, inbox, ends_at: None, waits_until: None }
    }

    /// Runs until the session has ended, or its socket is gone and no other comes.
    pub(super) async fn run(mut self) {
        loop {
            let ends_at = self.ends_at;
            let is_attached = self.session.is_attached();
            let step: BoxFuture<'_, ControlFlow<()>> = tokio::select! {
                biased;
                command = self.inbox.next() => match command {
                    Some(command) => self.obey(command).boxed(),
                    None => return,
                },
                () = until(ends_at) => self.time_is_over().boxed(),
                () = self.services.sockets_stop.cancelled(), if !is_attached => return,
            };
            // Boxed, for thousands of sessions wait here and few do something.
            if step.await.is_break() {
                return;
            }
        }
    }

    async fn obey(&mut self, command: SessionCommand) -> ControlFlow<()> {
        match command {
            SessionCommand::Resume { returning, attached } => {
                let resumed = self.resume(returning).await;
                if let Err(Ok(unwanted)) = attached.send(resumed) {
                    self.session.outbox().detach(&unwanted);
                    return self.socket_gone(Connection::Lost).await;
                }
                ControlFlow::Continue(())
            }
            SessionCommand::SocketGone { how, booked } => {
                let ends = self.socket_gone(how).await;
                // The socket's task may have been dropped.
                let _ = booked.send(());
                ends
            }
            SessionCommand::End { ending, ended } => {
                let ends = self.end(ending).await;
                // Whoever asked may have gone.
                let _ = ended.send(());
                ends
            }
        }
    }

    /// The client is back: its seats are no longer away, and what it missed and what it watched is shown.
    async fn resume(&mut self, returning: Box<Returning>) -> Result<Attachment, NotResumed> {
        let (session, services) = (&self.session, &self.services);
        let Returning { seen, declared, address, site, re } = *returning;
        let welcome = services.welcome(session, true).await.map_err(NotResumed::Store)?;
        let attachment =
            session.outbox().attach(Some(seen), &welcome, re.as_deref()).map_err(|_gap| NotResumed::Gap)?;
        self.ends_at = None;
        session.moved_to(address, site);
        let games_max = services.sessions.games_max();
        services.sessions.declare(session.player(), |settings| {
            settings.declare(declared, games_max);
            settings.draining = false;
        });
        self.back().await;
        debug!(session = %session.id(), player = %session.identity().name, seq = seen, "session resumed");
        Ok(attachment)
    }

    async fn back(&self) {
        let (session, services) = (&self.session, &self.services);
        for room in services.directory.rooms_of(session.player()) {
            room.connected(session.member(), Connection::Up).await;
        }
        for game in session.watched_games() {
            if let Some(room) = services.directory.room(&game) {
                room.watch(session.player().clone(), reply_to(session, None));
            }
        }
        for feed in session.followed_feeds() {
            let recipient = Arc::clone(session) as Arc<dyn Recipient>;
            services.feeds.subscribe(feed, session.member(), recipient);
        }
        services.catch_up(session, Offers::Known, Unheard::Nothing).await;
        services.feeds.lobby_changed();
    }

    async fn socket_gone(&mut self, how: Connection) -> ControlFlow<()> {
        if self.session.is_attached() {
            // A newer socket of the same session is there already.
            return ControlFlow::Continue(());
        }
        match how {
            Connection::Left => self.end(SessionEnding::silent(Connection::Left, CloseCode::Bye)).await,
            Connection::Lost | Connection::Up => {
                self.wait_for_return().await;
                ControlFlow::Continue(())
            }
        }
    }

    async fn end(&self, ending: SessionEnding) -> ControlFlow<()> {
        self.services.strike_out(&self.session, ending).await;
        ControlFlow::Break(())
    }

    /// Marks the seats as away; the session ends unless its client comes back in time.
    async fn wait_for_return(&mut self) {
        let (session, services) = (&self.session, &self.services);
        services.note_loss(session);
        for room in services.directory.rooms_of(session.player()) {
            room.connected(session.member(), Connection::Lost).await;
        }
        services.lobby.disconnected(session.member()).await;
        services.feeds.leave(session.member());
        services.stop_watching(session).await;
        services.feeds.lobby_changed();
        let now = Instant::now();
        self.waits_until = Some(now + RESUME_WITHIN);
        self.ends_at = Some(now + if self.is_guest() { IDLE_GUEST_WITHIN } else { RESUME_WITHIN });
    }

    fn is_guest(&self) -> bool {
        match self.session.identity().kind {
            PlayerKind::Guest => true,
            PlayerKind::Human | PlayerKind::Bot => false,
        }
    }

    /// The client has not come back. A guest who plays or has offered a game is waited for as long as everybody.
    async fn time_is_over(&mut self) -> ControlFlow<()> {
        let later = self.waits_until.filter(|until| *until > Instant::now());
        if let Some(later) = later
            && self.has_business().await
        {
            self.ends_at = Some(later);
            return ControlFlow::Continue(());
        }
        self.end(SessionEnding::silent(Connection::Lost, CloseCode::Replaced)).await
    }

    async fn has_business(&self) -> bool {
        let player = self.session.player();
        self.services.directory.games_of(player) > 0 || self.services.lobby.has_offers(player.clone()).await
    }
}

/// Waits until then; for ever if nothing is to be waited for.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
