//! The data directory: one daemon's files, locked against a second one.
//!
//! | file | what it is |
//! |---|---|
//! | `fourfold.lock` | held by the process that uses the directory; its process id is inside |
//! | `fourfold.db` | the database, with `-wal`, `-shm` and `-running` beside it |
//! | `secret.key` | 32 random bytes under which cookies and resumptions are signed |
//! | `memory.xml`, others | what house bots have learnt, as their settings name it; with `.lock` beside it meanwhile |
//! | `control.sock` | where the daemon listens to commands of its operator |

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::TryRng;
use thiserror::Error;

use super::files::{beside, expect_plain_file, no_plain_file};

/// Bytes of the secret: the output size of the hash that it keys.
const SECRET_BYTES: usize = 32;

/// Nobody but the owner may enter: the database holds password hashes.
const DIRECTORY_MODE: u32 = 0o700;
const SECRET_MODE: u32 = 0o600;
const SECRET: &str = "secret.key";
const LOCK: &str = "fourfold.lock";

/// As the directory's: a file that is copied out of it should tell nobody anything either.
const LOCK_MODE: u32 = 0o600;

/// Why a data directory cannot be used.
#[derive(Debug, Error)]
pub enum DataDirError {
    /// It is a file.
    #[error("{path} is not a directory")]
    NotADirectory { path: PathBuf },
    /// It does not exist, and cannot be made: the parent is missing or not writable.
    #[error("cannot create {path}")]
    Uncreatable {
        /// Which file or directory.
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It exists and cannot be used.
    #[error("cannot open {path}")]
    Unreadable {
        /// Which file or directory.
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It has had a database, which is not there any more.
    #[error(
        "{path} has a {evidence} but no fourfold.db: name the server that keeps it with `--storage-url` or \
         FOURFOLD_STORAGE_URL, put the database back, run `fourfold restore`, or `fourfold serve --init` to begin with \
         an empty one"
    )]
    DatabaseGone { path: PathBuf, evidence: &'static str },
    /// Another process uses it.
    #[error("{path} is in use by {}", match .pid { Some(pid) => format!("process {pid}"), None => "another process".into() })]
    Locked {
        path: PathBuf,
        /// Whose it is, as far as that process has said.
        pid: Option<u32>,
    },
    /// Others than the owner can read the secret.
    #[error(
        "{path} can be read by others (mode {mode:03o}): run `chmod 600 {path}`, or delete it to have a new one made"
    )]
    SecretExposed { path: PathBuf, mode: u32 },
    /// The secret has a wrong length.
    #[error(
        "{path} has not {SECRET_BYTES} bytes: delete it to have a new one made, which signs everybody out"
    )]
    SecretMalformed { path: PathBuf },
}

impl DataDirError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::SecretExposed { .. } | Self::SecretMalformed { .. } => 2,
            // EX_NOINPUT
            Self::NotADirectory { .. } | Self::Unreadable { .. } | Self::DatabaseGone { .. } => 66,
            Self::Uncreatable { .. } => 73, // EX_CANTCREAT
            Self::Locked { .. } => 75,      // EX_TEMPFAIL
        }
    }
}

/// What signs cookies and resumptions. Never printed.
#[derive(Clone)]
pub(crate) struct SigningSecret([u8; SECRET_BYTES]);

impl SigningSecret {
    /// The bytes, for keying a hash.
    pub(crate) fn bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// A data directory that belongs to this process until it is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    /// The lock goes with the file, at the latest when the process dies.
    lock: File,
    /// The directory itself, where its file system can lock one: the file above may be deleted by somebody who takes it
    /// for a leftover.
    directory: Option<File>,
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // Said aloud, as a program that is being started has a copy of the file until it runs. If it fails, closing the
        // file does the same.
        let _ = self.lock.unlock();
        let _ = self.directory.as_ref().map(File::unlock);
    }
}

