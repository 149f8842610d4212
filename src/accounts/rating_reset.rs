//! Ratings of bots that begin anew.

use std::time::Duration;

use tracing::info;

use super::{AccountError, Accounts};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::resets::NewReset;
use crate::storage::store::{Refused, Write};

/// How often at most: a new engine is not written sooner, and each time all published ratings are fitted again.
const RESET_EVERY: Duration = Duration::from_hours(24);

impl Accounts {
    /// Lets the ratings of a remote bot begin anew, and keeps why.
    ///
    /// # Errors
    ///
    /// [`AccountError::ResetTooSoon`] if that was done within a day; or the store failed.
    pub(crate) async fn reset_rating(
        &self,
        bot: &PlayerId,
        version: String,
        reason: String,
    ) -> Result<(), AccountError> {
        let (at, every) = (UnixMillis::now(), super::whole_ms(RESET_EVERY));
        let not_since = UnixMillis(at.0 - every);
        let reset = NewReset { player: bot.clone(), at, version, reason, not_since };
        match self.write(Write::ResetRating(reset)).await {
            Ok(_) => {
                info!(%bot, "the rating of a bot begins anew");
                Ok(())
            }
            Err(AccountError::Unexpected(Refused::TooMany)) => {
                let last = self.inner.store.rating_resets(Some(bot)).await?.pop();
                let left = last.map_or(0, |last| last.at.0 + every - at.0);
                let wait = Duration::from_millis(u64::try_from(left).unwrap_or_default());
                Err(AccountError::ResetTooSoon { wait })
            }
            Err(other) => Err(other),
        }
    }
}
