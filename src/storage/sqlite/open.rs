//! Opening the database: nothing is touched before it is known to be ours, whole, and not from a later version.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use fourfold_engine::Variant;
use thiserror::Error;
use tracing::{debug, info, warn};

use super::chain;
use super::connection::ConnectionPlan;
use super::db::{self, Connection};
use super::header::{Header, NoHeader};
use super::marker::{self, Emptied, LastStop, LogVerdict, Marker};
use super::readers::Readers;
use super::voiding;
use crate::model::durability::Durability;
use crate::storage::backup::BackupError;
use crate::storage::resets::Resets;
use crate::storage::starts::CURVES;
use crate::storage::store::StoreError;
use crate::system::files::{beside, no_plain_file, sync_directory};

/// Marks the files that are ours: "C4V4".
const APPLICATION_ID: u32 = 0x4334_5634;

/// The schema that the last of the migrations makes.
const SCHEMA: u32 = 39;

/// The one that makes room for the chain of finished games, which those from before get with it.
const CHAINED: u32 = 15;

/// The files in `migrations/sqlite`: the schema that each makes, which it also writes into the database, its name and
/// its text. Nothing of them may change once they have been released.
const MIGRATIONS: [(u32, &str, &str); 39] = [
    (1, "arena", include_str!("../../../migrations/sqlite/0001_arena.sql")),
    (2, "learning", include_str!("../../../migrations/sqlite/0002_learning.sql")),
    (3, "tournaments", include_str!("../../../migrations/sqlite/0003_tournaments.sql")),
    (4, "published ratings", include_str!("../../../migrations/sqlite/0004_published_ratings.sql")),
    (5, "judging", include_str!("../../../migrations/sqlite/0005_judging.sql")),
    (6, "measured", include_str!("../../../migrations/sqlite/0006_measured.sql")),
    (7, "authors", include_str!("../../../migrations/sqlite/0007_authors.sql")),
    (8, "newcomers", include_str!("../../../migrations/sqlite/0008_newcomers.sql")),
    (9, "judged ahead", include_str!("../../../migrations/sqlite/0009_judged_ahead.sql")),
    (10, "moderation", include_str!("../../../migrations/sqlite/0010_moderation.sql")),
    (11, "orders", include_str!("../../../migrations/sqlite/0011_orders.sql")),
    (12, "versions", include_str!("../../../migrations/sqlite/0012_versions.sql")),
    (13, "reports", include_str!("../../../migrations/sqlite/0013_reports.sql")),
    (14, "operators", include_str!("../../../migrations/sqlite/0014_operators.sql")),
    (CHAINED, "chain", include_str!("../../../migrations/sqlite/0015_chain.sql")),
    (16, "refit", include_str!("../../../migrations/sqlite/0016_refit.sql")),
    (ONE_SCALE, "one scale", include_str!("../../../migrations/sqlite/0017_one_scale.sql")),
    (18, "webhooks", include_str!("../../../migrations/sqlite/0018_webhooks.sql")),
    (19, "links", include_str!("../../../migrations/sqlite/0019_links.sql")),
    (20, "devices", include_str!("../../../migrations/sqlite/0020_devices.sql")),
    (21, "tournament_plans", include_str!("../../../migrations/sqlite/0021_tournament_plans.sql")),
    (22, "resets", include_str!("../../../migrations/sqlite/0022_resets.sql")),
    (23, "authors", include_str!("../../../migrations/sqlite/0023_authors.sql")),
    (24, "mail", include_str!("../../../migrations/sqlite/0024_mail.sql")),
    (25, "arenas", include_str!("../../../migrations/sqlite/0025_arenas.sql")),
    (26, "forgotten", include_str!("../../../migrations/sqlite/0026_forgotten.sql")),
    (27, "correspondence", include_str!("../../../migrations/sqlite/0027_correspondence.sql")),
    (28, "open_offers", include_str!("../../../migrations/sqlite/0028_open_offers.sql")),
    (29, "push", include_str!("../../../migrations/sqlite/0029_push.sql")),
    (30, "conditional", include_str!("../../../migrations/sqlite/0030_conditional.sql")),
    (31, "follows", include_str!("../../../migrations/sqlite/0031_follows.sql")),
    (32, "packed", include_str!("../../../migrations/sqlite/0032_packed.sql")),
    (33, "private", include_str!("../../../migrations/sqlite/0033_private.sql")),
    (34, "profiles", include_str!("../../../migrations/sqlite/0034_profiles.sql")),
    (35, "asked", include_str!("../../../migrations/sqlite/0035_asked.sql")),
    (36, "studies", include_str!("../../../migrations/sqlite/0036_studies.sql")),
    (37, "journal", include_str!("../../../migrations/sqlite/0037_journal.sql")),
    (38, "levels", include_str!("../../../migrations/sqlite/0038_levels.sql")),
    (39, "left_sessions", include_str!("../../../migrations/sqlite/0039_left_sessions.sql")),
];

