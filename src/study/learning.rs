//! Bots of the house that learn from the arena's games, and how one can watch them.
//!
//! A learner follows the finished games by their numbers. [`lesson`] says which games teach whom, `fold` makes a state
//! of them, [`service`] does both while the daemon runs, on a thread of its own; [`practice`] plays games that bring
//! learners up. State and lessons are stored in one transaction, so each game is learnt exactly once, whatever happens;
//! [`verify`] folds the stored lessons again and compares byte for byte. Pages read [`view`].

pub(crate) mod changes;
pub(crate) mod deps;
pub(crate) mod fold;
mod learner_task;
pub(crate) mod lesson;
pub(crate) mod lesson_history;
mod measuring;
pub(crate) mod practice;
pub(crate) mod service;
#[cfg(test)]
mod tests;
pub(crate) mod verify;
pub(crate) mod view;

use std::sync::Arc;

use fourfold_bots::{BotError, BotSpec, Knowledge, KnownPattern};

use self::fold::LearnerFold;
use crate::model::ids::PlayerName;
use crate::storage::{Store, StoreError};
use crate::system::aside::{self, AsideError};

pub(crate) use self::deps::{LearningDeps, LearningError, LearningSettings};
pub(crate) use self::service::LearningActor;
pub(crate) use self::view::Learning;

/// Which games a learner learns from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watches {
    /// Those that it plays itself, from its own side: as the author of the memory meant it.
    Own,
    /// All games of the arena, from both sides.
    All,
}

/// A learner of the house.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnerPlan {
    /// The name of its live account.
    pub name: PlayerName,
    /// The program that learns and plays.
    pub(crate) spec: BotSpec,
    /// Which games teach it.
    pub(crate) watches: Watches,
    /// One line for players.
    pub(crate) about: &'static str,
}

/// The learners of the house: account, program, games, a line about it.
const PLANS: [(&str, &str, Watches, &str); 4] = [
    (
        "memory",
        "memory",
        Watches::Own,
        "the pattern memory of 2004: learns from its own games, as its author meant; traps work twice, but not often",
    ),
    (
        "memory-spectator",
        "memory",
        Watches::All,
        "the same memory, but it learns from all games it can watch",
    ),
    (
        "memory-windows",
        "memory-windows",
        Watches::All,
        "a pattern memory that sees gaps too; learns from all games it can watch",
    ),
    (
        "ntuple-live",
        "ntuple:plies=0",
        Watches::All,
        "a pattern memory with values: an n-tuple network that began empty and learns from all games it can watch",
    ),
];

/// The learners of the house, in the order in which they learn.
///
/// # Panics
///
/// Never: a test reads the table.
pub fn plans() -> Vec<LearnerPlan> {
    let plan = |&(name, spec, watches, about): &(&str, &str, Watches, &'static str)| LearnerPlan {
        name: name.parse().expect("a name that follows the rules"),
        spec: spec.parse().expect("a bot of the registry"),
        watches,
        about,
    };
    PLANS.iter().map(plan).collect()
}

/// What is stored of the learner of this name, or of the version of one: games learnt, and what it knew then. `None` if
/// there is none.
///
/// # Errors
///
/// The store cannot be read, or holds a state that cannot.
pub(crate) async fn known(
    store: &dyn Store,
    name: &PlayerName,
) -> Result<Option<(u64, Arc<dyn Knowledge>)>, StoreError> {
    for plan in plans() {
        let Some(learner) = store.learner(&plan.name).await? else { continue };
        let corrupt = |error: BotError| StoreError::Corrupt(error.to_string());
        if plan.name.key() == name.key() {
            let games = learner.games;
            let restored = read_aside(move || LearnerFold::restore(&plan, &learner.state, games)).await?;
            return Ok(Some((games, restored.map_err(corrupt)?.knowledge())));
        }
        let versions = store.learner_versions(&plan.name).await?;
        let version =
            versions.into_iter().find(|version| plan.name.version(version.mark).key() == name.key());
        if let Some(version) = version {
            let games = version.games;
            let known =
                read_aside(move || LearnerFold::recall(&plan, &version.state)).await?.map_err(corrupt)?;
            return Ok(Some((games, known)));
        }
    }
    Ok(None)
}

/// The patterns that are known, the weightiest first, as many as one may want to look at.
///
/// # Errors
///
/// What is known cannot be read.
pub(crate) async fn patterns(knowledge: &Arc<dyn Knowledge>) -> Result<Vec<KnownPattern>, StoreError> {
    let knowledge = Arc::clone(knowledge);
    read_aside(move || knowledge.patterns()).await
}

/// Does what takes a while, such as reading a network or sorting its weights, on no thread on which moves wait.
async fn read_aside<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    aside::run(job).await.map_err(|error| match error {
        AsideError::Panicked => StoreError::Corrupt("reading what was learnt panicked".to_owned()),
        AsideError::Closed | AsideError::NoThread => StoreError::Failed(Box::new(error)),
    })
}
