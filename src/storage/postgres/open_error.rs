//! Why a database cannot be used.

use thiserror::Error;

use crate::storage::store::StoreError;

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum PostgresOpenError {
    /// The URL is none.
    #[error("storage.url: {0}")]
    BadUrl(String),
    /// The server does not answer, or not yet.
    #[error("the database server {address} cannot be reached")]
    Unreachable {
        address: String,
        #[source]
        cause: StoreError,
    },
    /// The server does not let us in.
    #[error("the database server {address} refuses: {why}")]
    Refused { address: String, why: String },
    /// Another process writes to it.
    #[error("another daemon or command uses the database {address}")]
    InUse { address: String },
    /// It is not one that we can use.
    #[error("{0}")]
    Unfit(String),
    /// Something failed on the way.
    #[error("the database cannot be opened")]
    Failed(#[from] StoreError),
}

impl PostgresOpenError {
    /// The exit status of a program that stops because of it, after `sysexits.h`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::BadUrl(_) => 2,
            Self::Unfit(_) => 65,                                  // EX_DATAERR
            Self::Unreachable { .. } | Self::Refused { .. } => 69, // EX_UNAVAILABLE
            Self::Failed(_) => 74,                                 // EX_IOERR
            Self::InUse { .. } => 75,                              // EX_TEMPFAIL
        }
    }
}
