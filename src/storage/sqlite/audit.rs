//! What only those read who check everything.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::{SqliteStore, backup, games, ratings, studies};
use crate::model::ids::PlayerId;
use crate::storage::audit::AuditStore;
use crate::storage::record::{DamagedGame, RatingRow, StoredGame};
use crate::storage::store::StoreError;
use crate::storage::studies::{DamagedStudy, StoredStudy};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_finished(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        self.readers.read(move |connection| games::audit_finished(connection, after, limit)).await
    }

    async fn audit_live(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        self.readers.read(games::audit_live).await
    }

    async fn audit_ratings(&self) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
        self.readers.read(ratings::all).await
    }

    async fn audit_studies(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredStudy, DamagedStudy>>, StoreError> {
        self.readers.read(move |connection| studies::audit(connection, after, limit)).await
    }

    async fn audit_pages(&self) -> Result<Vec<String>, StoreError> {
        self.readers.read(backup::audit_pages).await
    }
}