/// The migration after which all games on the standard board are settled again.
const ONE_SCALE: u32 = 17;

/// Makes all that a database lacks, or nothing. What the program computes for it comes last: its statements are those
/// of the newest schema.
fn migrate(connection: &Connection) -> Result<(), StoreError> {
    let schema = schema_of(connection)?;
    if schema >= SCHEMA {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    for (_, name, sql) in MIGRATIONS.iter().filter(|(makes, ..)| *makes > schema) {
        db::execute_all(&transaction, sql)?;
        debug!(migration = name, "the database is being migrated");
    }
    if schema < CHAINED {
        chain::chain_all(&transaction)?;
    }
    if schema < ONE_SCALE {
        // Nobody could begin anew yet.
        voiding::refold(&transaction, &Variant::STANDARD.to_string(), 0, &Resets::default())?;
        db::query(CURVES).execute(&transaction)?;
    }
    Ok(transaction.commit()?)
}

fn schema_of(connection: &Connection) -> db::Result<u32> {
    db::query_scalar("PRAGMA user_version").fetch_one(connection)
}

/// Earlier versions of SQLite may damage a database when its write-ahead log starts over.
const SQLITE_MIN: [u32; 3] = [3, 51, 3];

/// Up to this size a database is checked at every start: a check takes some 10 ms a mebibyte. Above it only after a
/// stop that was not clean: later, while it is served, if the log is known to be whole, and at once if it is not.
const CHECK_ALWAYS_BYTES: u64 = 16 << 20;

/// Why a database was not opened. Its file is as it was.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It exists and cannot be read.
    #[error("cannot open the database {path}")]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It does not exist and cannot be created.
    #[error("cannot create the database {path}")]
    Uncreatable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// Another one is to be put there.
    #[error("there is a database {path} already: choose an empty directory, or move it away")]
    Exists { path: PathBuf },
    /// It is something else.
    #[error("{path} is not a Fourfold database: {found}; move it away or choose another data directory")]
    Foreign { path: PathBuf, found: String },
    /// A later version wrote it.
    #[error("{path} has schema {found}, this version knows those up to {SCHEMA}: use a newer fourfold")]
    Newer { path: PathBuf, found: u32 },
    /// It is ours, but parts are missing or wrong.
    #[error("{path} is damaged: {found}; restore a backup")]
    Damaged { path: PathBuf, found: String },
    /// It lacks writes that were acknowledged.
    #[error(
        "{path} has lost its last writes: its write-ahead log (-wal), which holds them, {found}; put the log back or \
         restore a backup, or remove {} to go on with what is left", marker::path(.path).display()
    )]
    LogLost { path: PathBuf, found: String },
    /// The linked library is not safe to use.
    #[error("SQLite {found} may damage databases, at least 3.51.3 is needed")]
    LibraryTooOld { found: String },
    /// It is of an earlier version, which could not read it any more when it is opened.
    #[error("{path} is to get a later schema, and no copy of it can be kept")]
    Uncopied {
        path: PathBuf,
        #[source]
        cause: BackupError,
    },
    /// SQLite fails.
    #[error("cannot use the database {path}")]
    Failed {
        path: PathBuf,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl OpenError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            // EX_DATAERR
            Self::Foreign { .. } | Self::Newer { .. } | Self::Damaged { .. } | Self::LogLost { .. } => 65,
            Self::Unreadable { .. } => 66,                        // EX_NOINPUT
            Self::LibraryTooOld { .. } => 70,                     // EX_SOFTWARE
            Self::Uncreatable { .. } | Self::Exists { .. } => 73, // EX_CANTCREAT
            Self::Uncopied { .. } | Self::Failed { .. } => 74,    // EX_IOERR
        }
    }
}

