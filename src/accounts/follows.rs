//! Whom people follow.

use tracing::info;

use super::{AccountError, Accounts, TieError};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::StoreError;
use crate::storage::follows::{FOLLOWS_MAX, Tie, TiedPlayer};
use crate::storage::store::{Refused, Write};

impl Accounts {
    /// Whom a player follows, by name.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn follows(&self, player: &PlayerId) -> Result<Vec<TiedPlayer>, StoreError> {
        self.inner.store.follows_of(player).await
    }

    /// A person follows somebody from now on; saying so twice is once.
    ///
    /// # Errors
    ///
    /// [`TieError::NobodyToFollow`] unless it is somebody else who is no guest, [`TieError::Blocked`],
    /// [`TieError::TooManyFollows`], or the store failed.
    pub(crate) async fn follow(&self, player: &PlayerId, followed: &PlayerId) -> Result<(), AccountError> {
        let tie = Tie { player: player.clone(), to: followed.clone(), since: UnixMillis::now() };
        let written = self.write(Write::Follow(tie)).await;
        written.map_err(|error| match error {
            AccountError::Unexpected(Refused::NoSuchPlayer) => TieError::NobodyToFollow.into(),
            AccountError::Unexpected(Refused::Blocked) => TieError::Blocked.into(),
            other => other.if_too_many(TieError::TooManyFollows { max: FOLLOWS_MAX }.into()),
        })?;
        info!(%player, %followed, "somebody is followed");
        Ok(())
    }

    /// They do so no more.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn unfollow(&self, player: &PlayerId, followed: &PlayerId) -> Result<(), AccountError> {
        let (player, followed) = (player.clone(), followed.clone());
        self.write(Write::Unfollow { player, followed }).await?;
        Ok(())
    }
}
