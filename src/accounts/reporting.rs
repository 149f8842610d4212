//! Reports of players about others.

use std::net::IpAddr;

use tracing::info;

use super::{AccountError, Accounts};
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::storage::reports::{NewReport, ReportReason};
use crate::storage::store::Write;
use crate::system::shares::{Payer, Share};

/// What somebody says about somebody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Complaint {
    pub(crate) player: PlayerId,
    pub(crate) game: Option<GameId>,
    pub(crate) reason: ReportReason,
    pub(crate) note: String,
}

impl Accounts {
    /// Reports somebody to the operators. A guest who reports is stored.
    ///
    /// # Errors
    ///
    /// [`AccountError::ReportedAlready`] while the last report about that one is open; too many came of `who` or from
    /// there; or the store failed.
    pub(crate) async fn report(
        &self,
        from: IpAddr,
        who: &Identity,
        complaint: Complaint,
    ) -> Result<(), AccountError> {
        let payer = Payer { address: from, account: Some(who.id.clone()) };
        self.inner.shares.spend(Share::Report, &payer)?;
        let reporter = self.ensure_guest_stored(who).await?.id;
        let Complaint { player, game, reason, note } = complaint;
        let at = UnixMillis::now();
        let report = NewReport { reporter, player, game, reason, note, at };
        let added = self.write(Write::AddReport(report.clone())).await;
        added.map_err(|error| error.if_too_many(AccountError::TooManyReports))?;
        info!(reporter = %report.reporter, player = %report.player, ?reason, "a player was reported");
        Ok(())
    }
}
