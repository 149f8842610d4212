//! What learning is built from, how it is run, and how it fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fourfold_bots::BotError;
use thiserror::Error;

use super::fold::RefoldError;
use super::view::Learning;
use crate::analysis::background::WorkerError;
use crate::analysis::compute::ComputePool;
use crate::model::ids::PlayerName;
use crate::play::house::{HouseBots, HouseError};
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};
use crate::system::bot_files::BotFileError;
use crate::system::metrics::Metrics;
use crate::system::supervision::Supervision;

/// Why learners cannot be set up, or one of them cannot go on.
#[derive(Debug, Error)]
pub enum LearningError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An account cannot be set up.
    #[error(transparent)]
    House(#[from] HouseError),
    /// The program cannot be built.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// An opponent of practice cannot be built.
    #[error(transparent)]
    Opponent(#[from] BotFileError),
    /// Learning panicked.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The state cannot be made again from its lessons.
    #[error("what was learnt cannot be made again")]
    Refold(#[source] RefoldError),
    /// There is no thread.
    #[error("the thread to learn on cannot be started")]
    Thread(#[source] std::io::Error),
}

/// How learning is run.
#[derive(Clone, Debug)]
pub(crate) struct LearningSettings {
    /// Part of one core that it takes at most, in percent.
    pub(crate) cpu_percent: u32,
    /// Numbers of lessons after which a version is frozen.
    pub(crate) marks: BTreeSet<u64>,
    /// Per cent of the decisions in which players who are not of the house must have kept the result; 0 for no such
    /// condition.
    pub(crate) accuracy_min: u32,
    /// Lessons to which each learner is brought by practice.
    pub(crate) practice_games: u64,
    /// Between two practice games.
    pub(crate) practice_pause: Duration,
    /// Who is practised against.
    pub(crate) teachers: Vec<PlayerName>,
}

/// What learning is built from.
#[derive(Clone, Debug)]
pub(crate) struct LearningDeps {
    /// Finished games, and what was learnt from them.
    pub(crate) store: Arc<dyn Store>,
    /// Stores steps and practice games.
    pub(crate) writer: Writer,
    /// Learners and their versions join it.
    pub(crate) house: HouseBots,
    /// Whose waiting jobs go first.
    pub(crate) pool: ComputePool,
    pub(crate) metrics: Arc<Metrics>,
    /// Hears of games on which a learner chokes.
    pub(crate) supervision: Supervision,
    /// Where everybody sees how the learners do.
    pub(crate) learning: Learning,
    /// How it is run.
    pub(crate) settings: LearningSettings,
}
