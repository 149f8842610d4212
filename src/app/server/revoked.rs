//! Closes connections that rest on what proves nothing any more.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::accounts::{AccountError, Revoked, identity_of, is_guest};
use crate::competition::classes::Classes;
use crate::competition::tournament::Tournaments;
use crate::lobby::handle::Whose;
use crate::model::ids::{PlayerId, TokenId};
use crate::model::time::UnixMillis;
use crate::play::presence::Session;
use crate::play::room::Connection;
use crate::protocol::CloseCode;
use crate::session::Services;
use crate::session::port::RefusedHello;
use crate::storage::record::Ban;
use crate::storage::{Store, StoreError};
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Closes the connections that rest on a revoked credential.
pub(super) struct Revocations {
    services: Arc<Services>,
    tournaments: Tournaments,
    classes: Classes,
    revoked: broadcast::Receiver<Revoked>,
}

impl Revocations {
    /// Hears of all from now on.
    pub(super) fn new(services: Arc<Services>, tournaments: Tournaments, classes: Classes) -> Self {
        let revoked = services.accounts.revocations();
        Self { services, tournaments, classes, revoked }
    }
}

impl Kept for Revocations {
    fn part(&self) -> Part {
        Part::Revocations
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        loop {
            let revoked = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                revoked = self.revoked.recv() => revoked,
            };
            match revoked {
                Ok(Revoked::Token(token)) => end_sessions_of(&self.services, &token).await,
                Ok(Revoked::Player(player)) => {
                    expel(&self.services, &player).await;
                    self.classes.gone(&player);
                    self.tournaments.gone(player).await;
                }
                Ok(Revoked::Name(player)) => {
                    self.services.lobby.withdraw(player.clone(), Whose::OwnAndOthers).await;
                    end_all_of(&self.services, &player, CloseCode::Restart).await;
                    self.rename(&player).await;
                }
                Ok(Revoked::Voice(player)) => self.services.lobby.withdraw(player, Whose::Own).await,
                Ok(Revoked::Guest(player)) => end_guest_sessions_of(&self.services, &player).await,
                Err(broadcast::error::RecvError::Lagged(_)) => end_invalid(&self.services).await,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// The one in hand is lost, so all are asked about.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        end_invalid(&self.services).await;
        Ok(())
    }
}

impl Revocations {
    /// Whoever keeps names in mind hears of a new one.
    async fn rename(&self, player: &PlayerId) {
        match self.services.store.player(player).await {
            Ok(None) => {}
            Ok(Some(player)) => {
                let who = identity_of(&player);
                self.classes.renamed(&who);
                self.tournaments.renamed(who).await;
            }
            Err(error) => error!(error = %error, "the new name of a player could not be read"),
        }
    }
}

async fn end_sessions_of(services: &Services, token: &TokenId) {
    for session in services.sessions.by_credential(token) {
        services.end_session(&session, Connection::Lost, CloseCode::Credentials).await;
    }
}

/// Ends all that a player has here: its offers, then the games, which it loses, so that nobody waits for it. Whoever is
/// banned is told why; an account that is gone has no ban.
async fn expel(services: &Services, player: &PlayerId) {
    services.lobby.withdraw(player.clone(), Whose::OwnAndOthers).await;
    for room in services.directory.rooms_of(player) {
        room.expel(player.clone()).await;
    }
    let ban = ban_of(services, player).await.unwrap_or_else(|error| {
        error!(error = %error, "the reason of a ban could not be looked up");
        None
    });
    let Some(ban) = ban else { return end_all_of(services, player, CloseCode::Banned).await };
    let why = RefusedHello::kept_out(&AccountError::Banned(ban));
    for session in services.sessions.of(player) {
        services.turn_out(&session, why.clone()).await;
    }
}

async fn end_all_of(services: &Services, player: &PlayerId, code: CloseCode) {
    for session in services.sessions.of(player) {
        services.end_session(&session, Connection::Lost, code).await;
    }
}

/// Ends the sessions from the time when the player was a guest.
async fn end_guest_sessions_of(services: &Services, player: &PlayerId) {
    for session in services.sessions.of(player) {
        if session.credential().is_none() {
            services.end_session(&session, Connection::Lost, CloseCode::Credentials).await;
        }
    }
}

/// Asks the store about every session, after so many revocations that some were missed.
async fn end_invalid(services: &Services) {
    for session in services.sessions.all() {
        match ban_of(services, session.player()).await {
            Ok(Some(_)) => expel(services, session.player()).await,
            Ok(None) => {}
            Err(error) => error!(error = %error, "a ban could not be looked up"),
        }
        match is_valid(services.store.as_ref(), &session).await {
            Ok(true) => {}
            Ok(false) => services.end_session(&session, Connection::Lost, CloseCode::Credentials).await,
            Err(error) => error!(error = %error, "a credential could not be checked"),
        }
    }
}

async fn ban_of(services: &Services, player: &PlayerId) -> Result<Option<Ban>, StoreError> {
    match services.store.player(player).await? {
        Some(player) => services.accounts.ban_of(&player).await,
        None => Ok(None),
    }
}

/// Whether what a session rests on still proves who its player is.
async fn is_valid(store: &dyn Store, session: &Session) -> Result<bool, StoreError> {
    match session.credential() {
        Some(token) => Ok(store.token_by_id(token, UnixMillis::now()).await?.is_some()),
        None => Ok(store.player(session.player()).await?.is_none_or(|player| is_guest(&player))),
    }
}
