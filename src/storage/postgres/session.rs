//! A connection with its lock, and the form of the database.

use std::time::Duration;

use fourfold_engine::Variant;
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::address::Address;
use super::chain;
use super::db::{self, Connection};
use super::open_error::PostgresOpenError;
use super::tls::Tls;
use super::voiding;
use crate::model::durability::Durability;
use crate::storage::resets::Resets;
use crate::storage::starts::CURVES;
use crate::storage::store::StoreError;

/// The first half of the lock's name, which no other program has a reason to use; the other is made of the schema.
pub(super) const LOCK: i32 = 17_204;

/// How long to wait for a lock that the connection before this one may still hold.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);

/// Between two attempts.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// The forms that the database went through, the last one being what this program knows.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/postgres/0001_arena.sql"),
    include_str!("../../../migrations/postgres/0002_transfer.sql"),
    include_str!("../../../migrations/postgres/0003_attempts.sql"),
    include_str!("../../../migrations/postgres/0004_moderation.sql"),
    include_str!("../../../migrations/postgres/0005_orders.sql"),
    include_str!("../../../migrations/postgres/0006_versions.sql"),
    include_str!("../../../migrations/postgres/0007_reports.sql"),
    include_str!("../../../migrations/postgres/0008_operators.sql"),
    include_str!("../../../migrations/postgres/0009_chain.sql"),
    include_str!("../../../migrations/postgres/0010_refit.sql"),
    include_str!("../../../migrations/postgres/0011_one_scale.sql"),
    include_str!("../../../migrations/postgres/0012_webhooks.sql"),
    include_str!("../../../migrations/postgres/0013_links.sql"),
    include_str!("../../../migrations/postgres/0014_devices.sql"),
    include_str!("../../../migrations/postgres/0015_tournament_plans.sql"),
    include_str!("../../../migrations/postgres/0016_resets.sql"),
    include_str!("../../../migrations/postgres/0017_authors.sql"),
    include_str!("../../../migrations/postgres/0018_mail.sql"),
    include_str!("../../../migrations/postgres/0019_cluster.sql"),
    include_str!("../../../migrations/postgres/0020_arenas.sql"),
    include_str!("../../../migrations/postgres/0021_forgotten.sql"),
    include_str!("../../../migrations/postgres/0022_correspondence.sql"),
    include_str!("../../../migrations/postgres/0023_open_offers.sql"),
    include_str!("../../../migrations/postgres/0024_push.sql"),
    include_str!("../../../migrations/postgres/0025_conditional.sql"),
    include_str!("../../../migrations/postgres/0026_follows.sql"),
    include_str!("../../../migrations/postgres/0027_packed.sql"),
    include_str!("../../../migrations/postgres/0028_private.sql"),
    include_str!("../../../migrations/postgres/0029_profiles.sql"),
    include_str!("../../../migrations/postgres/0030_asked.sql"),
    include_str!("../../../migrations/postgres/0031_studies.sql"),
    include_str!("../../../migrations/postgres/0032_levels.sql"),
    include_str!("../../../migrations/postgres/0033_left_sessions.sql"),
    include_str!("../../../migrations/postgres/0034_distance.sql"),
];

/// The migration after which all games on the standard board are settled again.
const ONE_SCALE: usize = 11;

/// The one that makes room for the chain of finished games, which those from before get with it.
const CHAINED: usize = 9;

/// What the server must be at least: version 14.
const VERSION_MIN: i32 = 140_000;

/// Whether to wait for a database that another process uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patience {
    /// No: whoever asks will ask again.
    None,
    /// For as long as a process takes to stop.
    Waits,
}

/// A connection that no pool has.
#[derive(Debug)]
pub(super) struct Session {
    connection: Connection,
}

/// Connects to the server.
pub(super) async fn connect(address: &Address, durability: Durability) -> Result<Session, StoreError> {
    let (client, connection) = address.config(durability).connect(Tls).await?;
    // Ends when the client is dropped, or the connection breaks: whoever waits for an answer is told.
    let task = tokio::spawn(async move {
        if let Err(error) = connection.await {
            warn!(?error, "a connection to the database is lost");
        }
    });
    Ok(Session { connection: Connection::new(client, task) })
}

