//! Wall-clock time, as it is stored and shown.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Wall-clock time: milliseconds since 1970, UTC. A label only; no duration is ever computed from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UnixMillis(pub(crate) i64);

impl UnixMillis {
    /// Now, by the machine's clock.
    pub fn now() -> Self {
        if let Some(simulated_ms) = super::world::simulated_wall_ms() {
            return Self(simulated_ms);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for UnixMillis {
    /// RFC 3339, UTC, milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}
