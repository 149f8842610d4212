//! Studies: lines with comments that people show to others.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::{PlayerId, StudyId};
use crate::model::study::Study;
use crate::model::time::UnixMillis;

/// Studies of one account, some 30 kB each at most; one more is refused.
pub(crate) const STUDIES_MAX: usize = 100;

/// A study that somebody makes.
#[derive(Clone, PartialEq, Debug)]
pub struct NewStudy {
    pub(crate) id: StudyId,
    pub(crate) owner: PlayerId,
    pub(crate) study: Study,
    pub(crate) at: UnixMillis,
}

/// Another content of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct StudyChange {
    pub(crate) id: StudyId,
    /// Whoever changes it, who must have made it.
    pub(crate) owner: PlayerId,
    pub(crate) study: Study,
    /// The version that was read before.
    pub(crate) version: u32,
    pub(crate) at: UnixMillis,
}

/// A study as it is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredStudy {
    /// Counts all studies in the order in which they were made: the cursor of lists.
    pub(crate) number: u64,
    pub(crate) id: StudyId,
    pub(crate) owner: PlayerId,
    pub(crate) study: Study,
    /// Counts its changes, from 1.
    pub(crate) version: u32,
    pub(crate) made_at: UnixMillis,
    pub(crate) changed_at: UnixMillis,
}

/// A study whose stored form makes no sense: somebody else wrote to the store, or the disk lost something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DamagedStudy {
    pub(crate) number: u64,
    /// Its id, as far as that can be read.
    pub(crate) id: String,
    pub(crate) what: String,
}

/// The part of a store that is about them.
#[async_trait]
pub trait StudyStore {
    /// One study.
    async fn study(&self, id: &StudyId) -> Result<Option<StoredStudy>, StoreError>;

    /// All studies of an account, the newest first.
    async fn studies_of(&self, owner: &PlayerId) -> Result<Vec<StoredStudy>, StoreError>;

    /// Studies that everybody finds with a number below `before`, the newest first, at most `limit`.
    async fn listed_studies(&self, before: Option<u64>, limit: u32) -> Result<Vec<StoredStudy>, StoreError>;
}
