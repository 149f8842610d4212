//! Vacations of people who play by correspondence.

use tracing::info;

use super::{AccountError, Accounts};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::vacation::{Vacation, days_left};
use crate::storage::store::Write;

impl Accounts {
    /// What a player has taken, in order.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn vacations(&self, player: &PlayerId) -> Result<Vec<Vacation>, AccountError> {
        Ok(self.inner.store.vacations_of(player).await?)
    }

    /// Takes so many days from now on, in the place of what is left of the vacation that goes on.
    ///
    /// # Errors
    ///
    /// [`AccountError::VacationUsedUp`] if there are not so many.
    pub(crate) async fn take_vacation(&self, player: &PlayerId, days: u32) -> Result<Vacation, AccountError> {
        let now = UnixMillis::now();
        let taken = self.vacations(player).await?.into_iter().map(|vacation| vacation.ended(now));
        let left = days_left(&taken.collect::<Vec<_>>(), now);
        if days > left {
            return Err(AccountError::VacationUsedUp { left });
        }
        let vacation = Vacation::of_days(days, now);
        self.write(Write::TakeVacation { player: player.clone(), vacation }).await?;
        info!(%player, days, "a vacation begins");
        Ok(vacation)
    }

    /// Ends the vacation that goes on, if one does.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn end_vacation(&self, player: &PlayerId) -> Result<(), AccountError> {
        self.write(Write::EndVacation { player: player.clone(), at: UnixMillis::now() }).await?;
        info!(%player, "a vacation ends");
        Ok(())
    }
}
