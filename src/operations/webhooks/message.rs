//! A message with what proves whose it is, as Standard Webhooks has both.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::Rng as _;
use serde::Serialize;
use sha2::Sha256;

use super::event::Event;
use crate::model::secret::Secret;
use crate::model::signing::KEY_BYTES;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::operations::outgoing::Posting;

/// Random bytes of a message's id.
const ID_BYTES: usize = 10;

/// Starts the key of signatures as people see it, so that libraries and secret scanners know it.
const SECRET_PREFIX: &str = "whsec_";

/// What a message says, the same at each attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// So that a receiver knows a repeat.
    id: String,
    body: String,
}

/// The body: what happened, and when that was told.
#[derive(Debug, Serialize)]
struct Body<'e> {
    #[serde(flatten)]
    event: &'e Event,
    timestamp: String,
}

/// A message on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SignedMessage<'m> {
    pub(super) id: &'m str,
    /// In seconds since 1970: a receiver refuses what is old.
    pub(super) timestamp: i64,
    pub(super) signature: String,
    pub(super) body: &'m str,
}

/// The key of the signatures of one address.
pub(super) struct SigningKey([u8; KEY_BYTES]);

impl Message {
    /// One that was not sent yet.
    ///
    /// # Panics
    ///
    /// Never: events are structs of texts and numbers, which all can be written.
    pub(super) fn about(event: &Event) -> Self {
        let mut id = [0; ID_BYTES];
        chance().fill_bytes(&mut id);
        let body = Body { event, timestamp: UnixMillis::now().to_string() };
        let body = serde_json::to_string(&body).expect("a struct of texts and numbers can be written");
        Self { id: format!("msg_{}", BASE32_NOPAD.encode(&id).to_lowercase()), body }
    }

    /// What is sent at this moment.
    pub(super) fn signed(&self, key: &SigningKey, now: UnixMillis) -> SignedMessage<'_> {
        let timestamp = now.0 / 1_000;
        let signature = key.signature(&self.id, timestamp, &self.body);
        SignedMessage { id: &self.id, timestamp, signature, body: &self.body }
    }
}

impl SignedMessage<'_> {
    /// As it is posted.
    pub(super) fn posting(&self) -> Posting {
        let mut headers = HeaderMap::from_iter([
            (header::USER_AGENT, HeaderValue::from_static("fourfold-webhook/1")),
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (HeaderName::from_static("webhook-timestamp"), HeaderValue::from(self.timestamp)),
        ]);
        // Both are of letters, digits and signs that headers have.
        for (name, value) in [("webhook-id", self.id), ("webhook-signature", &self.signature)] {
            headers.extend(HeaderValue::from_str(value).map(|value| (HeaderName::from_static(name), value)));
        }
        Posting { headers, body: Bytes::copy_from_slice(self.body.as_bytes()) }
    }
}

impl SigningKey {
    pub(super) fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// As the owner is shown it.
    pub(super) fn shown(&self) -> Secret {
        Secret::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0)))
    }

    /// What a receiver computes too: HMAC-SHA256 over id, time and body with full stops between them.
    fn signature(&self, id: &str, timestamp: i64, body: &str) -> String {
        let keyed = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of every length");
        let signed = keyed.chain_update(format!("{id}.{timestamp}.")).chain_update(body);
        format!("v1,{}", STANDARD.encode(signed.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `docs/bots.md` gave the expected one.
    #[test]
    fn a_signature_is_that_of_the_document() {
        let key = SigningKey::new([7; KEY_BYTES]);
        assert_eq!(key.shown().expose(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        let signature = key.signature("msg_test", 1_700_000_000, "{\"type\":\"ping\"}");
        assert_eq!(signature, "v1,0173yg93v6hbqztP9/nw9EMCog5UrmB8BOdWBfOI4JM=");
    }

    #[test]
    fn a_message_has_a_body_of_type_data_and_time() {
        let message = Message::about(&Event::Ping { account: "Ada".parse().unwrap() });
        let body: serde_json::Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!((&body["type"], &body["data"]["account"]), (&"ping".into(), &"Ada".into()));
        assert!(body["timestamp"].as_str().unwrap().ends_with('Z'), "{}", message.body);
        let key = SigningKey::new([7; KEY_BYTES]);
        let (now, later) = (UnixMillis(1_700_000_000_999), UnixMillis(1_700_000_001_000));
        assert_eq!(message.signed(&key, now).timestamp, 1_700_000_000);
        assert_ne!(message.signed(&key, now).signature, message.signed(&key, later).signature);
    }
}
