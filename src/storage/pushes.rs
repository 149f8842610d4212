//! Browsers that show notices to whoever uses them while they are not there.

use std::fmt;

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// Browsers of one account: a computer, a phone and a tablet, at home and elsewhere. For one more the oldest goes,
/// which may be gone for long: nobody tells us when a browser is thrown away.
pub(crate) const BROWSERS_MAX: usize = 5;

/// A browser that shows notices, as its subscription describes it (RFC 8030, RFC 8291).
#[derive(Clone, PartialEq, Eq)]
pub struct StoredPush {
    pub(crate) owner: PlayerId,
    /// Its address at its maker's push service, which nobody else has.
    pub(crate) endpoint: String,
    /// Its public key, a point of P-256 as base64url.
    pub(crate) p256dh: String,
    /// What else is needed to encrypt for it: sixteen bytes as base64url.
    pub(crate) auth: String,
    /// Of what it shows, as a tag.
    pub(crate) language: String,
    pub(crate) since: UnixMillis,
}

/// Without what it takes to write to the browser.
impl fmt::Debug for StoredPush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredPush")
            .field("owner", &self.owner)
            .field("language", &self.language)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

/// The part of a store that is about such browsers.
#[async_trait]
pub trait PushStore {
    /// Those of an account, the oldest first.
    async fn pushes_of(&self, owner: &PlayerId) -> Result<Vec<StoredPush>, StoreError>;
}
