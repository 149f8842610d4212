//! Files with all games that the daemon writes for everybody.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::backup::BackupSchedule;
use super::{Bounded, ConfigError};

/// Files with all games that the daemon writes for everybody.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DumpConfig {
    /// When they are written.
    pub(crate) at: BackupSchedule,
    /// Where to: a directory that is there, and has the files of no other arena.
    pub(crate) directory: PathBuf,
    /// How many of them stay.
    pub(crate) keep: Bounded<1, 10_000>,
}

impl Default for DumpConfig {
    fn default() -> Self {
        Self { at: BackupSchedule::default(), directory: PathBuf::new(), keep: Bounded::new(7) }
    }
}

impl DumpConfig {
    /// Refuses half of what dumps need.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let has_directory = !self.directory.as_os_str().is_empty();
        if self.at.0.is_some() == has_directory {
            return Ok(());
        }
        let message = "give both, or none for no files".to_owned();
        Err(ConfigError::Contradiction { keys: "dump.at and dump.directory", message })
    }

    /// Where the files are, if any are written.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.at.0.is_some().then(|| self.directory.clone())
    }
}
