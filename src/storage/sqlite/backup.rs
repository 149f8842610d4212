//! A copy of the whole database while it is used, and a look through all of its pages.
//!
//! The copy is made by SQLite (`VACUUM INTO`) on a connection of its own, from one moment's state: what is committed
//! meanwhile is not in it. It goes slowly, so that no move waits for it: it works for a fraction of the time, and what
//! it wrote is brought to the disk in small portions. It is written under another name, read back, and ends with its
//! checksum, which SQLite does not look at; then it gets its name. Whatever happens, no half file has that name.
//!
//! The same copy is made, without rests, of a database that a new version is about to change for good.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{RenameFlags, renameat_with};
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::connection::ConnectionPlan;
use super::db::{self, Connection};
use super::disk_space::free_bytes;
use super::open;
use crate::storage::backup::{Backup, BackupError, Overwrite};
use crate::storage::store::StoreError;
use crate::system::files::{self, beside, directory};
use crate::system::sha256;

/// Steps of SQLite's machine between two looks at the time: some 50 microseconds.
const STEPS: i32 = 500;

/// How long the copy works before it rests, and for how long: a fourth of a core, some 10 MiB a second.
const WORK: Duration = Duration::from_millis(2);
const REST: Duration = Duration::from_millis(6);

/// How often what was copied is brought to the disk: little enough each time that commits do not queue behind it.
const SYNC_EVERY: Duration = Duration::from_millis(100);

/// What must be free beside the copy: with less the games would soon have no room.
const RESERVE_BYTES: u64 = 16 << 20;

/// Up to this size all pages are looked at in one go. A larger database is looked at table by table, so that the
/// write-ahead log can be begun anew in between.
const CHECK_WHOLE_BYTES: i64 = 64 << 20;

/// What a copy ends with, and then its checksum and a line feed.
const TRAILER_BEGINS: &[u8] = b"\nfourfold backup, sha256 ";
pub(super) const TRAILER_BYTES: usize = TRAILER_BEGINS.len() + sha256::DIGITS + 1;

/// Copies a database.
pub(super) async fn back_up(database: &Path, to: &Path, overwrite: Overwrite) -> Result<Backup, BackupError> {
    check_name(database, to, overwrite)?;
    let (database, to) = (database.to_owned(), to.to_owned());
    let asker = Asker::default();
    let is_asked = Arc::clone(&asker.0);
    let making = spawn_blocking(move || make(&database, &to, overwrite, &Haste::AtEase(is_asked)));
    making.await.map_err(|error| StoreError::Failed(Box::new(error)))?
}

