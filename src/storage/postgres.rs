//! The back end for an arena that has outgrown one machine's file: a PostgreSQL database.
//!
//! All its SQL is in here. One connection writes (`lane`), which alone has the right to: a lock of the session, and a
//! row that whoever comes later marks as ended. A few others read, and see every commit that was acknowledged before.

mod address;
mod apply;
mod attempts;
mod audit;
mod bot_versions;
mod chain;
mod credentials;
mod db;
mod error;
mod follows;
mod forgetting;
mod games;
mod guests;
mod judgements;
mod lane;
mod learners;
mod leaving;
mod left_sessions;
mod links;
mod lookups;
mod mails;
mod members;
mod moderation;
mod open;
mod open_error;
mod operator_log;
mod operators;
mod packing;
mod people;
mod players;
mod precedents;
mod published;
mod pushes;
mod puzzles;
mod ratings;
mod readers;
mod refit;
mod reports;
mod resets;
mod run;
mod session;
mod statement;
mod studies;
#[cfg(test)]
mod tests;
mod tls;
mod tournaments;
mod transfer;
mod vacations;
mod voiding;
mod webhooks;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use self::address::Address;
use self::lane::Lane;
use self::lookups::Lookups;
pub(crate) use self::members::{ListedMembers, Members};
pub(crate) use self::open_error::PostgresOpenError;
use self::readers::Readers;
use self::session::Patience;
use self::transfer::Arrival;
use super::attempts::AttemptStore;
use super::backup::{Backup, BackupError, Overwrite};
use super::record::{StoredPlayer, StoredToken};
use super::store::{Refused, Store, StoreError, Write, Written};
use crate::model::durability::Durability;
use crate::model::ids::PlayerId;

/// How long to wait for a commit that is under way, before the connection is left to the server.
const RELEASE_MAX: Duration = Duration::from_secs(5);

/// Keeps everything in a PostgreSQL database, which one process at a time writes to.
#[derive(Debug)]
pub struct PostgresStore {
    readers: Readers,
    players_asked: Lookups<PlayerId, StoredPlayer>,
    /// By the digests of their secrets.
    tokens_asked: Lookups<[u8; 32], StoredToken>,
    /// Taken by one commit after the other, and by nothing else.
    lane: Mutex<Lane>,
    /// As whom it writes.
    incarnation: i64,
}

impl PostgresStore {
    /// Opens the database that a URL names, and brings an empty one into form.
    ///
    /// # Errors
    ///
    /// See [`PostgresOpenError`].
    pub async fn open(url: &str, durability: Durability) -> Result<Self, PostgresOpenError> {
        Self::open_as(url, durability, Arrival::Done, Patience::Waits).await
    }

    /// The same if nobody has it now.
    ///
    /// # Errors
    ///
    /// See [`PostgresOpenError`].
    pub(crate) async fn open_now(url: &str, durability: Durability) -> Result<Self, PostgresOpenError> {
        Self::open_as(url, durability, Arrival::Done, Patience::None).await
    }

    /// As whom it writes.
    pub(crate) fn incarnation(&self) -> i64 {
        self.incarnation
    }

    /// Executes what only a test would.
    #[cfg(test)]
    pub(crate) async fn execute(&self, sql: &str) {
        let lane = self.lane.lock().await;
        lane.connection().unwrap().batch_execute(sql).await.unwrap();
    }

    async fn open_as(
        url: &str,
        durability: Durability,
        arrival: Arrival,
        patience: Patience,
    ) -> Result<Self, PostgresOpenError> {
        let address = Address::parse(url).map_err(PostgresOpenError::BadUrl)?;
        let lane = open::open(&address, durability, arrival, patience).await?;
        let (incarnation, lane) = (lane.incarnation(), Mutex::new(lane));
        Ok(Self {
            readers: Readers::new(&address, durability),
            players_asked: Lookups::default(),
            tokens_asked: Lookups::default(),
            lane,
            incarnation,
        })
    }

    /// Lets another process write.
    ///
    /// # Errors
    ///
    /// The server cannot be told; it will notice.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        self.release().await
    }

    /// The same while others still have it: what they read and write from now on fails.
    ///
    /// # Errors
    ///
    /// As before.
    pub(crate) async fn release(&self) -> Result<(), StoreError> {
        self.readers.close();
        let leaving = async { self.lane.lock().await.leave().await };
        let left = tokio::time::timeout(RELEASE_MAX, leaving).await;
        left.unwrap_or_else(|elapsed| Err(StoreError::Unreachable(Box::new(elapsed))))
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn commit(&self, batch: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        self.lane.lock().await.commit(batch).await
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.lane.lock().await.probe().await
    }

    async fn back_up(&self, _: &Path, _: Overwrite) -> Result<Backup, BackupError> {
        Err(BackupError::Elsewhere)
    }

    fn attempts(&self) -> &dyn AttemptStore {
        self
    }

    async fn ping(&self) -> Result<(), StoreError> {
        db::query("SELECT 1").has_row(&*self.reader().await?).await?;
        Ok(())
    }
}
