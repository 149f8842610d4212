//! A file beside the database that says how the last process that used it stopped.
//!
//! | marker | the last process | its write-ahead log |
//! |---|---|---|
//! | none | closed the database | may be gone: all is in the database |
//! | `running` | died | must be there, or acknowledged writes are lost |
//! | `dropped` | left without closing, by an error | may be gone: SQLite closed the database |

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::system::files::beside;

const RUNNING: &str = "running\n";
const DROPPED: &str = "dropped\n";

/// How the last process stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastStop {
    /// The database was closed.
    Clean,
    /// The process died.
    Died,
    /// The process ended without closing the database.
    Dropped,
}

impl LastStop {
    pub(super) fn read(database: &Path) -> io::Result<Self> {
        match fs::read_to_string(path(database)) {
            Ok(text) if text == DROPPED => Ok(Self::Dropped),
            Ok(_) => Ok(Self::Died),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Clean),
            Err(error) => Err(error),
        }
    }
}

fn path(database: &Path) -> PathBuf {
    beside(database, "-running")
}

/// The mark of a process that uses the database. Dropped before it is removed, it says so.
#[derive(Debug)]
pub(super) struct Marker {
    path: Option<PathBuf>,
}

impl Marker {
    /// Sets the mark, durably.
    pub(super) fn set(database: &Path) -> io::Result<Self> {
        let path = path(database);
        write(&path, RUNNING)?;
        sync_directory(&path)?;
        Ok(Self { path: Some(path) })
    }

    /// Removes the mark, durably: all is in the database file.
    pub(super) fn remove(mut self) -> io::Result<()> {
        let Some(path) = self.path.take() else { return Ok(()) };
        fs::remove_file(&path)?;
        sync_directory(&path)
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Should this fail, the next start finds `running` without a log and asks for help: too careful, not wrong.
            let _ = write(path, DROPPED);
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes the creation, renaming or removal of a file durable.
pub(super) fn sync_directory(file: &Path) -> io::Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}