/// A database that is fit to be used: the writing connection, those that read, and the marker that says so.
pub(super) struct OpenedDatabase {
    pub(super) writer: Connection,
    pub(super) readers: Readers,
    pub(super) marker: Marker,
    pub(super) pages: Pages,
}

/// Whether all pages of the file were looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pages {
    Sound,
    /// It would have taken too long: somebody should while it is served.
    Unchecked,
}

/// Keeps a copy of the database of a file, which has this schema, before that is changed for good.
pub(super) type KeepCopy = fn(&Path, u32) -> Result<(), BackupError>;

/// Opens a database, or creates it if there is none.
pub(super) fn open(
    path: &Path,
    durability: Durability,
    keep_copy: KeepCopy,
) -> Result<OpenedDatabase, OpenError> {
    let failed = |cause: db::Error| failed(path, cause);
    let last_stop = LastStop::read(path).map_err(|cause| unreadable(path, cause))?;
    let verdict = if path.try_exists().map_err(|cause| unreadable(path, cause))? {
        inspect(path, &last_stop)?
    } else {
        create(path)?;
        LogVerdict::Whole
    };
    let marker = Marker::begin(path, &last_stop, durability).map_err(|cause| marker_failed(path, cause))?;
    let writer = ConnectionPlan::write(path, durability).connect().map_err(failed)?;
    check_library(&writer, path)?;
    check_ours(&writer, path)?;
    let pages = check_as_needed(&writer, path, &last_stop, &verdict)?;
    upgrade(&writer, path, keep_copy)?;
    begin_log(&writer, &marker).map_err(failed)?;
    let readers = Readers::new(ConnectionPlan::read(path));
    Ok(OpenedDatabase { writer, readers, marker, pages })
}

/// Brings the database of an earlier version into the form of this one.
fn upgrade(writer: &Connection, path: &Path, keep_copy: KeepCopy) -> Result<(), OpenError> {
    let schema = schema_of(writer).map_err(|cause| failed(path, cause))?;
    if schema == SCHEMA {
        return Ok(());
    }
    let uncopied = |cause| OpenError::Uncopied { path: path.to_owned(), cause };
    keep_copy(path, schema).map_err(uncopied)?;
    migrate(writer).map_err(|cause| unmigrated(path, cause))?;
    info!(from = schema, to = SCHEMA, "the database has the schema of this version now");
    Ok(())
}

/// Empties the log and begins it with a commit: from then on a log that is empty has been lost, and what lies behind
/// its end is of this process. Where a full disk is in the way, that is for the first commit to find.
fn begin_log(writer: &Connection, marker: &Marker) -> db::Result<()> {
    let emptied = match empty_log(writer) {
        Err(error) if super::error::is_full(&error) => Emptied::No,
        result => result?,
    };
    marker.emptied(emptied);
    match touch(writer) {
        Err(error) if super::error::is_full(&error) => Ok(()),
        result => result,
    }
}

/// Moves the log into the database and gives its space back. A full disk may leave some of it where it is.
pub(super) fn empty_log(writer: &Connection) -> db::Result<Emptied> {
    let (busy, frames, _): (i64, i64, i64) =
        db::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(writer)?;
    Ok(if busy == 0 && frames <= 0 { Emptied::Yes } else { Emptied::No })
}

/// Commits something that changes nothing: one page into the log, as small as a commit can be.
pub(super) fn touch(writer: &Connection) -> db::Result<()> {
    db::pragma(writer, "user_version", SCHEMA)
}

/// Looks at the pages now, if that does not take long or if there is reason to doubt them.
fn check_as_needed(
    writer: &Connection,
    path: &Path,
    last_stop: &LastStop,
    verdict: &LogVerdict,
) -> Result<Pages, OpenError> {
    let bytes = fs::metadata(path).map_err(|cause| unreadable(path, cause))?.len();
    let is_clean = *last_stop == LastStop::Clean;
    if !is_clean {
        warn!(bytes, log = ?verdict, "the database was not closed, it is checked");
    }
    let pages = pages_of(bytes, is_clean, verdict);
    if pages.is_none() {
        check_whole(writer, path)?;
    }
    Ok(pages.unwrap_or(Pages::Sound))
}

