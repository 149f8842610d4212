//! What a copy of a whole store is, and why there is none.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::error::StoreError;

/// A copy that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backup {
    pub bytes: u64,
    /// SHA-256 of its content, which it ends with; in hexadecimal digits.
    pub sha256: String,
    /// Finished games in it.
    pub games: u64,
}

/// What to do with a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overwrite {
    Never,
    /// It is replaced, when the new one is whole.
    Replace,
}

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    /// Something of that name is there.
    #[error("{path} is there already: choose another name, or say --force")]
    Exists { path: PathBuf },
    /// The name is not one that a file can have.
    #[error("{path} cannot be the name of a backup: {why}")]
    BadName { path: PathBuf, why: &'static str },
    /// It would not fit, or would leave too little for the games.
    #[error("{path} needs {needed} bytes, {free} are free there")]
    NoSpace { path: PathBuf, needed: u64, free: u64 },
    /// The file cannot be written.
    #[error("cannot write {path}")]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// What was written is not what it should be, when it was read back.
    #[error("the copy is not whole: {found}")]
    NotWhole { found: String },
    /// A server keeps the store, and copies it with tools of its own.
    #[error("the database is kept by a server: back it up with pg_dump, see docs/operating.md")]
    Elsewhere,
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
