//! What people show of themselves.

use tracing::info;

use super::{AccountError, Accounts};
use crate::model::ids::PlayerId;
use crate::model::portrait::Portrait;
use crate::storage::moderation::{Because, MeasureKind};
use crate::storage::store::Write;

impl Accounts {
    /// Shows this from now on, in the place of what was shown before.
    ///
    /// # Errors
    ///
    /// The store failed, or it is no person's account.
    pub(crate) async fn show(&self, player: &PlayerId, portrait: Portrait) -> Result<(), AccountError> {
        self.write(Write::SetPortrait { player: player.clone(), portrait }).await?;
        info!(%player, "a person shows something else");
        Ok(())
    }

    /// Takes away what a person shows.
    ///
    /// # Errors
    ///
    /// The store failed, or it is no person's account.
    pub(crate) async fn clear_profile(
        &self,
        player: &PlayerId,
        because: Because,
    ) -> Result<(), AccountError> {
        self.take(player, MeasureKind::ClearProfile, because).await?;
        Ok(())
    }
}
