//! What only those read who check everything.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::{PostgresStore, db, ratings, studies};
use crate::model::ids::PlayerId;
use crate::storage::audit::AuditStore;
use crate::storage::games::{GameQuery, Notes};
use crate::storage::record::RatingRow;
use crate::storage::rows::games::Loaded;
use crate::storage::store::StoreError;
use crate::storage::studies::{DamagedStudy, StoredStudy};

/// Rows that name a game or a player by a key which the tables check nowhere: what names it, and the rows without it.
const DANGLING: &[(&str, &str)] = &[
    (
        "game",
        "SELECT g.id FROM game g WHERE NOT EXISTS (SELECT 1 FROM player p WHERE p.key = g.first_player) \
              OR NOT EXISTS (SELECT 1 FROM player p WHERE p.key = g.second_player)",
    ),
    (
        "live_game",
        "SELECT l.game::text FROM live_game l WHERE NOT EXISTS (SELECT 1 FROM game g WHERE g.key = l.game)",
    ),
    (
        "event",
        "SELECT DISTINCT e.game::text FROM event e \
               WHERE NOT EXISTS (SELECT 1 FROM game g WHERE g.key = e.game)",
    ),
    (
        "settlement",
        "SELECT n.number::text FROM settlement n WHERE NOT EXISTS (SELECT 1 FROM game g WHERE g.key = n.game)",
    ),
    (
        "player_game",
        "SELECT DISTINCT o.number::text FROM player_game o \
                     WHERE NOT EXISTS (SELECT 1 FROM settlement n WHERE n.number = o.number) \
                     OR NOT EXISTS (SELECT 1 FROM player p WHERE p.key = o.player)",
    ),
    (
        "rating_entry",
        "SELECT DISTINCT e.number::text FROM rating_entry e \
                      WHERE NOT EXISTS (SELECT 1 FROM settlement n WHERE n.number = e.number) \
                      OR NOT EXISTS (SELECT 1 FROM player p WHERE p.key IN (e.player, e.opponent))",
    ),
];

#[async_trait]
impl AuditStore for PostgresStore {
    async fn audit_finished(&self, after: u64, limit: u32) -> Result<Vec<Loaded>, StoreError> {
        self.page(&GameQuery { after: Some(after), limit, notes: Notes::Read, ..GameQuery::default() }).await
    }

    async fn audit_live(&self) -> Result<Vec<Loaded>, StoreError> {
        self.all_unsettled().await
    }

    async fn audit_ratings(&self) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
        ratings::all(&*self.reader().await?).await
    }

    async fn audit_studies(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredStudy, DamagedStudy>>, StoreError> {
        studies::audit(&*self.reader().await?, after, limit).await
    }

    /// What the tables hold is the server's care; what no key of theirs checks is looked at here.
    async fn audit_pages(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.reader().await?;
        let mut findings = Vec::new();
        for (table, sql) in DANGLING {
            let rows: Vec<String> = db::query_scalar(sql).fetch_all(&connection).await?;
            findings.extend(rows.iter().map(|row| format!("row {row} of {table} names what is not there")));
        }
        Ok(findings)
    }
}
