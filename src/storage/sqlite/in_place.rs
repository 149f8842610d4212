//! Whether the files that are written are those that the next process will find.
//!
//! A file that is removed, or has another in its place, can be written and synced on as long as it is open, and all of
//! it is gone afterwards. So it is looked at before a commit is called one: two calls that ask for no disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::storage::store::StoreError;
use crate::system::files::{beside, identity};

/// The files of an open database.
#[derive(Debug)]
pub(super) struct InPlace {
    database: PathBuf,
    /// Which file it was when it was opened.
    file: (u64, u64),
    log: PathBuf,
}

impl InPlace {
    /// The files of a database that was just opened.
    pub(super) fn of(database: &Path) -> io::Result<Self> {
        let file = file_at(database)?;
        Ok(Self { database: database.to_owned(), file, log: beside(database, "-wal") })
    }

    /// Says what is wrong after something was written.
    ///
    /// # Errors
    ///
    /// A file is not there any more, or another one is in its place.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let is_same = file_at(&self.database).is_ok_and(|file| file == self.file);
        if !is_same {
            return Err(gone(&self.database));
        }
        if self.log.exists() { Ok(()) } else { Err(gone(&self.log)) }
    }
}

fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|metadata| identity(&metadata))
}

fn gone(path: &Path) -> StoreError {
    let message = format!("{} was removed or replaced while it was in use", path.display());
    StoreError::Failed(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_removed_or_replaced_is_missed() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("x.db");
        let log = directory.path().join("x.db-wal");
        assert!(InPlace::of(&database).is_err());
        for file in [&database, &log] {
            fs::write(file, "here").unwrap();
        }
        let files = InPlace::of(&database).unwrap();
        files.check().unwrap();
        fs::rename(&log, directory.path().join("log")).unwrap();
        assert!(format!("{:?}", files.check()).contains("x.db-wal was removed or replaced"));
        fs::rename(directory.path().join("log"), &log).unwrap();
        files.check().unwrap();
        fs::rename(&database, directory.path().join("database")).unwrap();
        assert!(files.check().is_err(), "it is gone");
        fs::write(&database, "another").unwrap();
        assert!(files.check().is_err(), "it is another");
    }
}
