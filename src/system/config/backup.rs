//! Copies that the daemon makes by itself.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::value::serde_as_text;
use super::{Bounded, ConfigError, StorageConfig};
use crate::model::cron::{Cron, InvalidCron};

/// Copies that the daemon makes by itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackupConfig {
    /// When copies are made.
    pub at: BackupSchedule,
    /// Where to: a directory that is there, and has the copies of no other arena.
    pub directory: PathBuf,
    /// How many of them stay.
    pub keep: Bounded<1, 10_000>,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { at: BackupSchedule::default(), directory: PathBuf::new(), keep: Bounded::new(7) }
    }
}

impl BackupConfig {
    /// Refuses half of what copies need, and what cannot be copied so.
    pub(super) fn check(&self, storage: &StorageConfig) -> Result<(), ConfigError> {
        let refused =
            |keys, message: &str| Err(ConfigError::Contradiction { keys, message: message.to_owned() });
        let has_directory = !self.directory.as_os_str().is_empty();
        if self.at.0.is_some() != has_directory {
            return refused("backup.at and backup.directory", "give both, or none for no copies");
        }
        if self.at.0.is_some() && storage.url.expose().is_some() {
            let message = "the server of the database copies it with tools of its own, such as pg_dump";
            return refused("backup.at and storage.url", message);
        }
        Ok(())
    }
}

/// When copies are made: five fields of cron, in UTC; never if empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BackupSchedule(pub(crate) Option<Cron>);

impl FromStr for BackupSchedule {
    type Err = InvalidCron;

    fn from_str(text: &str) -> Result<Self, InvalidCron> {
        Ok(Self(if text.is_empty() { None } else { Some(text.parse()?) }))
    }
}

impl fmt::Display for BackupSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |cron| cron.fmt(f))
    }
}

serde_as_text!(BackupSchedule);
