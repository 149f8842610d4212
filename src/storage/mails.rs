//! Where people have their mail, if they say so, and the links that are sent there.

use async_trait::async_trait;

use super::error::StoreError;
use super::words::words;
use crate::model::ids::PlayerId;
use crate::model::mail::MailAddress;
use crate::model::time::UnixMillis;

/// The mail address of one account, which nobody else sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredMail {
    pub(crate) owner: PlayerId,
    pub(crate) address: MailAddress,
    /// Of what is written there, as its tag.
    pub(crate) language: String,
    /// Whether the owner wants to be told of bots that are paused.
    pub(crate) notices: bool,
    pub(crate) since: UnixMillis,
    /// When somebody opened the link that was sent there: before, nothing else is sent.
    pub(crate) verified_at: Option<UnixMillis>,
}

/// What a link lets whoever has it do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkPurpose {
    /// Say that mails arrive at the address.
    Verify,
    /// Set a new password.
    Reset,
}

words!(LinkPurpose { Verify: "verify", Reset: "reset" });

/// A link that was sent to an address. An account has one for each purpose, the newest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailLink {
    pub(crate) owner: PlayerId,
    pub(crate) purpose: LinkPurpose,
    /// SHA-256 of its secret.
    pub(crate) digest: [u8; 32],
    pub(crate) expires_at: UnixMillis,
}

/// The part of a store that is about mail addresses.
#[async_trait]
pub trait MailStore {
    /// That of an account, if it has one.
    async fn mail(&self, owner: &PlayerId) -> Result<Option<StoredMail>, StoreError>;

    /// Some accounts to which this address belongs for sure, the oldest first, without regard to case.
    async fn mails_at(&self, address: &MailAddress, limit: u32) -> Result<Vec<StoredMail>, StoreError>;
}
