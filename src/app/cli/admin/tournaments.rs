//! Tournaments that are not to be.

use super::{Common, ReasonArg};
use crate::http::control::StartedTournament;
use crate::model::ids::TournamentId;

/// Call off a tournament that goes on, or that somebody has made. The daemon must be running.
///
/// Its page says the reason. Games under way are played to their end and count for ratings, but not for it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin cancel-tournament 7kQ2mXy9Ab --reason 'its name insults somebody'"
)]
pub(super) struct CancelTournament {
    /// The tournament: the last part of its link.
    tournament: TournamentId,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

impl CancelTournament {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.cancel_tournament(&self.tournament, &because).await,
            |out, StartedTournament { id }| writeln!(out, "tournament {id} is called off"),
        )
    }
}
