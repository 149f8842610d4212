//! Failures that are ours: the client learns a number that the log has too, and nothing else. A database that is out of
//! reach is none: it will be there again, and the writer has said that it is gone.

use std::error::Error;
use std::time::Duration;

use rand::Rng;
use tracing::error;

use crate::model::world::chance;
use crate::protocol::{ErrorCode, WireError};
use crate::storage::StoreError;

/// When to ask again while the database is out of reach: servers are restarted in seconds.
const UNREACHABLE_RETRY: Duration = Duration::from_secs(2);

/// Logs a failure and makes the refusal that goes out for it. `what` is constant text, such as
/// `the game could not be read`, and serves both.
pub(crate) fn failure(what: &'static str, cause: &(dyn Error + 'static)) -> WireError {
    if is_out_of_reach(cause) {
        let message = format!("{what}: the database cannot be reached");
        return WireError::new(ErrorCode::Busy, message).retry_in(UNREACHABLE_RETRY);
    }
    let incident = format!("{:016x}", chance().next_u64());
    error!(incident, error = cause, "{what}");
    WireError { incident: Some(incident), ..WireError::new(ErrorCode::Internal, what) }
}

fn is_out_of_reach(cause: &(dyn Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(StoreError::Unreachable(_)))
        || cause.source().is_some_and(is_out_of_reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::host::StartError;

    #[test]
    fn the_client_learns_a_number_and_no_cause() {
        let cause = std::io::Error::other("secret path");
        let [one, other] = [(); 2].map(|()| failure("the game could not be read", &cause));
        assert_eq!((one.code, one.message.as_str()), (ErrorCode::Internal, "the game could not be read"));
        assert_eq!(one.incident.as_deref().map(str::len), Some(16));
        assert_ne!(one.incident, other.incident);
    }

    #[test]
    fn a_database_out_of_reach_is_worth_another_try() {
        let cause = StartError::Store(Box::new(StoreError::Unreachable("postgres://secret".into())));
        let refusal = cause.to_wire();
        assert_eq!((refusal.code, refusal.retry_ms), (ErrorCode::Busy, Some(2_000)));
        assert_eq!(refusal.message, "the game could not be stored: the database cannot be reached");
    }
}
