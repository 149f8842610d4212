//! Addresses to which owners of bots have it told what happens to their bots.

use super::{Damage, number, parsed};
use crate::model::time::UnixMillis;
use crate::storage::webhooks::{Delivery, StoredWebhook};

row! {
    #[derive(Debug)]
    pub(crate) struct WebhookRow {
        owner: String,
        url: String,
        salt: String,
        since: i64,
        failures: i64,
        last_at: Option<i64>,
        last_outcome: Option<String>,
    }
}

impl WebhookRow {
    pub(crate) fn decode(self) -> Result<StoredWebhook, Damage> {
        let last = match self.last_at.zip(self.last_outcome) {
            Some((at, outcome)) => {
                let outcome = parsed("webhook.last_outcome", &outcome)?;
                Some(Delivery { at: UnixMillis(at), outcome })
            }
            None => None,
        };
        Ok(StoredWebhook {
            owner: parsed("webhook.owner", &self.owner)?,
            url: self.url,
            salt: self.salt,
            since: UnixMillis(self.since),
            failures: number("webhook.failures", self.failures)?,
            last,
        })
    }
}
