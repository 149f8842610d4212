//! What is stored of learners: how far each has come, from which games, and how strong it was on the way.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::rating::elo::MilliElo;
use crate::model::time::UnixMillis;

/// A learner as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredLearner {
    /// The name of its live account.
    pub(crate) name: PlayerName,
    /// The program and its settings, by which the lessons were learnt.
    pub(crate) spec: String,
    pub place: LearnerPlace,
    pub games: u64,
    /// Lessons were withdrawn that the state still holds: it must be folded again.
    pub(crate) stale: bool,
    pub state: Vec<u8>,
}

/// Where a learner stands in the records. A step that begins elsewhere is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LearnerPlace {
    /// Number of the last finished game that was looked at.
    pub covered: u64,
    /// Grows whenever lessons may have been withdrawn.
    pub(crate) revision: u64,
}

/// A learner as it was after some number of games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredVersion {
    /// Games after which it was frozen.
    pub mark: u64,
    /// Lessons in it: fewer than the mark if some were withdrawn since, until there are as many again; then it is
    /// frozen anew.
    pub games: u64,
    /// Number of the last finished game that was looked at.
    pub covered: u64,
    pub state: Vec<u8>,
    /// When it was frozen first.
    pub(crate) frozen_at: UnixMillis,
    /// Thousandths of the positions that can be spoilt in which it keeps the result; `None` until measured.
    pub(crate) decision: Option<u16>,
}

/// A game that was learnt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lesson {
    /// Its number among the finished games.
    pub number: u64,
    /// What it changed, for people to read.
    pub(crate) changes: String,
}

/// How strong a live learner was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurvePoint {
    pub(crate) games: u64,
    /// Its rating then; `None` while it was provisional.
    pub(crate) rating: Option<MilliElo>,
    /// Thousandths of the positions that can be spoilt in which it kept the result; `None` where it was not measured.
    pub(crate) decision: Option<u16>,
    pub(crate) at: UnixMillis,
}

/// A learner goes on, or is made again: all of it becomes durable together, or nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnerStep {
    /// Which learner; a new one if there is none of this name.
    pub(crate) name: PlayerName,
    /// The program and its settings.
    pub(crate) spec: String,
    /// Where it begins: what the store holds, or the default for a new learner.
    pub(crate) from: LearnerPlace,
    /// What kind of step it is.
    pub(crate) kind: StepKind,
    /// Number of the last finished game that was looked at.
    pub(crate) covered: u64,
    /// Lessons learnt in all.
    pub(crate) games: u64,
    /// What it knows now.
    pub(crate) state: Vec<u8>,
    /// Versions to be frozen now; one that is there already is replaced, but keeps when it was frozen first.
    pub(crate) versions: Vec<StoredVersion>,
    /// How strong it is now.
    pub(crate) point: Option<CurvePoint>,
}

/// What kind of step a learner takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StepKind {
    /// It learns these games. Refused if the state is stale.
    Follow(Vec<Lesson>),
    /// Its state is made again from the lessons that are left; the lessons stay as they are. Points of its curve with
    /// more lessons go.
    Refold,
}

/// Whether games of a player may be learnt from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Teaching {
    /// They may.
    #[default]
    Allowed,
    /// They may not.
    KeptOut,
}

/// The part of a store that is about learners.
#[async_trait]
pub trait LearnerStore {
    /// A learner by name.
    async fn learner(&self, name: &PlayerName) -> Result<Option<StoredLearner>, StoreError>;

    /// All frozen versions of a learner, by their marks.
    async fn learner_versions(&self, name: &PlayerName) -> Result<Vec<StoredVersion>, StoreError>;

    /// Lessons of a learner with a number above `after`, in order, at most `limit`.
    async fn lessons(&self, name: &PlayerName, after: u64, limit: u32) -> Result<Vec<Lesson>, StoreError>;

    /// What a finished game, by its number, changed in each learner that has learnt it, in no particular order.
    async fn lessons_of_game(&self, number: u64) -> Result<Vec<(PlayerName, String)>, StoreError>;

    /// How many lessons a learner has with a number up to this one.
    async fn lesson_count(&self, name: &PlayerName, up_to: u64) -> Result<u64, StoreError>;

    /// The last lessons of a learner, the newest first, at most `limit`.
    async fn last_lessons(&self, name: &PlayerName, limit: u32) -> Result<Vec<Lesson>, StoreError>;

    /// How strong a live learner was on the way, by the games that it had learnt.
    async fn learner_curve(&self, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError>;

    /// Whether games of a player may be learnt from.
    async fn teaching(&self, player: &PlayerId) -> Result<Teaching, StoreError>;
}
