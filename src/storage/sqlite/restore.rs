//! A copy becomes a data directory's database. The copy is believed only as far as its checksum and its pages agree.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::backup::{checksum, read_trailer};
use super::connection::ConnectionPlan;
use super::db;
use super::open::{self, OpenError};
use crate::storage::backup::Overwrite;
use crate::system::files::{beside, sync_directory};

/// Copied at a time.
const PORTION_BYTES: usize = 1 << 20;

/// What belongs to a database, its own file last: without it the others say that it is gone.
const BELONGINGS: [&str; 4] = ["-wal", "-shm", "-running", ""];

/// What was restored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Restored {
    /// Finished games in it.
    pub(crate) games: u64,
    /// Where the database that was there before is now.
    pub(crate) moved_to: Option<PathBuf>,
}

/// Why nothing was restored. The directory is as it was.
#[derive(Debug, Error)]
pub(crate) enum RestoreError {
    /// The copy cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// Its end is missing, or it never had one.
    #[error("{path} does not end as a backup does: it is cut off, or something else")]
    CutOff { path: PathBuf },
    /// Its content is not what was written.
    #[error("{path} is damaged: its checksum is {found}, it should be {expected}")]
    Altered { path: PathBuf, found: String, expected: String },
    /// It is whole, and no database that can be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is a database where it should go.
    #[error(
        "there is a database in {path} already: choose an empty directory, or say --force to move it aside"
    )]
    Exists { path: PathBuf },
    /// The directory cannot be written to.
    #[error("cannot write {path}")]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
}

impl RestoreError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::CutOff { .. } | Self::Altered { .. } => 65, // EX_DATAERR
            Self::Unreadable { .. } => 66,                    // EX_NOINPUT
            Self::Exists { .. } | Self::Unwritable { .. } => 73, // EX_CANTCREAT
            Self::Open(error) => error.exit_code(),
        }
    }
}

/// Puts a copy in the place of a database. The caller holds the directory.
pub(crate) async fn restore(
    copy: &Path,
    database: &Path,
    overwrite: Overwrite,
) -> Result<Restored, RestoreError> {
    let unwritable = |cause| RestoreError::Unwritable { path: database.to_owned(), cause };
    let is_taken = BELONGINGS.iter().any(|ending| beside(database, ending).exists());
    if is_taken && overwrite == Overwrite::Never {
        return Err(RestoreError::Exists { path: database.to_owned() });
    }
    open::inspect_header(copy)?;
    let draft = beside(database, ".restored");
    let taken = take_in(copy, &draft);
    let games = match taken {
        Ok(()) => look_through(&draft),
        Err(error) => Err(error),
    };
    let games = games.inspect_err(|_| {
        // What is left of it helps nobody, and the first error is told.
        let _ = fs::remove_file(&draft);
    })?;
    let moved_to = if is_taken { Some(move_aside(database).map_err(unwritable)?) } else { None };
    fs::rename(&draft, database).and_then(|()| sync_directory(database)).map_err(unwritable)?;
    Ok(Restored { games, moved_to })
}

/// Copies what is database of a copy, and compares the checksum.
fn take_in(copy: &Path, draft: &Path) -> Result<(), RestoreError> {
    let unreadable = |cause| RestoreError::Unreadable { path: copy.to_owned(), cause };
    let unwritable = |cause| RestoreError::Unwritable { path: draft.to_owned(), cause };
    let mut file = File::open(copy).map_err(unreadable)?;
    let trailer = read_trailer(&mut file).map_err(unreadable)?;
    let Some((bytes, expected)) = trailer else {
        return Err(RestoreError::CutOff { path: copy.to_owned() });
    };
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).clone();
    let mut out = options.open(draft).map_err(unwritable)?;
    let mut portion = Vec::with_capacity(PORTION_BYTES);
    let mut content = file.take(bytes);
    loop {
        portion.clear();
        let read = content.by_ref().take(PORTION_BYTES as u64).read_to_end(&mut portion);
        if read.map_err(unreadable)? == 0 {
            break;
        }
        out.write_all(&portion).map_err(unwritable)?;
    }
    out.sync_all().map_err(unwritable)?;
    // Of what was written, not of what was read: this is what will be used.
    let mut written = File::open(draft).map_err(unwritable)?;
    let found = checksum(&mut written, bytes).map_err(unwritable)?;
    if found == expected {
        Ok(())
    } else {
        Err(RestoreError::Altered { path: copy.to_owned(), found, expected })
    }
}

/// Looks at all pages as a start would, and counts the games.
fn look_through(draft: &Path) -> Result<u64, RestoreError> {
    let failed = |cause: db::Error| OpenError::Failed { path: draft.to_owned(), cause: cause.into() };
    let copy = ConnectionPlan::read_alone(draft).connect().map_err(failed)?;
    open::check_whole(&copy, draft)?;
    let sql = "SELECT count(*) FROM settlement";
    let games: i64 = db::query_scalar(sql).fetch_one(&copy).map_err(failed)?;
    Ok(u64::try_from(games).unwrap_or(0))
}

/// Renames a database and all that belongs to it: its log, applied to another one, would spoil that.
fn move_aside(database: &Path) -> io::Result<PathBuf> {
    let aside = (1..).map(|number| beside(database, &format!(".replaced-{number}")));
    let mut free = aside.filter(|aside| BELONGINGS.iter().all(|ending| !beside(aside, ending).exists()));
    let aside = free.next().ok_or(io::ErrorKind::AlreadyExists)?;
    for ending in BELONGINGS {
        match fs::rename(beside(database, ending), beside(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    sync_directory(database)?;
    Ok(aside)
}
