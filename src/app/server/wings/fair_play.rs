//! What looks at how fairly is played.

use std::sync::Arc;

use super::{Ground, KeptParts, Playing, ServerError, Thinking};
use crate::competition::fair_play::{EvidenceActor, FairPlay, FairPlayActor};
use crate::study::judging::service::JudgingError;

/// What looks at how fairly is played.
pub(in crate::app::server) struct FairPlayParts {
    alarms: FairPlayActor,
    /// None where games are not judged.
    evidence: Option<EvidenceActor>,
}

impl FairPlayParts {
    pub(in crate::app::server) fn keep(self, parts: &mut KeptParts) {
        parts.keep(self.alarms);
        if let Some(evidence) = self.evidence {
            parts.keep(evidence);
        }
    }
}

/// Both of them, and what reads what they find.
pub(super) fn build(
    ground: &Ground,
    thinking: &Thinking,
    playing: &Playing,
) -> Result<(FairPlayParts, FairPlay), ServerError> {
    let (alarms, rating_alarms) =
        FairPlayActor::new(playing.host.clone(), Arc::clone(&ground.store), Arc::clone(&ground.metrics));
    let made = || EvidenceActor::new(Arc::clone(&ground.store), thinking.pool.clone());
    let made = ground.config.judging.enabled.then(made).transpose().map_err(JudgingError::Thread)?;
    let (evidence, reader) = made.unzip();
    Ok((FairPlayParts { alarms, evidence }, FairPlay { rating_alarms, evidence: reader }))
}