impl DataDir {
    /// Takes a data directory, making it if only the last part of the path is missing.
    ///
    /// # Errors
    ///
    /// It cannot be made or entered, or another process uses it.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(DataDirError::Uncreatable { path: path.to_owned(), cause }),
        }
        if !path.is_dir() {
            return Err(DataDirError::NotADirectory { path: path.to_owned() });
        }
        let directory = lock_directory(path)?;
        Ok(Self { path: path.to_owned(), lock: lock(path)?, directory })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub fn database(&self) -> PathBuf {
        database(&self.path)
    }

    /// Refuses a directory that has had a database and lost it: an empty one in its place would look as if nothing had
    /// ever been played. A new directory has nothing that says so. The secret is made after the first database is
    /// there.
    ///
    /// # Errors
    ///
    /// It is so, or the secret is one that would be refused anyway.
    pub(crate) fn expect_database(&self) -> Result<(), DataDirError> {
        if self.database().exists() {
            return Ok(());
        }
        let gone = |evidence| Err(DataDirError::DatabaseGone { path: self.path.clone(), evidence });
        if beside(&self.database(), "-running").exists() {
            return gone("fourfold.db-running");
        }
        if self.secret_path().exists() {
            read_secret(self.secret_path())?;
            return gone(SECRET);
        }
        Ok(())
    }

    /// The file with the secret.
    pub(crate) fn secret_path(&self) -> PathBuf {
        self.path.join(SECRET)
    }

    /// The control socket of the daemon that uses this directory.
    pub(crate) fn control_socket(&self) -> PathBuf {
        control_socket(&self.path)
    }

    /// Reads the secret, making one first if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read or made, others can read it, or it holds something else.
    pub(crate) fn secret(&self) -> Result<SigningSecret, DataDirError> {
        let path = self.secret_path();
        if !path.exists() {
            create_secret(&path).map_err(|cause| DataDirError::Uncreatable { path: path.clone(), cause })?;
        }
        read_secret(path)
    }
}

/// Where a data directory's database is, for those who do not hold its lock.
pub(crate) fn database(directory: &Path) -> PathBuf {
    directory.join("fourfold.db")
}

/// Where the daemon that uses a data directory listens, for those who do not hold its lock.
pub(crate) fn control_socket(directory: &Path) -> PathBuf {
    directory.join("control.sock")
}

fn lock(directory: &Path) -> Result<File, DataDirError> {
    let path = directory.join(LOCK);
    let options =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(LOCK_MODE).clone();
    let unreadable = |cause| DataDirError::Unreadable { path: path.clone(), cause };
    expect_plain_file(&path).map_err(unreadable)?;
    let mut file = options.open(&path).map_err(unreadable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(DataDirError::Locked { path: directory.to_owned(), pid: holder(directory) });
        }
        Err(TryLockError::Error(cause)) => return Err(unreadable(cause)),
    }
    // One that an earlier version made may be read by others.
    file.set_permissions(Permissions::from_mode(LOCK_MODE)).map_err(unreadable)?;
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(unreadable)?;
    Ok(file)
}

/// Whose process the lock names; empty if it has locked it but not yet written.
fn holder(directory: &Path) -> Option<u32> {
    fs::read_to_string(directory.join(LOCK)).ok().and_then(|text| text.trim().parse().ok())
}

