//! Who decides better than people of their rating.

use super::Common;
use crate::app::terminal::findings;
use crate::http::control::FairPlayReport;

/// Show who decides better in hard positions than people of their rating, in the games of a running daemon.
///
/// The same as `fourfold fair-play`, of the rated games between people since the first of January of last year, which
/// the daemon reads anew every hour and whenever somebody asks. No verdict: docs/fair-play.md says what it can be wrong
/// about.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin fair-play --player ada")]
pub(super) struct ShowFairPlay {
    /// Show this player alone, with the games that weigh most.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl ShowFairPlay {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let is_single = self.player.is_some();
        self.common.run(
            async |daemon| daemon.fair_play(self.player.as_deref()).await,
            |out, report: FairPlayReport| {
                let FairPlayReport { at, games, waiting, players } = report;
                let at = at.map(|at| format!(", read {at}")).unwrap_or_default();
                writeln!(out, "rated games between people: {games}{at}, still to be solved: {waiting}")?;
                findings::write(out, &players, is_single)
            },
        )
    }
}
