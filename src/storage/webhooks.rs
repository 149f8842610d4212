//! Addresses to which owners of bots have it told what happens to their bots.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;

use super::error::StoreError;
use super::words::{Word as _, words};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// The address of one account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredWebhook {
    /// The account, whose bots it is about.
    pub(crate) owner: PlayerId,
    pub(crate) url: String,
    /// From which, and from the key of the data directory, the key of its signatures is made.
    pub(crate) salt: String,
    pub(crate) since: UnixMillis,
    /// Deliveries that failed one after the other, the last one included.
    pub(crate) failures: u32,
    pub(crate) last: Option<Delivery>,
}

/// How an attempt to deliver a message went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    pub(crate) at: UnixMillis,
    pub(crate) outcome: Outcome,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// An answer, with its status.
    Answered(u16),
    /// None.
    Failed(NoAnswer),
}

/// Why there was no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoAnswer {
    /// The host has no address.
    UnknownHost,
    /// One of its addresses is not on the Internet.
    PrivateAddress,
    /// Nobody took the connection, or it broke.
    Unreachable,
    /// Nobody vouches that it is the host.
    Untrusted,
    /// It took too long.
    Timeout,
}

words!(NoAnswer {
    UnknownHost: "unknown_host",
    PrivateAddress: "private_address",
    Unreachable: "unreachable",
    Untrusted: "untrusted",
    Timeout: "timeout",
});

impl Outcome {
    /// Whether the message was taken: any other answer than a success is a refusal.
    pub(crate) fn is_delivered(self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }
}

/// The status, or a word.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(status) => status.fmt(f),
            Self::Failed(why) => f.write_str(why.word()),
        }
    }
}

impl FromStr for Outcome {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match NoAnswer::from_word(text) {
            Some(why) => Ok(Self::Failed(why)),
            None => text.parse().map(Self::Answered).map_err(|_| ()),
        }
    }
}

/// What became of a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryNote {
    pub(crate) owner: PlayerId,
    /// Tells the address from one that took its place meanwhile.
    pub(crate) salt: String,
    pub(crate) delivery: Delivery,
}

/// The part of a store that is about these addresses.
#[async_trait]
pub trait WebhookStore {
    /// That of an account, if it has one.
    async fn webhook(&self, owner: &PlayerId) -> Result<Option<StoredWebhook>, StoreError>;
}