fn lock_directory(path: &Path) -> Result<Option<File>, DataDirError> {
    let unreadable = |cause| DataDirError::Unreadable { path: path.to_owned(), cause };
    let directory = File::open(path).map_err(unreadable)?;
    match directory.try_lock() {
        Ok(()) => Ok(Some(directory)),
        Err(TryLockError::WouldBlock) => {
            Err(DataDirError::Locked { path: path.to_owned(), pid: holder(path) })
        }
        // A file system of a network, which locks files alone.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Writes a fresh secret under another name and renames it, so that it is never there in part.
fn create_secret(path: &Path) -> io::Result<()> {
    let mut bytes = [0; SECRET_BYTES];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    let draft = path.with_extension("new");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(SECRET_MODE).open(&draft)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

fn read_secret(path: PathBuf) -> Result<SigningSecret, DataDirError> {
    let read = || -> io::Result<(u32, Vec<u8>)> {
        // It may be a link, as where secrets are mounted, but not to something without an end.
        if !fs::metadata(&path)?.is_file() {
            return Err(no_plain_file());
        }
        let file = File::open(&path)?;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        let mut bytes = Vec::new();
        file.take(SECRET_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok((mode, bytes))
    };
    let (mode, bytes) = match read() {
        Ok(found) => found,
        Err(cause) => return Err(DataDirError::Unreadable { path, cause }),
    };
    if mode & 0o077 != 0 {
        return Err(DataDirError::SecretExposed { path, mode });
    }
    bytes.try_into().map(SigningSecret).map_err(|_| DataDirError::SecretMalformed { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        (parent, path)
    }

    #[track_caller]
    fn check_refused(path: &Path, exit_code: u8, message: &str) {
        let error = DataDir::open(path).unwrap_err();
        assert_eq!(error.exit_code(), exit_code);
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn it_is_made_for_its_owner_alone() {
        let (_parent, path) = directory();
        let data = DataDir::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, DIRECTORY_MODE);
        assert_eq!(data.database(), path.join("fourfold.db"));
        assert_eq!(data.control_socket(), path.join("control.sock"));
    }

    #[test]
    fn a_second_user_is_told_who_holds_it() {
        let (_parent, path) = directory();
        let first = DataDir::open(&path).unwrap();
        check_refused(&path, 75, &format!("in use by process {}", std::process::id()));
        fs::remove_file(path.join("fourfold.lock")).unwrap();
        check_refused(&path, 75, "is in use by another process");
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn what_cannot_be_a_directory_is_refused() {
        let (parent, path) = directory();
        check_refused(&path.join("deeper"), 73, "cannot create");
        let file = parent.path().join("file");
        fs::write(&file, "x").unwrap();
        check_refused(&file, 66, "is not a directory");
        check_refused(&file.join("data"), 73, "cannot create");
    }

    #[test]
    fn a_device_in_the_place_of_a_file_is_refused_and_stays_as_it_is() {
        let (_parent, path) = directory();
        drop(DataDir::open(&path).unwrap());
        for name in [LOCK, SECRET] {
            let _ = fs::remove_file(path.join(name));
            std::os::unix::fs::symlink("/dev/null", path.join(name)).unwrap();
        }
        let why = |error: DataDirError| std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(why(DataDir::open(&path).unwrap_err()), "it is no regular file");
        fs::remove_file(path.join(LOCK)).unwrap();
        assert_eq!(why(DataDir::open(&path).unwrap().secret().unwrap_err()), "it is no regular file");
        assert_eq!(fs::metadata("/dev/null").unwrap().permissions().mode() & 0o777, 0o666);
    }

    #[test]
    fn the_secret_is_made_once() {
        let (_parent, path) = directory();
        let data = DataDir::open(&path).unwrap();
        let secret = data.secret().unwrap();
        assert_eq!(data.secret().unwrap().bytes(), secret.bytes());
        assert_ne!(secret.bytes(), &[0; SECRET_BYTES]);
        assert_eq!(format!("{secret:?}"), "Secret(***)");
        let mode = fs::metadata(path.join("secret.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, SECRET_MODE);
        let (_other_parent, other) = directory();
        assert_ne!(DataDir::open(&other).unwrap().secret().unwrap().bytes(), secret.bytes());
    }

    #[test]
    fn a_database_that_is_gone_is_missed_and_a_new_directory_is_not() {
        let (_parent, path) = directory();
        let data = DataDir::open(&path).unwrap();
        data.expect_database().unwrap();
        data.secret().unwrap();
        let error = data.expect_database().unwrap_err();
        assert_eq!(error.exit_code(), 66);
        assert!(error.to_string().contains("has a secret.key but no fourfold.db"), "{error}");
        assert!(error.to_string().contains("`--storage-url`"), "{error}");
        fs::write(data.database(), "").unwrap();
        data.expect_database().unwrap();
        fs::rename(data.database(), beside(&data.database(), "-running")).unwrap();
        assert_eq!(data.expect_database().unwrap_err().exit_code(), 66);
    }

    #[test]
    fn files_are_for_the_owner_alone() {
        let (_parent, path) = directory();
        let lock = path.join("fourfold.lock");
        for _ in 0..2 {
            drop(DataDir::open(&path).unwrap());
            assert_eq!(fs::metadata(&lock).unwrap().permissions().mode() & 0o777, LOCK_MODE);
            fs::set_permissions(&lock, Permissions::from_mode(0o644)).unwrap();
        }
    }

    #[test]
    fn an_exposed_or_cut_secret_is_refused() {
        let (_parent, path) = directory();
        let data = DataDir::open(&path).unwrap();
        data.secret().unwrap();
        let file = path.join("secret.key");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = data.secret().unwrap_err();
        assert!(matches!(error, DataDirError::SecretExposed { mode: 0o644, .. }), "{error}");
        assert_eq!(error.exit_code(), 2);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        for bytes in [&b""[..], &[7; SECRET_BYTES - 1], &[7; SECRET_BYTES + 1]] {
            fs::write(&file, bytes).unwrap();
            assert!(matches!(data.secret(), Err(DataDirError::SecretMalformed { .. })));
        }
    }
}
