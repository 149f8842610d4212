//! How a database is connected to: for writing, beside the one who writes, or alone.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::OpenFlags;

use super::db::{self, Connection};
use crate::model::durability::Durability;

/// How long a connection waits for another one's lock. Ours never hold one for so long; a backup tool may.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Pages of the write-ahead log after which the writer moves them to the database: 16 MiB, so that a busy arena does
/// so every few seconds and not in every tenth commit.
const CHECKPOINT_PAGES: u32 = 4096;

/// What remains of the write-ahead log after a long read made it grow: 64 MiB.
const LOG_BYTES_MAX: u32 = 64 << 20;

/// How a database is connected to.
#[derive(Clone, Debug)]
pub(super) struct ConnectionPlan {
    path: PathBuf,
    access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    Write(Durability),
    Read,
    /// Nobody writes to the file, and nothing is to be made beside it.
    ReadAlone,
}

impl ConnectionPlan {
    /// For the one connection that writes.
    pub(super) fn write(path: &Path, durability: Durability) -> Self {
        Self { path: path.to_owned(), access: Access::Write(durability) }
    }

    pub(super) fn read(path: &Path) -> Self {
        Self { path: path.to_owned(), access: Access::Read }
    }

    /// For a file that nobody writes to.
    pub(super) fn read_alone(path: &Path) -> Self {
        Self { path: path.to_owned(), access: Access::ReadAlone }
    }

    pub(super) fn connect(&self) -> db::Result<Connection> {
        let path = percent_encode(self.path.as_os_str().as_bytes(), NON_ALPHANUMERIC);
        let (flags, more) = match self.access {
            Access::Write(_) => (OpenFlags::SQLITE_OPEN_READ_WRITE, ""),
            Access::Read => (OpenFlags::SQLITE_OPEN_READ_ONLY, ""),
            Access::ReadAlone => (OpenFlags::SQLITE_OPEN_READ_ONLY, "?immutable=1"),
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{path}{more}"), flags)?;
        connection.set_prepared_statement_cache_capacity(db::STATEMENTS_KEPT);
        connection.busy_timeout(BUSY_TIMEOUT)?;
        db::pragma(&connection, "trusted_schema", false)?;
        db::pragma(&connection, "cell_size_check", true)?;
        db::pragma(&connection, "mmap_size", 0)?;
        if let Access::Write(durability) = self.access {
            let synchronous = match durability {
                Durability::Strict => "FULL",
                Durability::Relaxed => "NORMAL",
            };
            db::pragma(&connection, "journal_mode", "WAL")?;
            db::pragma(&connection, "synchronous", synchronous)?;
            db::pragma(&connection, "foreign_keys", true)?;
            db::pragma(&connection, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
            db::pragma(&connection, "journal_size_limit", LOG_BYTES_MAX)?;
        }
        Ok(connection)
    }
}
