//! From guest to account, a new password, the end of sessions, and the end of an account.

use std::net::IpAddr;
use std::sync::Arc;

use tracing::info;

use super::{
    AccountError, Accounts, Authenticated, Invited, NAME_ATTEMPTS, Revoked, guest, is_guest, password,
};
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::secret::Secret;
use crate::storage::StoreError;
use crate::storage::record::{StoredToken, TokenKind};

use crate::model::time::UnixMillis;
use crate::storage::store::{Refused, Write};

/// How often the bots of an account that ends are looked for: more may be made by a request that was on its way. Once
/// it is ended none can be, so that two are enough unless somebody makes bots all the time.
const LEAVING_ATTEMPTS: u8 = 8;

impl Accounts {
    /// Makes an account of a guest, who keeps id and games. Somebody who is no guest, or has not played yet, gets a
    /// fresh account as by [`Accounts::register`].
    ///
    /// The guest's cookie and the secrets of the guest's sessions prove nothing any more from then on, and connections
    /// that rest on them end.
    ///
    /// # Errors
    ///
    /// As [`Accounts::register`].
    pub async fn register_guest(
        &self,
        from: IpAddr,
        guest: Option<&Identity>,
        name: &str,
        password: Secret,
        invitation: Option<&Invited>,
    ) -> Result<Identity, AccountError> {
        let stored = match guest {
            Some(guest) => self.inner.store.player(&guest.id).await?,
            None => None,
        };
        let Some(stored) = stored.filter(is_guest) else {
            return self.register(from, name, password, invitation).await;
        };
        let (name, password) = self.prepare(from, name, password, invitation).await?;
        self.admit_by(invitation, &stored.id, &name).await?;
        let promoted = Write::Promote { player: stored.id.clone(), name: name.clone(), password };
        self.write(promoted).await?;
        self.take_from_guest(&name).await?;
        self.inner.stored_guests.forget(&stored.id);
        // Nobody listens when no session is open.
        let _ = self.inner.revoked.send(Revoked::Guest(stored.id.clone()));
        info!(player = %stored.id, %name, "a guest made an account");
        Ok(Identity { id: stored.id, name, kind: PlayerKind::Human, owner: None })
    }

    /// Sets a new password and ends all other sessions of the account.
    ///
    /// # Errors
    ///
    /// [`AccountError::BadCredentials`] if the old one is wrong; the new one breaks its rule; or too many wrong ones
    /// came, or too many wait to be checked.
    pub(crate) async fn change_password(
        &self,
        from: IpAddr,
        session: &Authenticated,
        old: Secret,
        new: Secret,
    ) -> Result<(), AccountError> {
        password::check_rule(&new)?;
        self.confirm(from, &session.identity, old).await?;
        let player = &session.identity.id;
        let password = self.inner.passwords.hash(from, new).await?;
        let keeps = Some(session.token.clone());
        self.write(Write::SetPassword { player: player.clone(), password, keeps }).await?;
        info!(%player, "password changed");
        Ok(())
    }

    /// A person's valid sessions, the newest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn sessions(&self, player: &PlayerId) -> Result<Vec<StoredToken>, StoreError> {
        let mut tokens = self.inner.store.tokens_of(player, UnixMillis::now()).await?;
        tokens.retain(|token| token.kind == TokenKind::Session);
        Ok(tokens)
    }

    /// Ends one session of a person, whichever it is.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoSuchSession`] if the person has no such session (any more).
    pub(crate) async fn end_session(&self, player: &PlayerId, session: &TokenId) -> Result<(), AccountError> {
        match self.revoke(player, Some(session.clone())).await? {
            0 => Err(AccountError::NoSuchSession),
            _ => Ok(()),
        }
    }

    /// Ends an account: its bots and the person take names that say nothing, tokens and sessions end, the password is
    /// forgotten. Their games stay, for they are the opponents' too.
    ///
    /// # Errors
    ///
    /// [`AccountError::BadCredentials`] if the password is wrong; or too many wrong ones came, or too many wait to be
    /// checked. If the store fails in between, some bots are gone already and the account is not: it can be repeated.
    pub(crate) async fn delete(
        &self,
        from: IpAddr,
        session: &Authenticated,
        password: Secret,
    ) -> Result<(), AccountError> {
        self.confirm(from, &session.identity, password).await?;
        let player = &session.identity.id;
        self.end_for_good(player, |player, name| Write::Retire { player, name }).await?;
        info!(%player, "account deleted");
        Ok(())
    }

    /// Ends a player's bots and then the player, each by such a write, and says how many bots there were. What they
    /// play is lost, and their connections end.
    ///
    /// A task does so: whoever asked may hang up in between, and half an account is none.
    pub(super) async fn end_for_good(
        &self,
        player: &PlayerId,
        leaving: impl Fn(PlayerId, PlayerName) -> Write + Send + Sync + 'static,
    ) -> Result<usize, AccountError> {
        let (accounts, player) = (self.clone(), player.clone());
        let ending = tokio::spawn(async move { accounts.end_with_bots(&player, &leaving).await });
        ending.await.map_err(|_| AccountError::Write(Arc::new(StoreError::Closed)))?
    }

    async fn end_with_bots(
        &self,
        player: &PlayerId,
        leaving: &(impl Fn(PlayerId, PlayerName) -> Write + Sync),
    ) -> Result<usize, AccountError> {
        let mut bots = 0;
        for _ in 0..LEAVING_ATTEMPTS {
            for bot in self.inner.store.bots_of(player).await? {
                self.end_one(&bot.id, leaving).await?;
                bots += 1;
            }
            match self.end_one(player, leaving).await {
                // One was made in the meantime.
                Err(AccountError::Unexpected(Refused::OwnsBots)) => {}
                ended => return ended.map(|()| bots),
            }
        }
        Err(AccountError::Unexpected(Refused::OwnsBots))
    }

    async fn end_one(
        &self,
        player: &PlayerId,
        leaving: impl Fn(PlayerId, PlayerName) -> Write,
    ) -> Result<(), AccountError> {
        for attempt in 0..NAME_ATTEMPTS {
            let name: PlayerName = guest::gone_name(player, attempt);
            match self.write(leaving(player.clone(), name)).await {
                Ok(_) => {
                    self.inner.stored_guests.forget(player);
                    self.inner.blocks.forget(player);
                    // Nobody listens when no session is open.
                    let _ = self.inner.revoked.send(Revoked::Player(player.clone()));
                    return Ok(());
                }
                Err(AccountError::NameTaken) => {}
                Err(other) => return Err(other),
            }
        }
        Err(AccountError::NameTaken)
    }

    /// Checks the password of somebody who is signed in already: a session that was left open must not be enough.
    pub(super) async fn confirm(
        &self,
        from: IpAddr,
        who: &Identity,
        password: Secret,
    ) -> Result<(), AccountError> {
        self.prove(from, who.name.as_str(), password).await.map(|_| ())
    }
}
