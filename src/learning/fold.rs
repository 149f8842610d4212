//! A learner's state as the fold of its lessons.

use std::collections::BTreeSet;
use std::sync::Arc;

use fourfold_bots::{BotError, GameRecord, Knowledge, Learner, learner};
use fourfold_engine::Variant;

use super::Plan;
use super::changes::Changes;
use super::lesson::records;
use crate::background::{Worker, WorkerError};
use crate::ids::PlayerId;
use crate::storage::lessons::{Lesson, StoredVersion};
use crate::storage::record::UnixMillis;
use crate::storage::{Store, StoreError};

/// Lessons and games read at a time when a state is made again.
const PAGE: u32 = 200;

/// A learner on its way through the records.
#[derive(Debug)]
pub(crate) struct Fold {
    learner: Box<dyn Learner>,
    /// Lessons learnt.
    pub(crate) games: u64,
}

/// What one stretch of lessons came to.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(crate) lessons: Vec<Lesson>,
    pub(crate) versions: Vec<StoredVersion>,
}

/// A game to be learnt: its number, and what it teaches.
pub(crate) type Taught = (u64, Vec<GameRecord>);

impl Fold {
    /// Nothing learnt yet.
    pub(crate) fn fresh(plan: &Plan) -> Result<Self, BotError> {
        Ok(Self { learner: learner::fresh(&plan.spec, Variant::STANDARD)?, games: 0 })
    }

    /// As it was stored after so many lessons.
    pub(crate) fn restore(plan: &Plan, state: &[u8], games: u64) -> Result<Self, BotError> {
        Ok(Self { learner: learner::restore(&plan.spec, Variant::STANDARD, state)?, games })
    }

    /// What is known by a version as it is stored.
    pub(crate) fn recall(plan: &Plan, version: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
        learner::recall(&plan.spec, Variant::STANDARD, version)
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        self.learner.state()
    }

    pub(crate) fn knowledge(&self) -> Arc<dyn Knowledge> {
        self.learner.knowledge()
    }

    /// Learns these games, and freezes a version whenever as many are learnt as one of the marks says.
    pub(crate) fn learn(&mut self, taught: &[Taught], marks: &BTreeSet<u64>, now: UnixMillis) -> Learnt {
        let mut learnt = Learnt { lessons: Vec::new(), versions: Vec::new() };
        if self.games == 0 {
            learnt.versions.extend(self.version_if_due(0, marks, now));
        }
        for (number, records) in taught {
            let changes = records.iter().flat_map(|record| self.learner.learn(record)).collect();
            self.games += 1;
            learnt.lessons.push(Lesson { number: *number, changes: Changes::of(changes).print() });
            learnt.versions.extend(self.version_if_due(*number, marks, now));
        }
        learnt
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

/// Makes a learner and its versions again from its stored lessons up to number `covered`. A mark beyond them gets what
/// there is.
pub(crate) async fn refold(
    store: &dyn Store,
    worker: &Worker,
    plan: &Plan,
    live: &PlayerId,
    marks: &BTreeSet<u64>,
    covered: u64,
) -> Result<(Fold, Vec<StoredVersion>), RefoldError> {
    let now = UnixMillis::now();
    let mut fold = Fold::fresh(plan)?;
    let mut versions = Vec::new();
    let mut after = 0;
    loop {
        let lessons = store.lessons(&plan.name, after, PAGE).await?;
        let numbers: BTreeSet<u64> =
            lessons.iter().map(|lesson| lesson.number).filter(|number| *number <= covered).collect();
        let taught = taught(store, plan, live, &numbers).await?;
        let marks = marks.clone();
        let job = move || {
            let learnt = fold.learn(&taught, &marks, now);
            (fold, learnt)
        };
        let (folded, learnt) = worker.run(job).await?;
        fold = folded;
        versions.extend(learnt.versions);
        match numbers.last() {
            Some(last) => after = *last,
            None => break,
        }
    }
    let missing: Vec<u64> = marks.iter().copied().filter(|mark| *mark > fold.games).collect();
    versions.extend(missing.into_iter().map(|mark| fold.version(mark, after, now)));
    Ok((fold, versions))
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
    NoLesson {
        /// Its number.
        number: u64,
    },
}

/// The games of these numbers with what they teach.
async fn taught(
    store: &dyn Store,
    plan: &Plan,
    live: &PlayerId,
    numbers: &BTreeSet<u64>,
) -> Result<Vec<Taught>, RefoldError> {
    let mut taught: Vec<Taught> = Vec::with_capacity(numbers.len());
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
