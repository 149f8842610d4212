//! Copies that the daemon makes by itself.

use std::fmt;
use std::path::{Path, PathBuf, absolute};
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
    pub(super) fn check(&self, storage: &StorageConfig, data: &Path) -> Result<(), ConfigError> {
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
        if has_directory && is_same(&self.directory, data) {
            let message = "copies that lie with the database are lost with it: give a directory of their own";
            return refused("backup.directory and server.data", message);
        }
        Ok(())
    }
}

/// Whether two paths lead to one directory, if it is there already.
fn is_same(one: &Path, other: &Path) -> bool {
    let plain =
        |path: &Path| path.canonicalize().or_else(|_| absolute(path)).unwrap_or_else(|_| path.to_owned());
    plain(one) == plain(other)
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
