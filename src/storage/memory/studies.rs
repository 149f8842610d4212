//! Studies, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::{PlayerId, StudyId};
use crate::model::player::PlayerKind;
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::studies::{NewStudy, STUDIES_MAX, StoredStudy, StudyChange, StudyStore};

impl MemoryTables {
    pub(super) fn add_study(&mut self, new: &NewStudy) -> Result<Written, Refused> {
        let NewStudy { id, owner, study, at } = new.clone();
        if self.players.get(&owner).is_none_or(|player| player.kind != PlayerKind::Human) {
            return Err(Refused::NoSuchPlayer);
        }
        if self.studies.iter().filter(|other| other.owner == owner).count() >= STUDIES_MAX {
            return Err(Refused::TooMany);
        }
        if self.studies.iter().any(|other| other.id == id) {
            return Err(Refused::IdTaken);
        }
        let number = self.studies.last().map_or(1, |last| last.number + 1);
        self.studies.push(StoredStudy { number, id, owner, study, version: 1, made_at: at, changed_at: at });
        Ok(Written::Done)
    }

    pub(super) fn change_study(&mut self, change: &StudyChange) -> Result<Written, Refused> {
        let StudyChange { id, owner, study, version, at } = change;
        let is_it = |other: &&mut StoredStudy| other.id == *id && other.owner == *owner;
        let stored = self.studies.iter_mut().find(is_it).ok_or(Refused::NoSuchStudy)?;
        if stored.version != *version {
            return Err(Refused::StudyChanged);
        }
        stored.study = study.clone();
        stored.version += 1;
        stored.changed_at = *at;
        Ok(Written::Done)
    }

    pub(super) fn drop_study(&mut self, id: &StudyId, owner: &PlayerId) -> Result<Written, Refused> {
        let is_it = |other: &StoredStudy| other.id == *id && other.owner == *owner;
        let place = self.studies.iter().position(is_it).ok_or(Refused::NoSuchStudy)?;
        self.studies.remove(place);
        Ok(Written::Done)
    }

    pub(super) fn remove_study(&mut self, id: &StudyId, because: &Because) -> Result<Written, Refused> {
        let place = self.studies.iter().position(|other| other.id == *id).ok_or(Refused::NoSuchStudy)?;
        let removed = self.studies.remove(place);
        self.note(AuditNote::remove_study(id, removed.study.title().to_owned()), because);
        Ok(Written::Done)
    }

    fn newest_studies(&self, is_wanted: impl Fn(&StoredStudy) -> bool) -> impl Iterator<Item = StoredStudy> {
        self.studies.iter().rev().filter(move |study| is_wanted(study)).cloned()
    }
}

#[async_trait]
impl StudyStore for MemoryStore {
    async fn study(&self, id: &StudyId) -> Result<Option<StoredStudy>, StoreError> {
        Ok(self.tables().newest_studies(|study| study.id == *id).next())
    }

    async fn studies_of(&self, owner: &PlayerId) -> Result<Vec<StoredStudy>, StoreError> {
        Ok(self.tables().newest_studies(|study| study.owner == *owner).collect())
    }

    async fn listed_studies(&self, before: Option<u64>, limit: u32) -> Result<Vec<StoredStudy>, StoreError> {
        let is_before = |study: &StoredStudy| before.is_none_or(|before| study.number < before);
        let tables = self.tables();
        let listed = tables.newest_studies(|study| study.study.listing.is_listed() && is_before(study));
        Ok(listed.take(limit as usize).collect())
    }
}
