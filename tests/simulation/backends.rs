//! What the simulated store answers is what the real ones answer: the writes of whole runs are carried out by all.
//!
//! A run itself stands on memory alone: a server's time cannot be paused, nor follow from a seed.

#[allow(dead_code, reason = "nobody kills the server here")]
#[path = "../../src/testing/postgres.rs"]
mod postgres;

use fourfold::model::durability::Durability;
use fourfold::storage::store::Write;
use fourfold::storage::{MemoryStore, PostgresStore, SqliteStore, Store};

use self::postgres::PostgresServer;
use crate::judge::games;

/// The back ends that runs are compared with.
pub(crate) struct BackEnds {
    /// None if it is not installed, which is said.
    server: Option<PostgresServer>,
}

impl BackEnds {
    pub(crate) fn start() -> Self {
        Self { server: PostgresServer::start() }
    }

    /// The first point in which one of them disagrees with memory about the same batches.
    pub(crate) async fn first_difference(&self, journal: &[Vec<Write>]) -> Option<String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("fourfold.db");
        let sqlite = SqliteStore::open(&file, Durability::Relaxed).await.expect("a new database");
        let difference = first_difference("SQLite", &sqlite, journal).await;
        sqlite.close().await.expect("the database closes");
        if difference.is_some() {
            return difference;
        }
        let url = self.server.as_ref()?.new_url();
        let server = PostgresStore::open(&url, Durability::Relaxed).await.expect("an empty database");
        first_difference("PostgreSQL", &server, journal).await
    }
}

async fn first_difference(name: &str, store: &dyn Store, journal: &[Vec<Write>]) -> Option<String> {
    let memory = MemoryStore::default();
    for (number, batch) in journal.iter().enumerate() {
        let (answer, due) = (memory.apply(batch), store.commit(batch).await.expect("a writable database"));
        if answer != due {
            return Some(format!("batch {number} {batch:?}: {name} says {due:?}, memory {answer:?}"));
        }
    }
    for (game, due) in games(&memory).await.iter().zip(&games(store).await) {
        if game != due {
            return Some(format!("{name} has {due:?}, memory {game:?}"));
        }
    }
    let (rows, due) = (ratings(&memory).await, ratings(store).await);
    (rows != due).then(|| format!("{name} has the ratings {due:?}, memory {rows:?}"))
}

async fn ratings(store: &dyn Store) -> Vec<String> {
    let rows = store.audit_ratings().await.expect("readable ratings");
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}
