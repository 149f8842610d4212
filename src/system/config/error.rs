//! Why a configuration is refused, in words that lead to the place.

use std::path::PathBuf;

use thiserror::Error;

/// Why a configuration is refused.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{}: cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not text.
    #[error("{}: not UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// The file has something that is not allowed.
    #[error("{}:{line}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The key, and what is allowed.
        message: String,
    },
    /// An environment variable has something that is not allowed.
    #[error("environment variable {variable}: {message}")]
    Environment {
        /// Its name.
        variable: String,
        /// What is allowed.
        message: String,
    },
    /// Values that are allowed by themselves, but not together.
    #[error("{keys}: {message}")]
    Contradiction {
        /// The keys.
        keys: &'static str,
        /// What is allowed.
        message: String,
    },
}
