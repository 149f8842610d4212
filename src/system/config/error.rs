//! Why a configuration is refused, in words that lead to the place.

use std::path::PathBuf;

use thiserror::Error;

/// Why a configuration is refused.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    /// The file could not be read.
    #[error("{}: cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not text.
    #[error("{}: not UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
    /// The file has something that is not allowed.
    #[error("{}:{line}: {message}", path.display())]
    File {
        path: PathBuf,
        line: usize,
        /// The key, and what is allowed.
        message: String,
    },
    /// An environment variable has something that is not allowed.
    #[error("environment variable {variable}: {message}")]
    Environment { variable: String, message: String },
    /// A value that others could use against the arena.
    #[error("{keys}: {message}")]
    Unsafe { keys: &'static str, message: String },
    /// Values that are allowed by themselves, but not together.
    #[error("{keys}: {message}")]
    Contradiction { keys: &'static str, message: String },
}
