//! Failures that are ours: the client learns a number that the log has too, and nothing else.

use std::error::Error;

use rand::Rng;
use tracing::error;

use crate::model::world::chance;
use crate::protocol::{ErrorCode, WireError};

/// Logs a failure and makes the refusal that goes out for it. `what` is constant text, such as
/// `the game could not be read`, and serves both.
pub(crate) fn internal(what: &'static str, cause: &(dyn Error + 'static)) -> WireError {
    let incident = format!("{:016x}", chance().next_u64());
    error!(incident, error = cause, "{what}");
    WireError { incident: Some(incident), ..WireError::new(ErrorCode::Internal, what) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_learns_a_number_and_no_cause() {
        let cause = std::io::Error::other("secret path");
        let [one, other] = [(); 2].map(|()| internal("the game could not be read", &cause));
        assert_eq!((one.code, one.message.as_str()), (ErrorCode::Internal, "the game could not be read"));
        assert_eq!(one.incident.as_deref().map(str::len), Some(16));
        assert_ne!(one.incident, other.incident);
    }
}
