//! What a client is told when a share is used up.

use crate::protocol::{ErrorCode, WireError};
use crate::system::shares::{Refusal, Whose};

/// The refusal as it travels: one's own share ends by itself, that of all together means that there is too much to do.
pub(crate) fn refusal(refusal: &Refusal) -> WireError {
    let code = match refusal.whose {
        Whose::Network | Whose::Account => ErrorCode::Quota,
        Whose::Everybody => ErrorCode::Busy,
    };
    WireError::new(code, refusal.to_string()).retry_in(refusal.wait)
}
