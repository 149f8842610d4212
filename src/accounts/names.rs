//! What people and bots may be called.

use std::net::IpAddr;

use tracing::info;

use super::{AccountError, Accounts, NAME_ATTEMPTS, Revoked, guest, is_guest, new_player};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::lookalike::{ForbiddenWord, Outline};
use crate::model::player::{Identity, PlayerKind};
use crate::storage::record::StoredPlayer;
use crate::storage::store::Write;
use crate::system::config::{AccessConfig, Lookalikes};
use crate::system::shares::{Payer, Share};

/// What the operators say of names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NameRules {
    forbidden: Vec<ForbiddenWord>,
    lookalikes: Lookalikes,
}

impl From<&AccessConfig> for NameRules {
    fn from(access: &AccessConfig) -> Self {
        Self { forbidden: access.forbidden_names.clone(), lookalikes: access.lookalikes }
    }
}

impl Accounts {
    /// Gives a guest who asks from `from` the name that they choose, marked as a guest's, and stores who has none yet.
    ///
    /// # Errors
    ///
    /// The name breaks its rule, is taken or looks like somebody else's; it is no guest; or too many came from there.
    pub(crate) async fn name_guest(
        &self,
        from: IpAddr,
        guest: &Identity,
        chosen: &str,
    ) -> Result<Identity, AccountError> {
        let name = PlayerName::of_guest(chosen)?;
        self.check_guest_name(guest, &PlayerName::register(chosen)?, &name).await?;
        match self.inner.store.player(&guest.id).await? {
            Some(player) if is_guest(&player) => {
                self.write(Write::NameGuest { player: player.id, name: name.clone() }).await?;
            }
            Some(_) => return Err(AccountError::Unauthorized),
            None => {
                self.inner.shares.spend(Share::Guest, &Payer::stranger(from))?;
                let player = StoredPlayer {
                    id: guest.id.clone(),
                    ..new_player(name.clone(), PlayerKind::Guest, None)
                };
                self.store_guest(player).await?;
            }
        }
        self.renamed(&guest.id);
        info!(player = %guest.id, %name, "a guest has chosen a name");
        Ok(Identity { name, ..guest.clone() })
    }

    /// Whether nobody else, with an account or without, is called so or nearly so.
    async fn check_guest_name(
        &self,
        guest: &Identity,
        chosen: &PlayerName,
        name: &PlayerName,
    ) -> Result<(), AccountError> {
        if self.inner.store.player_by_name(chosen).await?.is_some() {
            return Err(AccountError::NameTaken);
        }
        self.check_name(chosen, None).await?;
        self.check_name(name, Some(&guest.id)).await
    }

    /// A guest who is called as a new account is gets a name that says nothing: an account's name is its own.
    pub(super) async fn take_from_guest(&self, name: &PlayerName) -> Result<(), AccountError> {
        let Ok(of_guest) = PlayerName::of_guest(name.as_str()) else { return Ok(()) };
        for guest in self.inner.store.lookalikes(&Outline::of(of_guest.as_str())).await? {
            if is_guest(&guest) {
                self.name_again(&guest.id).await?;
            }
        }
        Ok(())
    }

    async fn name_again(&self, guest: &PlayerId) -> Result<(), AccountError> {
        for attempt in 0..NAME_ATTEMPTS {
            let name = guest::identity(guest.clone(), attempt).name;
            match self.write(Write::NameGuest { player: guest.clone(), name }).await {
                Err(AccountError::NameTaken) => {}
                Ok(_) => {
                    self.renamed(guest);
                    return Ok(());
                }
                Err(other) => return Err(other),
            }
        }
        Err(AccountError::NameTaken)
    }

    /// A guest is called otherwise from now on; connections come back by the new name.
    fn renamed(&self, guest: &PlayerId) {
        self.inner.stored_guests.forget(guest);
        // Nobody listens when no session is open.
        let _ = self.inner.revoked.send(Revoked::Name(guest.clone()));
    }

    /// Whether a name may be given to a new player, or to this one. Exactly the same name is refused where it is
    /// written.
    pub(super) async fn check_name(
        &self,
        name: &PlayerName,
        player: Option<&PlayerId>,
    ) -> Result<(), AccountError> {
        let NameRules { forbidden, lookalikes } = &self.inner.names;
        let outline = Outline::of(name.as_str());
        if forbidden.iter().any(|word| word.is_in(&outline)) {
            return Err(AccountError::NameForbidden);
        }
        match lookalikes {
            Lookalikes::Allowed => return Ok(()),
            Lookalikes::Refused => {}
        }
        let alike = self.inner.store.lookalikes(&outline).await?;
        let other =
            alike.into_iter().find(|other| Some(&other.id) != player && other.name.key() != name.key());
        other.map_or(Ok(()), |other| Err(AccountError::NameLooksLike { other: other.name }))
    }
}
