//! What only those read who check everything.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::error::StoreError;
use super::record::{DamagedGame, RatingRow, StoredGame};
use super::studies::{DamagedStudy, StoredStudy};
use crate::model::ids::PlayerId;

/// The part of a store that is for whoever looks through all of it.
#[async_trait]
pub trait AuditStore {
    /// At most `limit` finished games with a number above `after`, in order, damaged ones too; for the verifier and
    /// for learners, who must know how far they have come.
    async fn audit_finished(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError>;

    /// All games that have not finished, damaged ones too; for the verifier.
    async fn audit_live(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError>;

    /// All rating rows, in no order; for the verifier.
    async fn audit_ratings(&self) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError>;

    /// At most `limit` studies with a number above `after`, in order, damaged ones too; for the verifier.
    async fn audit_studies(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredStudy, DamagedStudy>>, StoreError>;

    /// Looks through everything that is stored, page by page, for what cannot be, in slices that let others work.
    /// Returns a line for each finding.
    async fn audit_pages(&self) -> Result<Vec<String>, StoreError>;
}
