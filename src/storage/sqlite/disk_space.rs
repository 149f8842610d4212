//! Room on the disk for the write-ahead log.
//!
//! The log may grow before it is moved into the database, which then grows too: on a small disk both together do not
//! fit, and a full disk could not even be put right by moving the log. So it is moved in time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{debug, warn};

use super::db::{self, Connection};
use super::marker::{Emptied, Marker};
use super::open;
use crate::system::files::{beside, directory};

/// How many times the size of the log must be free. Once is what the database may grow by when the log is moved; the
/// rest is for what comes until somebody looks again.
const FREE_PER_LOG: u64 = 2;

/// A log up to this size is let be: moving it frees nothing that would matter.
const LOG_BYTES_MIN: u64 = 64 << 10;

/// How long to wait for readers of the log, in milliseconds: they may take minutes, and moves wait meanwhile.
const READERS_WAIT_MS: u32 = 100;

/// How often the log is emptied in good time at most: commits wait for it, and with readers in the way for nothing.
const TRY_EVERY: Duration = Duration::from_millis(200);

/// Watches the disk under the database.
#[derive(Debug)]
pub(super) struct DiskSpace {
    log: PathBuf,
    marker: Arc<Marker>,
    /// When the log was to be emptied last, whatever came of it.
    tried_at: Option<Instant>,
}

impl DiskSpace {
    pub(super) fn new(database: &Path, marker: Arc<Marker>) -> Self {
        Self { log: beside(database, "-wal"), marker, tried_at: None }
    }

    /// Whether the log should give its space back before it grows further.
    pub(super) fn is_short(&self) -> bool {
        if self.tried_at.is_some_and(|at| at.elapsed() < TRY_EVERY) {
            return false;
        }
        let log_bytes = fs::metadata(&self.log).map_or(0, |log| log.len());
        let free = || free_bytes(directory(&self.log)).unwrap_or(u64::MAX);
        log_bytes >= LOG_BYTES_MIN && free() < FREE_PER_LOG * log_bytes
    }

    /// Moves the log into the database and gives its space back, if nobody reads it and what is new in it fits. Says
    /// whether nothing is left of it.
    pub(super) fn empty_log(&mut self, writer: &Connection) -> bool {
        self.tried_at = Some(Instant::now());
        if let Err(error) = self.marker.emptying() {
            warn!(?error, "the marker cannot be written, so the log stays as it is");
            self.marker.emptied(Emptied::No);
            return false;
        }
        let emptied = empty_soon(writer).unwrap_or_else(|error| {
            debug!(?error, "the log cannot be moved into the database");
            Emptied::No
        });
        self.marker.emptied(emptied);
        emptied == Emptied::Yes
    }
}

fn empty_soon(writer: &Connection) -> db::Result<Emptied> {
    let patience: u32 = db::query_scalar("PRAGMA busy_timeout").fetch_one(writer)?;
    set_busy_timeout(writer, READERS_WAIT_MS.min(patience))?;
    let emptied = open::empty_log(writer);
    set_busy_timeout(writer, patience)?;
    emptied
}

fn set_busy_timeout(writer: &Connection, ms: u32) -> db::Result<()> {
    writer.busy_timeout(Duration::from_millis(ms.into()))
}

/// What others than root may still write where a directory is.
pub(super) fn free_bytes(directory: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(directory)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
