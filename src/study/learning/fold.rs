//! A learner's state as the fold of its lessons.

use std::collections::BTreeSet;
use std::sync::Arc;

use fourfold_bots::{BotError, Change, GameRecord, Knowledge, Learner, learners};
use fourfold_engine::{Column, Variant};

use super::LearnerPlan;
use super::changes::{ChangedMove, Changes};
use super::lesson::records;
use crate::analysis::background::{MoreWork, Worker, WorkerError};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::time::UnixMillis;
use crate::storage::lessons::{Lesson, StoredVersion};
use crate::storage::{Store, StoreError};

/// Lessons and games read at a time when a state is made again.
const PAGE: u32 = 200;

/// A learner on its way through the records.
#[derive(Debug)]
pub(crate) struct LearnerFold {
    learner: Box<dyn Learner>,
    pub(crate) games: u64,
}

/// What one stretch of lessons came to.
#[derive(Debug)]
pub(crate) struct FoldedLessons {
    pub(crate) lessons: Vec<Lesson>,
    pub(crate) versions: Vec<StoredVersion>,
}

/// A game to be learnt: its number, and what it teaches.
pub(crate) type TeachingGame = (u64, Vec<GameRecord>);

impl LearnerFold {
    /// Nothing learnt yet.
    pub(crate) fn fresh(plan: &LearnerPlan) -> Result<Self, BotError> {
        Ok(Self { learner: learners::fresh(&plan.spec, Variant::STANDARD)?, games: 0 })
    }

    /// As it was stored after so many lessons.
    pub(crate) fn restore(plan: &LearnerPlan, state: &[u8], games: u64) -> Result<Self, BotError> {
        Ok(Self { learner: learners::restore(&plan.spec, Variant::STANDARD, state)?, games })
    }

    /// What is known by a version as it is stored.
    pub(crate) fn recall(plan: &LearnerPlan, version: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
        learners::recall(&plan.spec, Variant::STANDARD, version)
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        self.learner.state()
    }

    pub(crate) fn knowledge(&self) -> Arc<dyn Knowledge> {
        self.learner.knowledge()
    }

    /// Learns these games and says what each changed, and freezes a version whenever as many are learnt as one of the
    /// marks says.
    pub(crate) fn learn(
        &mut self,
        taught: &[TeachingGame],
        marks: &BTreeSet<u64>,
        now: UnixMillis,
    ) -> FoldedLessons {
        let mut lessons = Vec::new();
        let versions = self.go_through(taught, marks, now, |fold, number, records| {
            let before = fold.leanings(records);
            let patterns = fold.take_in(records);
            let changed_moves = ChangedMove::between(records, before, fold.leanings(records));
            let changes = Changes { changed_moves: Some(changed_moves), ..Changes::of(patterns) };
            lessons.push(Lesson { number, changes: changes.print() });
        });
        FoldedLessons { lessons, versions }
    }

    /// Learns them once more, after which the state is the same as then.
    fn learn_again(
        &mut self,
        taught: &[TeachingGame],
        marks: &BTreeSet<u64>,
        now: UnixMillis,
    ) -> Vec<StoredVersion> {
        self.go_through(taught, marks, now, |fold, _, records| drop(fold.take_in(records)))
    }

    /// Learns each of these games by `learn`; gives the versions that were due on the way.
    fn go_through(
        &mut self,
        taught: &[TeachingGame],
        marks: &BTreeSet<u64>,
        now: UnixMillis,
        mut learn: impl FnMut(&mut Self, u64, &[GameRecord]),
    ) -> Vec<StoredVersion> {
        let mut versions = Vec::new();
        if self.games == 0 {
            versions.extend(self.version_if_due(0, marks, now));
        }
        for (number, records) in taught {
            learn(self, *number, records);
            self.games += 1;
            versions.extend(self.version_if_due(*number, marks, now));
        }
        versions
    }

    fn take_in(&mut self, records: &[GameRecord]) -> Vec<Change> {
        records.iter().flat_map(|record| self.learner.learn(record)).collect()
    }

    /// Before each move of the game that the records tell.
    fn leanings(&self, records: &[GameRecord]) -> Vec<Vec<Column>> {
        records.first().map(|record| self.learner.leanings(&record.game)).unwrap_or_default()
    }

    fn version_if_due(&self, covered: u64, marks: &BTreeSet<u64>, now: UnixMillis) -> Option<StoredVersion> {
        marks.contains(&self.games).then(|| self.version(self.games, covered, now))
    }

    /// A frozen version of what is known now.
    pub(crate) fn version(&self, mark: u64, covered: u64, now: UnixMillis) -> StoredVersion {
        let state = self.learner.frozen();
        StoredVersion { mark, games: self.games, covered, state, frozen_at: now, decision: None }
    }
}

