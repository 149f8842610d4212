//! Follows the commits with the marker, at most a second behind. No commit waits for it: what is committed is asked of
//! a connection that reads, which sees a commit only when it is on the disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_blocking};
use tracing::warn;

use super::db;
use super::marker::Marker;
use super::readers::Readers;
use super::wal::LogFile;
use crate::storage::store::StoreError;
use crate::system::files::beside;

/// Between two notes. Each is one more fsync, of 64 bytes.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// Keeps the marker while the database is open. Dropped without [`Self::stop`], it says that the log may be gone.
#[derive(Debug)]
pub(super) struct Keeper {
    marker: Arc<Marker>,
    committed: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Notes what is committed now, and follows from then on.
    pub(super) async fn start(database: &Path, marker: Marker, readers: &Readers) -> Self {
        let marker = Arc::new(marker);
        let committed = Arc::new(Notify::new());
        let follower =
            Follower { log: beside(database, "-wal"), marker: Arc::clone(&marker), readers: readers.clone() };
        follower.note_or_warn().await;
        let task = tokio::spawn(follower.run(Arc::clone(&committed)));
        Self { marker, committed, task }
    }

    /// Something was committed.
    pub(super) fn committed(&self) {
        self.committed.notify_one();
    }

    /// Notes what is committed now, for tests that cannot wait.
    #[cfg(test)]
    pub(super) async fn note_now(&self, database: &Path, readers: &Readers) {
        let marker = Arc::clone(&self.marker);
        let follower = Follower { log: beside(database, "-wal"), marker, readers: readers.clone() };
        follower.note().await.unwrap();
    }

    pub(super) fn marker(&self) -> &Arc<Marker> {
        &self.marker
    }

    /// Ends, and lets the connections go. The marker says by then that the log may be gone.
    pub(super) async fn stop(mut self) -> Arc<Marker> {
        self.task.abort();
        // That it was cancelled is what was asked for.
        let _ = (&mut self.task).await;
        Arc::clone(&self.marker)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
        self.marker.leave();
    }
}

/// The task behind it.
struct Follower {
    log: PathBuf,
    marker: Arc<Marker>,
    readers: Readers,
}

impl Follower {
    async fn run(self, committed: Arc<Notify>) {
        loop {
            committed.notified().await;
            self.note_or_warn().await;
            tokio::time::sleep(NOTE_EVERY).await;
        }
    }

    async fn note_or_warn(&self) {
        if let Err(error) = self.note().await {
            warn!(?error, "what is stored could not be noted beside the database");
        }
    }

    /// Notes the last commit, unless the log is begun anew meanwhile: then the next note has it.
    ///
    /// The header is read before the number of frames: if the log is begun anew in between, its first frames, which may
    /// not be on the disk yet, do not fit the header.
    async fn note(&self) -> Result<(), StoreError> {
        let log = self.log.clone();
        let header = blocking(move || LogFile::read(&log)).await?;
        let LogFile::Readable(header) = header else { return Ok(()) };
        let looked = self.readers.read(|connection| {
            Ok(db::query_as("PRAGMA wal_checkpoint(NOOP)").fetch_one::<(i64, i64, i64)>(connection)?)
        });
        let (_, frames, _) = looked.await?;
        let frames = u32::try_from(frames).unwrap_or(0);
        let (log, marker) = (self.log.clone(), Arc::clone(&self.marker));
        blocking(move || match header.position(&log, frames)? {
            Some(position) => marker.note(position),
            None => Ok(()),
        })
        .await
    }
}

/// Does what waits for the disk where nobody else waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let done = spawn_blocking(work).await.map_err(|error| StoreError::Failed(Box::new(error)))?;
    done.map_err(|error| StoreError::Failed(Box::new(error)))
}
