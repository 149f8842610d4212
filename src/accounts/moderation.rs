//! What operators do to accounts and remote bots.

use tracing::info;

use super::{AccountError, Accounts, Revoked, is_guest};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::secret::Secret;
use crate::model::time::UnixMillis;
use crate::storage::StoredPlayer;
use crate::storage::moderation::{Because, Measure, MeasureKind};
use crate::storage::record::Ban;
use crate::storage::store::{StoreError, Write, Written};

impl Accounts {
    /// The ban that keeps a player out: its own, or that of the account that it belongs to.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn ban_of(&self, player: &StoredPlayer) -> Result<Option<Ban>, StoreError> {
        let now = UnixMillis::now();
        let holds = |ban: &Option<Ban>| ban.clone().filter(|ban| ban.holds(now));
        if let Some(ban) = holds(&player.ban) {
            return Ok(Some(ban));
        }
        let Some(owner) = &player.owner else { return Ok(None) };
        Ok(self.inner.store.player(owner).await?.and_then(|owner| holds(&owner.ban)))
    }

    /// Refuses whoever is kept out.
    pub(super) async fn admit(&self, player: &StoredPlayer) -> Result<(), AccountError> {
        match self.ban_of(player).await? {
            None => Ok(()),
            Some(ban) => Err(AccountError::Banned(ban)),
        }
    }

    /// Keeps a player out, and all its bots.
    ///
    /// # Errors
    ///
    /// It is a guest or a bot of the house; or the store failed.
    pub(crate) async fn ban(
        &self,
        player: &PlayerId,
        until: Option<UnixMillis>,
        because: Because,
    ) -> Result<(), AccountError> {
        self.take(player, MeasureKind::Ban { until }, because).await?;
        self.tell_with_bots(player, Revoked::Player).await
    }

    /// Tells of what a player has no more, nor its bots.
    async fn tell_with_bots(
        &self,
        player: &PlayerId,
        revoked: impl Fn(PlayerId) -> Revoked,
    ) -> Result<(), AccountError> {
        let bots = self.inner.store.bots_of(player).await?;
        for each in std::iter::once(player.clone()).chain(bots.into_iter().map(|bot| bot.id)) {
            // Nobody listens when no session is open.
            let _ = self.inner.revoked.send(revoked(each));
        }
        Ok(())
    }

    /// Lets a player in again.
    ///
    /// # Errors
    ///
    /// It is not banned; or the store failed.
    pub(crate) async fn unban(&self, player: &PlayerId, because: Because) -> Result<(), AccountError> {
        self.take(player, MeasureKind::Unban, because).await?;
        Ok(())
    }

    /// Lets a player play, but ask nobody.
    ///
    /// # Errors
    ///
    /// It is a guest or a bot of the house; or the store failed.
    pub(crate) async fn mute(
        &self,
        player: &PlayerId,
        until: Option<UnixMillis>,
        because: Because,
    ) -> Result<(), AccountError> {
        self.take(player, MeasureKind::Mute { until }, because).await?;
        self.tell_with_bots(player, Revoked::Voice).await
    }

    /// Lets a player ask again.
    ///
    /// # Errors
    ///
    /// It is not muted; or the store failed.
    pub(crate) async fn unmute(&self, player: &PlayerId, because: Because) -> Result<(), AccountError> {
        self.take(player, MeasureKind::Unmute, because).await?;
        Ok(())
    }

    /// What keeps a player from asking others: its own mute, or that of the account that it belongs to.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn mute_of(&self, player: &PlayerId) -> Result<Option<Ban>, StoreError> {
        let now = UnixMillis::now();
        let holds = |mute: Option<Ban>| mute.filter(|mute| mute.holds(now));
        let Some(player) = self.inner.store.player(player).await? else { return Ok(None) };
        if let Some(mute) = holds(player.mute) {
            return Ok(Some(mute));
        }
        let Some(owner) = &player.owner else { return Ok(None) };
        Ok(self.inner.store.player(owner).await?.and_then(|owner| holds(owner.mute)))
    }

    /// Ends an account with its bots, or one bot, and says how many bots went with the account.
    ///
    /// # Errors
    ///
    /// It is a guest or a bot of the house; or the store failed, after which some bots are gone already and the account
    /// is not: it can be repeated.
    pub(crate) async fn delete_as_operator(
        &self,
        player: &PlayerId,
        because: Because,
    ) -> Result<usize, AccountError> {
        let by = because.by.clone();
        let delete = move |player, name| {
            let kind = MeasureKind::Delete { name };
            Write::TakeMeasure(Measure { player, kind, because: because.clone() })
        };
        let bots = self.end_for_good(player, delete).await?;
        info!(%player, bots, %by, "an operator has ended an account");
        Ok(bots)
    }

    /// Gives a player another name; its games keep their links. A guest's keeps the mark of guests.
    ///
    /// # Errors
    ///
    /// The name breaks its rule or is taken; it is a bot of the house; or the store failed.
    pub(crate) async fn rename(
        &self,
        player: &PlayerId,
        name: &str,
        because: Because,
    ) -> Result<PlayerName, AccountError> {
        let known = self.inner.store.player(player).await?;
        let is_of_guest = known.as_ref().is_some_and(is_guest);
        let name = if is_of_guest { PlayerName::of_guest(name)? } else { PlayerName::register(name)? };
        // Whoever is not there is refused by the store.
        let from = known.map_or_else(|| name.clone(), |known| known.name);
        self.check_name(&name, Some(player)).await?;
        self.take(player, MeasureKind::Rename { from, name: name.clone() }, because).await?;
        self.inner.stored_guests.forget(player);
        // Nobody listens when no session is open.
        let _ = self.inner.revoked.send(Revoked::Name(player.clone()));
        Ok(name)
    }

    /// Gives a person a new password, drawn here, and ends all sessions.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn reset_password(
        &self,
        player: &PlayerId,
        because: Because,
    ) -> Result<Secret, AccountError> {
        let password = super::password::draw();
        let operator = std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        let phc = self.inner.passwords.hash(operator, Secret::new(password.expose())).await?;
        self.take(player, MeasureKind::ResetPassword { password: phc }, because).await?;
        Ok(password)
    }

    /// Ends all sessions of a person, or all tokens of a bot, and says how many there were.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn sign_out_all(
        &self,
        player: &PlayerId,
        because: Because,
    ) -> Result<usize, AccountError> {
        match self.take(player, MeasureKind::SignOut, because).await? {
            Written::Revoked(tokens) => Ok(tokens.len()),
            Written::Done | Written::Settled(_) => Ok(0),
        }
    }

    pub(super) async fn take(
        &self,
        player: &PlayerId,
        kind: MeasureKind,
        because: Because,
    ) -> Result<Written, AccountError> {
        let (action, by) = (kind.action(), because.by.clone());
        let measure = Measure { player: player.clone(), kind, because };
        let written = self.write(Write::TakeMeasure(measure)).await?;
        info!(player = %player, ?action, %by, "an operator has taken a measure");
        Ok(written)
    }
}