/// What the pages of so large a database count as without a look at them; `None` if they must be looked at first.
fn pages_of(bytes: u64, is_clean: bool, verdict: &LogVerdict) -> Option<Pages> {
    let may_wait = is_clean || *verdict == LogVerdict::Whole;
    let unseen = if is_clean { Pages::Sound } else { Pages::Unchecked };
    (bytes > CHECK_ALWAYS_BYTES && may_wait).then_some(unseen)
}

fn marker_failed(path: &Path, cause: io::Error) -> OpenError {
    OpenError::Failed { path: path.to_owned(), cause: Box::new(cause) }
}

fn unreadable(path: &Path, cause: io::Error) -> OpenError {
    OpenError::Unreadable { path: path.to_owned(), cause }
}

fn failed(path: &Path, cause: db::Error) -> OpenError {
    if super::error::is_damage(&cause) {
        return OpenError::Damaged { path: path.to_owned(), found: cause.to_string() };
    }
    OpenError::Failed { path: path.to_owned(), cause: Box::new(cause) }
}

fn unmigrated(path: &Path, cause: StoreError) -> OpenError {
    match cause {
        StoreError::Corrupt(found) => OpenError::Damaged { path: path.to_owned(), found },
        cause => OpenError::Failed { path: path.to_owned(), cause: Box::new(cause) },
    }
}

/// Looks at the file without SQLite, which might change what it finds, and holds its log against the marker.
fn inspect(path: &Path, last_stop: &LastStop) -> Result<LogVerdict, OpenError> {
    let damaged = |found: String| OpenError::Damaged { path: path.to_owned(), found };
    let (header, file_bytes) = inspect_header(path)?;
    // While a log waits to be moved into the file, the file may be shorter than its header says.
    let log_bytes = fs::metadata(beside(path, "-wal")).map(|log| log.len()).ok();
    if log_bytes.unwrap_or(0) == 0 && file_bytes < header.bytes {
        return Err(damaged(format!("it has {file_bytes} of its {} bytes", header.bytes)));
    }
    let verdict = match last_stop {
        LastStop::Unclean(Some(note)) => note.check(path).map_err(|cause| unreadable(path, cause))?,
        LastStop::Unclean(None) if log_bytes.is_none() => LogVerdict::Lost("is missing".into()),
        LastStop::Clean | LastStop::Unclean(None) => LogVerdict::Unknown,
    };
    if let LogVerdict::Lost(found) = verdict {
        return Err(OpenError::LogLost { path: path.to_owned(), found });
    }
    // Without the right to write, SQLite would find out in the middle of things.
    OpenOptions::new().write(true).open(path).map_err(|cause| unreadable(path, cause))?;
    Ok(verdict)
}

