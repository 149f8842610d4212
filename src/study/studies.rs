//! Studies: lines with comments that people make for others. Nothing is kept in memory, so every node and every restart
//! answers the same.

use std::sync::Arc;

use thiserror::Error;
use tracing::info;

use crate::model::ids::{PlayerId, StudyId};
use crate::model::study::Study;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::moderation::Because;
use crate::storage::store::{Refused, Write};
use crate::storage::studies::{NewStudy, STUDIES_MAX, StoredStudy, StudyChange};
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};
use crate::system::shares::{Payer, Refusal, Share, Shares};

/// Why nothing was done.
#[derive(Debug, Error)]
pub(crate) enum StudyError {
    /// There is none of that id, or not of that account.
    #[error("there is no such study")]
    NoSuchStudy,
    /// Another page has changed it since it was read.
    #[error("the study was changed meanwhile: read it again")]
    Changed,
    /// The account has as many as one may have.
    #[error("you have {STUDIES_MAX} studies, and nobody has more: delete one first")]
    TooMany,
    /// Too many were made.
    #[error(transparent)]
    UsedUp(#[from] Refusal),
    #[error(transparent)]
    Write(WriteError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WriteError> for StudyError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(Refused::NoSuchStudy) => Self::NoSuchStudy,
            WriteError::Refused(Refused::StudyChanged) => Self::Changed,
            WriteError::Refused(Refused::TooMany) => Self::TooMany,
            other => Self::Write(other),
        }
    }
}

/// Makes, changes and finds studies; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Studies {
    store: Arc<dyn Store>,
    writer: Writer,
    shares: Shares,
}

impl Studies {
    /// Over what is stored.
    pub(crate) fn new(store: Arc<dyn Store>, writer: Writer, shares: Shares) -> Self {
        Self { store, writer, shares }
    }

    /// What writes them.
    #[cfg(test)]
    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    /// One study.
    ///
    /// # Errors
    ///
    /// There is none of that id, or the store failed.
    pub(crate) async fn show(&self, id: &StudyId) -> Result<StoredStudy, StudyError> {
        self.store.study(id).await?.ok_or(StudyError::NoSuchStudy)
    }

    /// A new study of somebody with an account.
    ///
    /// # Errors
    ///
    /// Too many were made by them or from there, they have as many as one may have, or the store failed.
    pub(crate) async fn make(
        &self,
        payer: &Payer,
        owner: &PlayerId,
        study: Study,
    ) -> Result<StoredStudy, StudyError> {
        self.shares.spend(Share::Study, payer)?;
        let new = NewStudy {
            id: StudyId::random(&mut chance()),
            owner: owner.clone(),
            study,
            at: UnixMillis::now(),
        };
        let id = new.id.clone();
        self.writer.write(Write::AddStudy(Box::new(new))).await?;
        info!(study = %id, %owner, "somebody made a study");
        self.show(&id).await
    }

    /// Another content of a study, by whoever made it and has read this version.
    ///
    /// # Errors
    ///
    /// There is none of that id of this account, it has another version by now, or the store failed.
    pub(crate) async fn change(
        &self,
        (id, owner): (&StudyId, &PlayerId),
        version: u32,
        study: Study,
    ) -> Result<StoredStudy, StudyError> {
        let (id, owner) = (id.clone(), owner.clone());
        let change = StudyChange { id: id.clone(), owner, study, version, at: UnixMillis::now() };
        self.writer.write(Write::ChangeStudy(Box::new(change))).await?;
        self.show(&id).await
    }

    /// Ends a study, by whoever made it.
    ///
    /// # Errors
    ///
    /// There is none of that id of this account, or the store failed.
    pub(crate) async fn drop(&self, id: &StudyId, owner: &PlayerId) -> Result<(), StudyError> {
        self.writer.write(Write::DropStudy { study: id.clone(), owner: owner.clone() }).await?;
        Ok(())
    }
}

/// An operator takes a study away.
///
/// # Errors
///
/// There is none of that id, or the store failed.
pub(crate) async fn remove(writer: &Writer, study: &StudyId, because: Because) -> Result<(), StudyError> {
    writer.write(Write::RemoveStudy { study: study.clone(), because }).await?;
    info!(%study, "an operator took a study away");
    Ok(())
}