impl Session {
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether it is known to be broken.
    pub(super) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Ends it, and waits until the server has let go of it.
    pub(super) async fn close(self) {
        // The lock goes with the connection too, but nobody says when.
        let _ = self.connection.batch_execute("SELECT pg_advisory_unlock_all()").await;
    }

    /// Takes the right to write, which goes with this connection.
    ///
    /// # Errors
    ///
    /// Another connection has it.
    pub(super) async fn take_lock(&self) -> Result<(), StoreError> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        while !self.try_lock().await? {
            if Instant::now() >= deadline {
                return Err(StoreError::Unreachable("another connection has the right to write".into()));
            }
            sleep(LOCK_RETRY).await;
        }
        Ok(())
    }

    /// Takes it if nobody has it.
    pub(super) async fn try_lock(&self) -> Result<bool, StoreError> {
        let sql = "SELECT pg_try_advisory_lock($1::int, hashtext(current_schema()))";
        // An `i32` is bound as it is: the lock has two of them.
        let statement = self.connection.prepare_cached(sql).await?;
        Ok(self.connection.query_one(&statement, &[&LOCK]).await?.try_get(0)?)
    }

    /// Looks whether the server can keep an arena.
    pub(super) async fn check_server(&self, durability: Durability) -> Result<(), PostgresOpenError> {
        let unfit = |what: String| Err(PostgresOpenError::Unfit(what));
        let version: String = self.setting("server_version_num").await?;
        if version.parse::<i32>().is_ok_and(|version| version < VERSION_MIN) {
            return unfit(format!("the server has version {version}, it must be 14 or later"));
        }
        let encoding = self.setting("server_encoding").await?;
        if encoding != "UTF8" {
            return unfit(format!("the database's encoding is {encoding}, it must be UTF8"));
        }
        if durability == Durability::Strict && self.setting("fsync").await? == "off" {
            warn!("the database server runs with fsync = off: after a power cut it may have lost everything");
        }
        Ok(())
    }

    async fn setting(&self, name: &str) -> Result<String, StoreError> {
        db::query_scalar("SELECT current_setting($1)").bind(name).fetch_one(&self.connection).await
    }

    /// Brings the database into the form that this program knows, or leaves it as it is. What the program computes for
    /// it comes last: its statements are those of the newest schema.
    pub(super) async fn migrate(&self) -> Result<(), PostgresOpenError> {
        let from = self.schema().await?;
        let unfit = |what: String| Err(PostgresOpenError::Unfit(what));
        if from > MIGRATIONS.len() {
            let known = MIGRATIONS.len();
            return unfit(format!("the database has schema {from}, this program knows {known}: update it"));
        }
        if from == MIGRATIONS.len() {
            return Ok(());
        }
        // A connection that fails in between is dropped.
        self.connection.batch_execute("BEGIN").await.map_err(StoreError::from)?;
        for sql in MIGRATIONS.iter().skip(from) {
            self.connection.batch_execute(sql).await.map_err(StoreError::from)?;
        }
        if from < CHAINED {
            chain::chain_all(&self.connection).await?;
        }
        if from < ONE_SCALE {
            // Nobody could begin anew yet.
            let (board, resets) = (Variant::STANDARD.to_string(), Resets::default());
            voiding::refold(&self.connection, &board, 0, &resets).await?;
            db::query(CURVES).execute(&self.connection).await?;
        }
        let commit = format!("UPDATE arena SET schema = {}; COMMIT", MIGRATIONS.len());
        self.connection.batch_execute(&commit).await.map_err(StoreError::from)?;
        if from > 0 {
            info!(from, to = MIGRATIONS.len(), "the database has the schema of this version now");
        }
        Ok(())
    }

    /// Number of the last migration that was made.
    async fn schema(&self) -> Result<usize, PostgresOpenError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE tablename = 'arena') FROM pg_tables \
                   WHERE schemaname = current_schema()";
        let (tables, ours): (i64, i64) = db::query_as(sql).fetch_one(&self.connection).await?;
        match (tables, ours) {
            (0, _) => Ok(0),
            (_, 0) => Err(PostgresOpenError::Unfit(
                "the database holds tables of something else: give it an empty one".into(),
            )),
            _ => {
                let sql = "SELECT schema::bigint FROM arena";
                let schema: i64 = db::query_scalar(sql).fetch_one(&self.connection).await?;
                Ok(usize::try_from(schema).unwrap_or(usize::MAX))
            }
        }
    }
}
