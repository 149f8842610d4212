//! What the simulated store answers is what SQLite answers: the writes of whole runs are carried out by both.

use fourfold::model::durability::Durability;
use fourfold::storage::store::Write;
use fourfold::storage::{MemoryStore, SqliteStore, Store};

use crate::judge::games;

/// The first point in which the two disagree about the same batches.
pub(crate) async fn first_difference(journal: &[Vec<Write>]) -> Option<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("fourfold.db");
    let sqlite = SqliteStore::open(&file, Durability::Relaxed).await.expect("a new database");
    let memory = MemoryStore::default();
    for (number, batch) in journal.iter().enumerate() {
        let (answer, due) = (memory.apply(batch), sqlite.commit(batch).await.expect("a writable database"));
        if answer != due {
            return Some(format!("batch {number} {batch:?}: SQLite says {due:?}, memory {answer:?}"));
        }
    }
    let difference = differing_state(&memory, &sqlite).await;
    sqlite.close().await.expect("the database closes");
    difference
}

async fn differing_state(memory: &dyn Store, sqlite: &dyn Store) -> Option<String> {
    for (game, due) in games(memory).await.iter().zip(&games(sqlite).await) {
        if game != due {
            return Some(format!("SQLite has {due:?}, memory {game:?}"));
        }
    }
    let (rows, due) = (ratings(memory).await, ratings(sqlite).await);
    (rows != due).then(|| format!("SQLite has the ratings {due:?}, memory {rows:?}"))
}

async fn ratings(store: &dyn Store) -> Vec<String> {
    let rows = store.audit_ratings().await.expect("readable ratings");
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}
