//! What SQLite's errors mean to us.

use super::db;
use crate::storage::store::StoreError;

/// SQLite's primary result codes that we tell apart; the low byte of the extended ones.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const NOT_A_DATABASE: i32 = 26;
    /// An extended code: the index of the write-ahead log could not grow, which is how a full disk shows there.
    pub(super) const IOERR_SHMSIZE: i32 = 4874;
}

fn extended_code(error: &db::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// Whether the database is damaged, not just out of reach.
pub(super) fn is_damage(error: &db::Error) -> bool {
    extended_code(error).is_some_and(|code| matches!(code & 0xff, code::CORRUPT | code::NOT_A_DATABASE))
}

pub(super) fn is_full(error: &db::Error) -> bool {
    extended_code(error).is_some_and(|code| code & 0xff == code::FULL || code == code::IOERR_SHMSIZE)
}

/// Whether another program holds the database.
fn is_locked(error: &db::Error) -> bool {
    extended_code(error).is_some_and(|code| code & 0xff == code::BUSY)
}

/// Whether what was to be written contradicts the schema or what is stored.
pub(super) fn is_contradiction(error: &StoreError) -> bool {
    let StoreError::Failed(cause) = error else { return false };
    let cause = cause.downcast_ref::<db::Error>();
    cause.and_then(extended_code).is_some_and(|code| code & 0xff == code::CONSTRAINT)
}

impl From<db::Error> for StoreError {
    fn from(error: db::Error) -> Self {
        if is_full(&error) {
            Self::Full(Box::new(error))
        } else if is_locked(&error) {
            Self::Locked(Box::new(error))
        } else {
            Self::Failed(Box::new(error))
        }
    }
}
