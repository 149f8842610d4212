//! What PostgreSQL's errors mean to us.

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::storage::store::StoreError;

/// Whether the server cannot be asked now, or gave up what was under way: it may well do it later.
fn is_away(error: &Error) -> bool {
    let Some(code) = error.code() else {
        // Not the server's word: the connection is broken, or was never made.
        return error.is_closed() || has_io_cause(error);
    };
    // 08: connection; 57P: shut down or starting; 53: no memory, no connections; 40: deadlocks.
    ["08", "57P", "53", "40"].iter().any(|class| code.code().starts_with(class))
        || [
            SqlState::QUERY_CANCELED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(code)
}

fn has_io_cause(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Whether what was to be written contradicts the schema or what is stored.
pub(super) fn is_contradiction(error: &StoreError) -> bool {
    let StoreError::Failed(cause) = error else { return false };
    let code = cause.downcast_ref::<Error>().and_then(Error::code);
    // 22: data; 23: constraints; P0001: our own triggers.
    code.is_some_and(|code| ["22", "23", "P0001"].iter().any(|class| code.code().starts_with(class)))
}

/// What the server would never say of itself.
pub(super) fn unexpected(what: &str) -> StoreError {
    StoreError::Failed(what.to_owned().into())
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        if error.code() == Some(&SqlState::DISK_FULL) {
            Self::Full(Box::new(error))
        } else if is_away(&error) {
            Self::Unreachable(Box::new(error))
        } else {
            Self::Failed(Box::new(error))
        }
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Closed => Self::Closed,
            other => Self::Unreachable(Box::new(other)),
        }
    }
}
