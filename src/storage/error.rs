//! How a store fails as a whole.

use thiserror::Error;

/// Why the store could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The disk is full: nothing was written, and it may work later.
    #[error("no space is left for the database")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another program holds the database: nothing was written, and it may work later.
    #[error("another program holds the database")]
    Locked(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server that keeps it does not answer: nothing is known. It may work later, and what was written before can
    /// be found out then.
    #[error("the database server cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Reading or writing failed. After a failed write its outcome is unknown, so the daemon must stop.
    #[error("the database failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What was read cannot be: somebody else wrote to it, or it is damaged.
    #[error("the database holds what it must not: {0}")]
    Corrupt(String),
    /// The file is not ours, or of a later version.
    #[error("{0}")]
    Unusable(String),
    /// The daemon is stopping, and the writer with it.
    #[error("the store is closed")]
    Closed,
}
