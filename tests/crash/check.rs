//! The verdict over a killed daemon: the verifier's, and what clients were told against what the store holds.

use std::path::Path;

use fourfold::model::durability::Durability;
use fourfold::storage::SqliteStore;
use fourfold::system::data_dir::DataDir;

use crate::daemon::{data, fourfold};
use crate::history::{History, Inner};
use crate::players::run;
use crate::server;
use crate::told::{self, Told};

/// Everything that is wrong, one line each.
pub(crate) async fn compare(directory: &Path, history: &History) -> Vec<String> {
    let verified = run(directory, fourfold().args(["games", "verify"]));
    print!("{verified}");
    server::bring_home(directory);
    differences(directory, history).await
}

/// What clients were told and the store does not say, or the other way round.
pub(crate) async fn differences(directory: &Path, history: &History) -> Vec<String> {
    let data = DataDir::open(&data(directory)).expect("the daemon has left the directory");
    let store = SqliteStore::open(&data.database(), Durability::Strict).await.expect("a whole database");
    let (kept, mut faults) = told::read(&store).await;
    store.close().await.expect("the database closes");
    let inner = history.lock();
    faults.extend(inner.faults.iter().cloned());
    faults.extend(told::find_faults(&told_by(&inner), &kept));
    if inner.acked.is_empty() {
        faults.push("no move was acknowledged: nothing was tested".to_owned());
    }
    if inner.heard_out.is_empty() {
        faults.push("nobody heard everything: whether ends were told was not tested".to_owned());
    }
    faults
}

fn told_by(inner: &Inner) -> Told {
    Told {
        sent: inner.sent.clone(),
        acked: inner.acked.clone(),
        ended: inner.ended.clone(),
        heard_ends: inner.heard_ends.clone(),
        heard_out: inner.heard_out.clone(),
        // While they play on, no end need have been told yet.
        stopped_at: inner.stopped_at.unwrap_or_default(),
    }
}
