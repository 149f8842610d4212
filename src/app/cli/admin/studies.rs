//! Studies that are not to be read.

use super::{Common, ReasonArg};
use crate::http::control::RemovedStudy;
use crate::model::ids::StudyId;

/// Take away a study, whether it is listed or not. Its title stays in the audit log.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin remove-study 7kQ2mXy9Ab --reason 'its comments insult somebody'"
)]
pub(super) struct RemoveStudy {
    /// The study: the last part of its link.
    study: StudyId,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

impl RemoveStudy {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.remove_study(&self.study, &because).await,
            |out, RemovedStudy { study }| writeln!(out, "study {study} is gone"),
        )
    }
}