/// What the file says of itself, and how long it is. Refuses what is not ours or of a later version.
pub(super) fn inspect_header(path: &Path) -> Result<(Header, u64), OpenError> {
    let foreign = |found: String| OpenError::Foreign { path: path.to_owned(), found };
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    if metadata.is_dir() {
        return Err(unreadable(path, io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(unreadable(path, no_plain_file()));
    }
    let header = Header::read(path).map_err(|no_header| match no_header {
        NoHeader::Empty => foreign("it is empty".into()),
        NoHeader::Foreign => foreign("it is no SQLite database".into()),
        NoHeader::Unreadable(cause) => unreadable(path, cause),
    })?;
    if header.application_id != APPLICATION_ID {
        return Err(foreign(format!("its application id is {:#010x}", header.application_id)));
    }
    if header.schema > SCHEMA {
        return Err(OpenError::Newer { path: path.to_owned(), found: header.schema });
    }
    Ok((header, metadata.len()))
}

/// Creates the database under another name and then renames it: a file of that name is always whole.
fn create(path: &Path) -> Result<(), OpenError> {
    let uncreatable = |cause| OpenError::Uncreatable { path: path.to_owned(), cause };
    let failed = |cause: db::Error| failed(path, cause);
    if beside(path, "-wal").exists() {
        let found = "its write-ahead log is there, but it is not".into();
        return Err(OpenError::Damaged { path: path.to_owned(), found });
    }
    let draft = beside(path, ".new");
    remove_if_there(&draft).map_err(uncreatable)?;
    remove_if_there(&beside(&draft, "-journal")).map_err(uncreatable)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    drop(file.map_err(uncreatable)?);
    let connection = Connection::open(&draft).map_err(failed)?;
    migrate(&connection).map_err(|cause| unmigrated(path, cause))?;
    connection.close().map_err(|(_, cause)| failed(cause))?;
    fs::rename(&draft, path).and_then(|()| sync_directory(path)).map_err(uncreatable)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn check_library(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let query = db::query_scalar("SELECT sqlite_version()");
    let version: String = query.fetch_one(connection).map_err(|cause| failed(path, cause))?;
    let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    if parts.as_slice() >= SQLITE_MIN.as_slice() {
        Ok(())
    } else {
        Err(OpenError::LibraryTooOld { found: version })
    }
}

/// Asks again what [`inspect`] read: a write-ahead log may hold a newer header.
fn check_ours(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let found = schema_of(connection).map_err(|cause| failed(path, cause))?;
    if found > SCHEMA { Err(OpenError::Newer { path: path.to_owned(), found }) } else { Ok(()) }
}

pub(super) fn check_whole(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let findings: Vec<String> = db::query_scalar("PRAGMA quick_check(3)")
        .fetch_all(connection)
        .map_err(|cause| failed(path, cause))?;
    if findings == ["ok"] {
        Ok(())
    } else {
        Err(OpenError::Damaged { path: path.to_owned(), found: findings.join("; ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance::{add_players, moves, spec};
    use crate::storage::games::GameStore;
    use crate::storage::sqlite::SqliteStore;
    use crate::storage::store::{Store, Write};

    #[test]
    fn a_large_database_is_served_before_its_pages_are_looked_at_unless_its_log_is_doubtful() {
        let (small, large) = (CHECK_ALWAYS_BYTES, CHECK_ALWAYS_BYTES + 1);
        for is_clean in [true, false] {
            assert_eq!(pages_of(small, is_clean, &LogVerdict::Whole), None, "a small one takes no time");
        }
        assert_eq!(pages_of(large, true, &LogVerdict::Unknown), Some(Pages::Sound));
        assert_eq!(pages_of(large, false, &LogVerdict::Whole), Some(Pages::Unchecked));
        for doubtful in [LogVerdict::Unknown, LogVerdict::Shortened("has 2 frames".into())] {
            assert_eq!(pages_of(large, false, &doubtful), None, "{doubtful:?}");
        }
    }

    #[test]
    fn the_last_migration_makes_the_schema_that_is_checked() {
        let (version, name, sql) = MIGRATIONS.last().unwrap();
        assert_eq!(*version, SCHEMA, "SCHEMA is the number of the last migration");
        let line = format!("PRAGMA user_version = {SCHEMA};");
        assert!(sql.contains(&line), "the migration `{name}` leaves out: {line}");
    }

    #[test]
    fn all_migrations_are_listed_with_their_files() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
        let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let names: Vec<String> = files.iter().map(name).collect();
        let listed = MIGRATIONS.map(|(makes, name, _)| format!("{makes:04}_{}", name.replace(' ', "_")));
        assert_eq!(names, listed);
        for (file, (_, name, sql)) in files.iter().zip(MIGRATIONS) {
            assert_eq!(fs::read_to_string(file).unwrap(), sql, "{name}");
        }
    }

    /// A directory with a database in it that was closed, and its path.
    async fn database() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let store = open_store(&path).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        store.commit(&[Write::StartGame(spec("g1", "Ada", "Bob"))]).await.unwrap();
        store.close().await.unwrap();
        (directory, path)
    }

    async fn open_store(path: &Path) -> Result<SqliteStore, OpenError> {
        SqliteStore::open(path, Durability::Relaxed).await
    }

    /// Checks that a database is refused and stays as it is.
    async fn check_refused(path: &Path, exit_code: u8, message: &str) {
        let before = fs::read(path).ok();
        let error = open_store(path).await.unwrap_err();
        let chain = format!("{error}: {:?}", std::error::Error::source(&error));
        assert!(chain.contains(message), "{chain}");
        assert_eq!(error.exit_code(), exit_code, "{chain}");
        assert_eq!(fs::read(path).ok(), before);
    }

    /// Changes bytes of a file.
    fn overwrite(path: &Path, offset: usize, bytes: &[u8]) {
        let mut content = fs::read(path).unwrap();
        content[offset..offset + bytes.len()].copy_from_slice(bytes);
        fs::write(path, content).unwrap();
    }

    #[tokio::test]
    async fn a_closed_database_is_one_file() {
        let (directory, path) = database().await;
        let names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names, [path]);
    }

    #[tokio::test]
    async fn what_is_not_ours_is_refused() {
        let (_directory, path) = database().await;
        overwrite(&path, 68, &7u32.to_be_bytes());
        check_refused(&path, 65, "its application id is 0x00000007").await;
        fs::write(&path, "Dear diary").unwrap();
        check_refused(&path, 65, "it is no SQLite database").await;
        fs::write(&path, [0xff; 4096]).unwrap();
        check_refused(&path, 65, "it is no SQLite database").await;
        fs::write(&path, "").unwrap();
        check_refused(&path, 65, "it is empty").await;
    }

    #[tokio::test]
    async fn a_later_schema_is_refused() {
        let (_directory, path) = database().await;
        overwrite(&path, 60, &(SCHEMA + 1).to_be_bytes());
        check_refused(&path, 65, "use a newer fourfold").await;
    }

    #[tokio::test]
    async fn paths_that_cannot_be_a_database_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        check_refused(directory.path(), 66, "cannot open").await;
        check_refused(&directory.path().join("missing/test.db"), 73, "cannot create").await;
    }

    #[tokio::test]
    async fn a_truncated_database_is_refused() {
        let (_directory, path) = database().await;
        let content = fs::read(&path).unwrap();
        for bytes in [content.len() - 1, content.len() / 2, 4096, 100] {
            fs::write(&path, &content[..bytes]).unwrap();
            check_refused(&path, 65, &format!("it has {bytes} of its {} bytes", content.len())).await;
        }
    }

    #[tokio::test]
    async fn flipped_bytes_are_found() {
        let (_directory, path) = database().await;
        let sound = fs::read(&path).unwrap();
        // One page at a time: most are of tables that a start does not read otherwise.
        for at in (4096..sound.len()).step_by(4096) {
            fs::write(&path, &sound).unwrap();
            overwrite(&path, at, &[0xa5; 16]);
            let error = open_store(&path).await.expect_err(&format!("nobody has noticed byte {at}"));
            assert_eq!(error.exit_code(), 65, "{error}");
        }
    }

    #[tokio::test]
    async fn after_a_kill_everything_acknowledged_is_there_and_a_lost_log_is_noticed() {
        let (directory, path) = database().await;
        let store = open_store(&path).await.unwrap();
        let append = Write::Append { game: spec("g1", "Ada", "Bob").id, events: moves("445") };
        store.commit(&[append]).await.unwrap();
        // What a kill leaves behind: the files as they are while the database is in use.
        let left = directory.path().join("left");
        fs::create_dir(&left).unwrap();
        for suffix in ["", "-wal", "-running"] {
            fs::copy(beside(&path, suffix), beside(&left.join("test.db"), suffix)).unwrap();
        }
        drop(store);
        let path = left.join("test.db");
        let log = beside(&path, "-wal");
        let aside = beside(&path, "-aside");
        fs::rename(&log, &aside).unwrap();
        check_refused(&path, 65, "write-ahead log (-wal), which holds them, is missing").await;
        fs::rename(&aside, &log).unwrap();
        let store = open_store(&path).await.unwrap();
        assert_eq!(store.live_games().await.unwrap()[0].moves(), "445");
        store.close().await.unwrap();
        fs::rename(&path, &aside).unwrap();
        fs::write(&log, "left over").unwrap();
        check_refused(&path, 65, "its write-ahead log is there, but it is not").await;
    }

    #[tokio::test]
    async fn a_store_that_was_dropped_unclosed_opens_again() {
        let (_directory, path) = database().await;
        drop(open_store(&path).await.unwrap());
        let store = open_store(&path).await.unwrap();
        assert_eq!(store.live_games().await.unwrap().len(), 1);
    }
}
