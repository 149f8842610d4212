//! A learner taken up again from the store, and made again from its lessons if the state there is out of date.
//!
//! That takes a page of lessons at each turn, so that the other learners go on meanwhile. It covers all that was
//! withdrawn before it began. What is withdrawn later changes nothing if it was not folded yet; else it begins anew. As
//! the learner learns nothing until it is done, there are fewer lessons each time, so it comes to an end.

use std::collections::BTreeSet;

use tracing::{info, warn};

use super::LearnerTask;
use crate::analysis::background::{MoreWork, Worker};
use crate::model::ids::PlayerName;
use crate::storage::lessons::{LearnerPlace, LearnerStep, StepKind, StoredLearner};
use crate::storage::{Store, StoreError};
use crate::study::learning::LearnerPlan;
use crate::study::learning::deps::{LearningDeps, LearningError};
use crate::study::learning::fold::{LearnerFold, RefoldError, Refolding};

use super::RoundCache;

/// A learner that is being made again.
#[derive(Debug)]
pub(super) struct Remaking {
    refolding: Refolding,
    /// Where the learner stands.
    from: LearnerPlace,
    /// Versions that there were: what lessons are left for their marks is theirs. Any other mark that is not reached
    /// any more stays open.
    before: BTreeSet<u64>,
    /// Lessons were withdrawn since, perhaps some that are in it already.
    is_doubtful: bool,
    began: tokio::time::Instant,
}

impl LearnerTask {
    /// Takes up what the store holds; if that is out of date, makes the learner again from its lessons, of which a page
    /// is learnt each time.
    pub(super) async fn make_again(
        &mut self,
        deps: &LearningDeps,
        worker: &Worker,
        cache: &mut RoundCache,
    ) -> Result<(), LearningError> {
        let store = deps.store.as_ref();
        let remaking = match self.remaking.take() {
            Some(remaking) => Some(remaking),
            None => self.take_up_again(deps, worker, cache).await?,
        };
        let Some(mut remaking) = remaking else { return Ok(()) };
        if remaking.is_doubtful && !remaking.refolding.is_intact(store, &self.plan.name).await? {
            // It begins anew with the next turn.
            return Ok(());
        }
        remaking.is_doubtful = false;
        let Remaking { refolding, from, before, began, .. } = remaking;
        match refolding.go_on(store, worker, &self.plan, &self.live.id).await {
            Ok((refolding, MoreWork::Perhaps)) => {
                self.remaking = Some(Remaking { refolding, from, before, is_doubtful: false, began });
                Ok(())
            }
            Ok((refolding, MoreWork::No)) => {
                let made = Remaking { refolding, from, before, is_doubtful: false, began };
                self.store_again(made, deps, worker, cache).await
            }
            Err(RefoldError::Store(error)) => Err(error.into()),
            Err(RefoldError::NoLesson { number }) if !has_lesson(store, &self.plan.name, number).await? => {
                Ok(())
            }
            Err(error) => Err(LearningError::Refold(error)),
        }
    }

    /// Takes up the stored state if it can be used; else begins to make it again.
    async fn take_up_again(
        &mut self,
        deps: &LearningDeps,
        worker: &Worker,
        cache: &mut RoundCache,
    ) -> Result<Option<Remaking>, LearningError> {
        let Some(stored) = deps.store.learner(&self.plan.name).await? else {
            self.fold = Some(LearnerFold::fresh(&self.plan)?);
            return Ok(None);
        };
        let (from, games) = (stored.place, stored.games);
        self.place = from;
        self.pending = None;
        if !self.stale {
            let plan = self.plan.clone();
            let (fold, is_stale) = worker.run(move || restored(&plan, Some(&stored))).await??;
            self.stale = is_stale;
            if !is_stale {
                self.fold = Some(fold);
                self.look_back(deps, cache).await?;
                return Ok(None);
            }
        }
        let before: BTreeSet<u64> = self.versions.iter().map(|version| version.mark).collect();
        let reached = deps.settings.marks.iter().copied().filter(|mark| *mark <= games);
        let marks = before.iter().copied().chain(reached).collect();
        let refolding = Refolding::begin(&self.plan, marks, from.covered)?;
        let began = tokio::time::Instant::now();
        Ok(Some(Remaking { refolding, from, before, is_doubtful: false, began }))
    }

    /// Stores what was made again in the place of what was there.
    async fn store_again(
        &mut self,
        made: Remaking,
        deps: &LearningDeps,
        worker: &Worker,
        cache: &mut RoundCache,
    ) -> Result<(), LearningError> {
        let Remaking { refolding, from, before, began, .. } = made;
        let job = move || {
            let (state, knowledge, versions) =
                (refolding.state(), refolding.knowledge(), refolding.versions());
            (refolding, state, knowledge, versions)
        };
        let (refolding, state, knowledge, mut versions) = worker.run(job).await?;
        versions.retain(|version| version.games == version.mark || before.contains(&version.mark));
        let games = refolding.games();
        let step = LearnerStep {
            name: self.plan.name.clone(),
            spec: self.plan.spec.to_string(),
            from,
            kind: StepKind::Refold,
            covered: from.covered,
            games,
            state,
            versions: versions.clone(),
            point: None,
        };
        if !self.store_step(step, deps).await? {
            // Lessons were withdrawn meanwhile. If none of them is in it, it is stored at the next turn.
            let stored = deps.store.learner(&self.plan.name).await?;
            self.remaking = stored
                .filter(|stored| stored.place.covered == from.covered)
                .map(|stored| Remaking { refolding, from: stored.place, before, is_doubtful: true, began });
            return Ok(());
        }
        self.fold = Some(refolding.into_fold());
        self.knowledge.replace(knowledge);
        self.stale = false;
        // What was measured was another state.
        self.measured = None;
        self.look_back(deps, cache).await?;
        info!(learner = %self.plan.name, games, ms = began.elapsed().as_millis(), "a learner was made again");
        self.publish(&versions, deps).await
    }

    /// Lessons were withdrawn, or something failed: what the store holds is looked at again before the next step.
    pub(in crate::study::learning) fn look_again(&mut self) {
        self.fold = None;
        self.pending = None;
        if let Some(remaking) = &mut self.remaking {
            remaking.is_doubtful = true;
        }
    }
}

/// Whether a game is a lesson still.
async fn has_lesson(store: &dyn Store, learner: &PlayerName, number: u64) -> Result<bool, StoreError> {
    let lessons = store.lessons(learner, number.saturating_sub(1), 1).await?;
    Ok(lessons.first().is_some_and(|lesson| lesson.number == number))
}

/// The stored state, or nothing if it cannot be used; and whether it must be made again.
pub(super) fn restored(
    plan: &LearnerPlan,
    stored: Option<&StoredLearner>,
) -> Result<(LearnerFold, bool), LearningError> {
    let Some(stored) = stored else { return Ok((LearnerFold::fresh(plan)?, false)) };
    match LearnerFold::restore(plan, &stored.state, stored.games) {
        Ok(fold) => Ok((fold, stored.stale || stored.spec != plan.spec.to_string())),
        Err(error) => {
            warn!(learner = %plan.name, error = %error, "what was learnt cannot be read, it is made again");
            Ok((LearnerFold::fresh(plan)?, true))
        }
    }
}