/// Keeps a copy of a database that nobody uses yet and that is about to get a later schema: the way back to the
/// version before, for whoever made no copy. Without room for one the upgrade goes on, and says so.
///
/// # Errors
///
/// The database cannot be read, or the copy not be written.
pub(super) fn keep_copy(database: &Path, schema: u32) -> Result<(), BackupError> {
    let to = database.with_file_name(format!("schema-{schema}.backup"));
    // Whether they can be removed or not, there is a copy or a word why there is none.
    let _ = files::remove_drafts(directory(&to), |name| to.file_name().is_some_and(|to| to == name));
    let named = check_name(database, &to, Overwrite::Replace);
    match named.and_then(|()| make(database, &to, Overwrite::Replace, &Haste::AtOnce)) {
        Ok(Backup { bytes, .. }) => {
            info!(copy = %to.display(), bytes, "what the version before can read is kept");
        }
        Err(error @ (BackupError::NoSpace { .. } | BackupError::BadName { .. })) => {
            warn!(%error, "no copy is kept that the version before can read");
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// How a copy is made.
enum Haste {
    /// Games go on, and it is given up when nobody asks for it any more.
    AtEase(Arc<AtomicBool>),
    /// All wait for it.
    AtOnce,
}

/// Whoever waits for a copy. When nobody does any more, as at a stop of the daemon, it is given up.
struct Asker(Arc<AtomicBool>);

impl Default for Asker {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn make(database: &Path, to: &Path, overwrite: Overwrite, haste: &Haste) -> Result<Backup, BackupError> {
    let draft = files::draft_of(to);
    // A process of the same number that was killed has left it: in containers all have one.
    let _ = fs::remove_file(&draft);
    let made = make_by(&draft, database, to, overwrite, haste);
    if made.is_err() {
        // What is left of it helps nobody, and the first error is told.
        let _ = fs::remove_file(&draft);
    }
    let _ = fs::remove_file(beside(&draft, "-journal")); // only there if SQLite was interrupted
    made
}

fn make_by(
    draft: &Path,
    database: &Path,
    to: &Path,
    overwrite: Overwrite,
    haste: &Haste,
) -> Result<Backup, BackupError> {
    let source = ConnectionPlan::read(database).connect().map_err(StoreError::from)?;
    check_space(&source, to)?;
    copy(source, draft, haste)?;
    let games = read_back(draft)?;
    let (bytes, sha256) = seal(draft, haste)?;
    publish(draft, to, overwrite)?;
    Ok(Backup { bytes, sha256, games })
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> BackupError {
    let path = path.to_owned();
    move |cause| BackupError::Unwritable { path: path.clone(), cause }
}

fn check_name(database: &Path, to: &Path, overwrite: Overwrite) -> Result<(), BackupError> {
    let bad = |why| Err(BackupError::BadName { path: to.to_owned(), why });
    if to.to_str().is_none() {
        return bad("it is not UTF-8");
    }
    let home = directory(database).canonicalize().map_err(unwritable(to))?;
    let parent = directory(to).canonicalize().map_err(unwritable(to))?;
    let is_ours = to.file_name().is_some_and(|name| name.to_string_lossy().starts_with("fourfold."));
    if parent == home && is_ours {
        return bad("the database itself has such names");
    }
    match fs::symlink_metadata(to) {
        Ok(found) if found.is_dir() => bad("it is a directory"),
        Ok(_) if overwrite == Overwrite::Never => Err(BackupError::Exists { path: to.to_owned() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(to)(error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn check_space(source: &Connection, to: &Path) -> Result<(), BackupError> {
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let bytes: i64 = db::query_scalar(sql).fetch_one(source).map_err(StoreError::from)?;
    let needed = u64::try_from(bytes).unwrap_or(0) + RESERVE_BYTES;
    let free = free_bytes(directory(to)).map_err(unwritable(to))?;
    if free < needed { Err(BackupError::NoSpace { path: to.to_owned(), needed, free }) } else { Ok(()) }
}

/// Lets SQLite copy.
fn copy(source: Connection, draft: &Path, haste: &Haste) -> Result<(), BackupError> {
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
    let file = options.open(draft).map_err(unwritable(draft))?;
    if let Haste::AtEase(is_asked) = haste {
        let at_ease = at_ease(file, Arc::clone(is_asked));
        source.progress_handler(STEPS, Some(at_ease)).map_err(StoreError::from)?;
    }
    let name = draft.to_str().unwrap_or_default(); // its name was checked
    db::query("VACUUM INTO ?").bind(name).execute(&source).map_err(StoreError::from)?;
    source.close().map_err(|(_, error)| StoreError::from(error).into())
}

/// Rests, syncs what was written, and says whether the copy is given up.
fn at_ease(file: File, is_asked: Arc<AtomicBool>) -> impl FnMut() -> bool {
    let mut rested = Instant::now();
    let mut synced = Instant::now();
    move || {
        if rested.elapsed() >= WORK {
            thread::park_timeout(REST);
            rested = Instant::now();
        }
        if synced.elapsed() >= SYNC_EVERY {
            // If the disk fails, the last portion says so.
            let _ = file.sync_data();
            synced = Instant::now();
        }
        !is_asked.load(Ordering::Relaxed)
    }
}

/// Opens the copy as a start would, and counts the games in it.
fn read_back(draft: &Path) -> Result<u64, BackupError> {
    let not_whole = |error: open::OpenError| BackupError::NotWhole { found: error.to_string() };
    open::inspect_header(draft).map_err(not_whole)?;
    let copy = ConnectionPlan::read_alone(draft).connect().map_err(StoreError::from)?;
    open::check_whole(&copy, draft).map_err(not_whole)?;
    let sql = "SELECT count(*) FROM settlement";
    let games: i64 = db::query_scalar(sql).fetch_one(&copy).map_err(StoreError::from)?;
    Ok(u64::try_from(games).unwrap_or(0))
}

/// Adds its checksum to a copy and brings it to the disk.
fn seal(draft: &Path, haste: &Haste) -> Result<(u64, String), BackupError> {
    let sealed = || -> io::Result<(u64, String)> {
        let mut file = OpenOptions::new().read(true).append(true).open(draft)?;
        let bytes = file.metadata()?.len();
        let sha256 = match haste {
            Haste::AtEase(_) => checksum(&mut file, bytes)?,
            Haste::AtOnce => sha256::of_next(&mut file, bytes, || ())?,
        };
        file.write_all(&trailer(&sha256))?;
        file.sync_all()?;
        Ok((bytes + TRAILER_BYTES as u64, sha256))
    };
    sealed().map_err(unwritable(draft))
}

fn trailer(sha256: &str) -> Vec<u8> {
    [TRAILER_BEGINS, sha256.as_bytes(), b"\n"].concat()
}

/// The checksum of the next so many bytes, at ease.
pub(super) fn checksum(file: &mut impl Read, bytes: u64) -> io::Result<String> {
    sha256::of_next(file, bytes, || thread::park_timeout(REST))
}

/// Gives the copy its name.
fn publish(draft: &Path, to: &Path, overwrite: Overwrite) -> Result<(), BackupError> {
    let renamed = match overwrite {
        Overwrite::Replace => fs::rename(draft, to),
        Overwrite::Never => rename_to_new(draft, to),
    };
    match renamed.and_then(|()| files::sync_directory(to)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(BackupError::Exists { path: to.to_owned() })
        }
        result => result.map_err(unwritable(to)),
    }
}

/// Renames without replacing a file that has come there meanwhile.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let here = rustix::fs::CWD;
    match renameat_with(here, from, here, to, RenameFlags::NOREPLACE) {
        // Not every file system knows how; a link does not replace anything either.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::hard_link(from, to).and_then(|()| fs::remove_file(from))
        }
        result => Ok(result?),
    }
}

/// How many bytes of a copy are database, if it ends as a copy does, and the checksum that it names.
pub(super) fn read_trailer(file: &mut File) -> io::Result<Option<(u64, String)>> {
    let bytes = file.metadata()?.len();
    let Some(content) = bytes.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
    let mut end = vec![0; TRAILER_BYTES];
    file.seek(SeekFrom::Start(content))?;
    file.read_exact(&mut end)?;
    file.seek(SeekFrom::Start(0))?;
    let digits = end.strip_prefix(TRAILER_BEGINS).and_then(|rest| rest.strip_suffix(b"\n"));
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    Ok(digits.map(|digits| (content, digits.to_owned())))
}

/// Looks at all pages, at what they hold and at what rows name. A line for each finding.
pub(super) fn audit_pages(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let bytes: i64 = db::query_scalar(sql).fetch_one(connection)?;
    let mut findings: Vec<String> = if bytes <= CHECK_WHOLE_BYTES {
        db::query_scalar("PRAGMA integrity_check").fetch_all(connection)?
    } else {
        check_tables(connection)?
    };
    findings.retain(|finding| finding != "ok");
    let rows: Vec<(String, Option<i64>, String, i64)> =
        db::query_as("PRAGMA foreign_key_check").fetch_all(connection)?;
    let dangling = |(table, row, parent, _): (String, Option<i64>, String, i64)| {
        format!("row {} of {table} names nothing in {parent}", row.unwrap_or_default())
    };
    findings.extend(rows.into_iter().map(dangling));
    Ok(findings)
}

fn check_tables(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let tables: Vec<String> = db::query_scalar(sql).fetch_all(connection)?;
    let mut findings = Vec::new();
    for table in tables {
        let sql = "SELECT * FROM pragma_integrity_check(?)";
        findings.extend(db::query_scalar(sql).bind(table).fetch_all::<String>(connection)?);
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::durability::Durability;
    use crate::storage::sqlite::SqliteStore;

    #[tokio::test]
    async fn what_a_killed_process_left_does_not_stop_a_copy() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("fourfold.db");
        SqliteStore::open(&database, Durability::Relaxed).await.unwrap().close().await.unwrap();
        // In a container each daemon has the same number. Drafts are numbered through, and other tests make some too.
        let leave = |copy: &Path, process: u32| {
            let draft = |number: u32| beside(copy, &format!(".{process}-{number}.draft"));
            (0..3_000).for_each(|number| fs::write(draft(number), "half a copy").unwrap());
        };
        let monday = directory.path().join("monday");
        leave(&monday, std::process::id());
        back_up(&database, &monday, Overwrite::Never).await.unwrap();
        let kept = directory.path().join("schema-5.backup");
        leave(&kept, 1);
        fs::write(&kept, "an older copy").unwrap();
        keep_copy(&database, 5).unwrap();
        for copy in [&monday, &kept] {
            open::inspect_header(copy).unwrap();
        }
        let names = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().starts_with("schema-5")).count(), 1);
    }

    #[tokio::test]
    async fn an_upgrade_goes_on_where_there_is_no_place_for_a_copy_and_not_where_it_fails() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("fourfold.db");
        SqliteStore::open(&database, Durability::Relaxed).await.unwrap().close().await.unwrap();
        let kept = directory.path().join("schema-5.backup");
        fs::create_dir(&kept).unwrap();
        keep_copy(&database, 5).unwrap();
        fs::remove_dir(&kept).unwrap();
        fs::write(&database, vec![7; 8_192]).unwrap();
        keep_copy(&database, 5).unwrap_err();
        assert!(!kept.exists());
    }
}