/// A learner on its way to be made again from its stored lessons up to some number, with its versions. A mark beyond
/// them gets what there is.
#[derive(Debug)]
pub(crate) struct Refolding {
    fold: LearnerFold,
    marks: BTreeSet<u64>,
    /// Lessons with a higher number do not count.
    covered: u64,
    /// Number of the last lesson that is in it.
    after: u64,
    versions: Vec<StoredVersion>,
    now: UnixMillis,
}

impl Refolding {
    /// Begins with nothing learnt.
    pub(crate) fn begin(plan: &LearnerPlan, marks: BTreeSet<u64>, covered: u64) -> Result<Self, BotError> {
        let (fold, now) = (LearnerFold::fresh(plan)?, UnixMillis::now());
        Ok(Self { fold, marks, covered, after: 0, versions: Vec::new(), now })
    }

    /// Learns the next lessons; idle when there are no more.
    pub(crate) async fn go_on(
        mut self,
        store: &dyn Store,
        worker: &Worker,
        plan: &LearnerPlan,
        live: &PlayerId,
    ) -> Result<(Self, MoreWork), RefoldError> {
        let lessons = store.lessons(&plan.name, self.after, PAGE).await?;
        let numbers = lessons.iter().map(|lesson| lesson.number);
        let numbers: BTreeSet<u64> = numbers.filter(|number| *number <= self.covered).collect();
        let taught = taught(store, plan, live, &numbers).await?;
        let job = move || {
            self.versions.extend(self.fold.learn_again(&taught, &self.marks, self.now));
            self
        };
        let mut folded = worker.run(job).await?;
        let Some(last) = numbers.last() else { return Ok((folded, MoreWork::No)) };
        folded.after = *last;
        Ok((folded, MoreWork::Perhaps))
    }

    /// Whether all lessons that are in it are the learner's still. They may be withdrawn, but none comes in between.
    pub(crate) async fn is_intact(
        &self,
        store: &dyn Store,
        learner: &PlayerName,
    ) -> Result<bool, StoreError> {
        Ok(store.lesson_count(learner, self.after).await? == self.fold.games)
    }

    /// Lessons that are in it.
    pub(crate) fn games(&self) -> u64 {
        self.fold.games
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        self.fold.state()
    }

    pub(crate) fn knowledge(&self) -> Arc<dyn Knowledge> {
        self.fold.knowledge()
    }

    /// All versions, when there are no more lessons.
    pub(crate) fn versions(&self) -> Vec<StoredVersion> {
        let missing = self.marks.iter().filter(|mark| **mark > self.fold.games);
        let missing = missing.map(|mark| self.fold.version(*mark, self.after, self.now));
        self.versions.iter().cloned().chain(missing).collect()
    }

    pub(crate) fn into_fold(self) -> LearnerFold {
        self.fold
    }
}

/// Makes a learner and its versions again, in one go.
pub(crate) async fn refold(
    store: &dyn Store,
    worker: &Worker,
    plan: &LearnerPlan,
    live: &PlayerId,
    marks: &BTreeSet<u64>,
    covered: u64,
) -> Result<(LearnerFold, Vec<StoredVersion>), RefoldError> {
    let mut refolding = Refolding::begin(plan, marks.clone(), covered)?;
    loop {
        let (folded, more) = refolding.go_on(store, worker, plan, live).await?;
        refolding = folded;
        match more {
            MoreWork::Perhaps => {}
            MoreWork::No => {
                let versions = refolding.versions();
                return Ok((refolding.into_fold(), versions));
            }
        }
    }
}

/// Why a learner cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum RefoldError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The program cannot be built.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The thread is gone, or learning panicked.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A lesson is about a game that teaches nothing, or is not there.
    #[error("game {number} is no lesson")]
    NoLesson { number: u64 },
}

/// The games of these numbers with what they teach.
async fn taught(
    store: &dyn Store,
    plan: &LearnerPlan,
    live: &PlayerId,
    numbers: &BTreeSet<u64>,
) -> Result<Vec<TeachingGame>, RefoldError> {
    let mut taught: Vec<TeachingGame> = Vec::with_capacity(numbers.len());
    let mut due = numbers.iter().copied().peekable();
    while let Some(next) = due.peek().copied() {
        // Lessons lie close together, so most of a page is wanted.
        let page = store.audit_finished(next - 1, PAGE).await?;
        let found = page.into_iter().flatten();
        let found = found.filter_map(|game| Some((game.settlement.as_ref()?.number, game)));
        let before = taught.len();
        for (number, game) in found {
            if due.next_if_eq(&number).is_some() {
                let records = records(&game, plan.watches, live);
                if records.is_empty() {
                    return Err(RefoldError::NoLesson { number });
                }
                taught.push((number, records));
            }
        }
        if taught.len() == before {
            return Err(RefoldError::NoLesson { number: next });
        }
    }
    Ok(taught)
}
