//! Browsers that show notices.

use super::{Damage, parsed};
use crate::model::time::UnixMillis;
use crate::storage::pushes::StoredPush;

row! {
    #[derive(Debug)]
    pub(crate) struct PushRow {
        owner: String,
        endpoint: String,
        p256dh: String,
        auth: String,
        language: String,
        since: i64,
    }
}

impl PushRow {
    pub(crate) fn decode(self) -> Result<StoredPush, Damage> {
        Ok(StoredPush {
            owner: parsed("push_subscription.owner", &self.owner)?,
            endpoint: self.endpoint,
            p256dh: self.p256dh,
            auth: self.auth,
            language: self.language,
            since: UnixMillis(self.since),
        })
    }
}
