//! How well learners decide, by exact values: each frozen version once, the live one at points of its curve.
//!
//! The positions were solved when the program was made, so a measurement takes a moment. It is done on the thread of
//! the learners when there is nothing to learn.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fourfold_arena::measure::decisions;
use fourfold_bots::BotError;

use super::deps::{LearningDeps, LearningError};
use super::learner_task::{LearnerTask, stage};
use crate::analysis::background::{MoreWork, Worker};
use crate::model::time::UnixMillis;
use crate::storage::StoreError;
use crate::storage::store::Write;

/// What bots draw while they are measured: the same for all versions.
const SEED: u64 = 1;

/// The live version is measured so often while its lessons double.
const PER_DOUBLING: f64 = 3.0;

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    Version { mark: u64 },
    Live { games: u64 },
}

impl LearnerTask {
    /// The last point of the curve that was measured.
    pub(super) async fn last_measured(&self, deps: &LearningDeps) -> Result<Option<(u64, u16)>, StoreError> {
        let curve = deps.store.learner_curve(&self.plan.name).await?;
        Ok(curve.iter().rev().find_map(|point| Some((point.games, point.decision?))))
    }

    /// Measures whoever is due next. Told to stop, it ends within a move and stores nothing.
    pub(super) async fn measure_next(
        &mut self,
        deps: &LearningDeps,
        worker: &Worker,
        stop: &Arc<AtomicBool>,
    ) -> Result<MoreWork, LearningError> {
        let Some(subject) = self.due() else { return Ok(MoreWork::No) };
        let Some(decision) = self.rate(subject, worker, stop).await? else { return Ok(MoreWork::No) };
        let learner = self.plan.name.clone();
        let write = match subject {
            Subject::Version { mark } => Write::MeasureVersion { learner, mark, decision },
            Subject::Live { games } => {
                Write::MeasurePoint { learner, games, decision, at: UnixMillis::now() }
            }
        };
        deps.writer.write(write).await?;
        match subject {
            Subject::Version { mark } => {
                if let Some(version) = self.versions.iter_mut().find(|version| version.mark == mark) {
                    version.decision = Some(decision);
                }
            }
            Subject::Live { games } => self.measured = Some((games, decision)),
        }
        self.show(deps);
        Ok(MoreWork::Perhaps)
    }

    /// Versions first, then the live one if its lessons have grown enough. While it is made again, it is known how many
    /// only when that is done.
    fn due(&self) -> Option<Subject> {
        let unmeasured = self.versions.iter().find(|version| version.decision.is_none());
        let version = unmeasured.map(|version| Subject::Version { mark: version.mark });
        let games = self.games();
        let is_due =
            self.measured.is_none_or(|(last, _)| stage(games, PER_DOUBLING) > stage(last, PER_DOUBLING));
        version.or((self.has_fold() && self.is_stored() && is_due).then_some(Subject::Live { games }))
    }

    async fn rate(
        &self,
        subject: Subject,
        worker: &Worker,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<u16>, LearningError> {
        let knowledge = match subject {
            Subject::Version { mark } => self.versions.iter().find(|version| version.mark == mark),
            Subject::Live { games: _ } => None,
        };
        let knowledge = knowledge.map_or_else(|| self.knowledge(), |version| version.knowledge.now());
        let stop = Arc::clone(stop);
        let job = move || -> Result<Option<u16>, BotError> {
            decisions::rate(decisions::shipped(), knowledge.player(SEED).as_mut(), &stop)
        };
        Ok(worker.run(job).await??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_version_is_measured_ever_more_rarely() {
        let mut due = vec![0];
        for games in 1..=10_000 {
            if stage(games, PER_DOUBLING) > stage(due[due.len() - 1], PER_DOUBLING) {
                due.push(games);
            }
        }
        assert_eq!(due[..4], [0, 1, 2, 3]);
        assert!((20..50).contains(&due.len()), "{due:?}");
    }
}
