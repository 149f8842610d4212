//! Texts that only this arena can have written: guests' cookies and the secrets of resumable sessions.
//!
//! A signed text is readable by whoever holds it; what it cannot be is made up or changed. It costs no storage, so
//! it serves where a stranger would otherwise make the arena write.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of the signing key: the size of the hash, beyond which HMAC gains nothing.
pub(crate) const KEY_BYTES: usize = 32;

/// Longest text that is looked at: our own have under 200 bytes, and a forged one should cost us nothing.
const TEXT_BYTES_MAX: usize = 1_024;

/// Stands between payload and signature; base64url does not use it.
const SEPARATOR: char = '.';

/// What a signed text is for. A text signed for one purpose is no good for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// A guest's identity.
    Guest,
    /// The right to resume a session.
    Session,
    /// Whose failed attempts are counted.
    Attempt,
    /// The key of an operator's second factor.
    SecondFactor,
    /// An operator's codes for a lost phone.
    RecoveryCode,
    /// The key of what is sent to owners of bots.
    Webhook,
    /// For whom a node passes a connection on.
    Relay,
    /// That a node will carry the connections of many.
    Link,
    /// The key itself, to be compared.
    Key,
}

impl Purpose {
    /// Stands in front of the signed payload. Labels end in a zero byte, so that none is the start of another.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Guest => b"fourfold guest 1\0",
            Self::Session => b"fourfold session 1\0",
            Self::Attempt => b"fourfold attempt 1\0",
            Self::SecondFactor => b"fourfold second factor 1\0",
            Self::RecoveryCode => b"fourfold recovery code 1\0",
            Self::Webhook => b"fourfold webhook 1\0",
            Self::Relay => b"fourfold relay 1\0",
            Self::Link => b"fourfold link 1\0",
            Self::Key => b"fourfold key 1\0",
        }
    }
}

/// Signs and verifies with the key of the data directory (HMAC-SHA256).
#[derive(Clone)]
pub(crate) struct Signer {
    keyed: Hmac<Sha256>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

impl Signer {
    /// Takes the key.
    ///
    /// # Panics
    ///
    /// Never: HMAC takes keys of every length.
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self { keyed: Hmac::new_from_slice(key).expect("HMAC takes keys of every length") }
    }

    /// Signs a payload for a purpose: `base64url(payload).base64url(signature)`.
    pub(crate) fn sign(&self, purpose: Purpose, payload: &[u8]) -> String {
        let signature = self.mac(purpose, payload).finalize().into_bytes();
        let mut text = URL_SAFE_NO_PAD.encode(payload);
        text.push(SEPARATOR);
        URL_SAFE_NO_PAD.encode_string(signature, &mut text);
        text
    }

    /// Reads the payload back, if we signed the text for this purpose. Takes the same time wherever a wrong signature
    /// differs from the right one.
    pub(crate) fn verify(&self, purpose: Purpose, text: &str) -> Option<Vec<u8>> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (payload, signature) = text.split_once(SEPARATOR)?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(purpose, &payload).verify_slice(&signature).ok()?;
        Some(payload)
    }

    /// What stands for a text where it must be known again, and not be read.
    pub(crate) fn digest(&self, purpose: Purpose, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(purpose, text.as_bytes()).finalize().into_bytes())
    }

    /// Bytes that nobody can compute without the key.
    pub(crate) fn derive(&self, purpose: Purpose, text: &str) -> [u8; KEY_BYTES] {
        self.seal(purpose, text.as_bytes())
    }

    /// Bytes that show who has the key that these others come from it.
    pub(crate) fn seal(&self, purpose: Purpose, payload: &[u8]) -> [u8; KEY_BYTES] {
        self.mac(purpose, payload).finalize().into_bytes().into()
    }

    /// Whether they do. Takes the same time wherever they differ.
    pub(crate) fn is_sealed(&self, purpose: Purpose, payload: &[u8], seal: &[u8]) -> bool {
        self.mac(purpose, payload).verify_slice(seal).is_ok()
    }

    fn mac(&self, purpose: Purpose, payload: &[u8]) -> Hmac<Sha256> {
        self.keyed.clone().chain_update(purpose.label()).chain_update(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::new(&[7; KEY_BYTES])
    }

    #[test]
    fn what_was_signed_reads_back() {
        let text = signer().sign(Purpose::Guest, b"payload");
        assert_eq!(signer().verify(Purpose::Guest, &text).as_deref(), Some(&b"payload"[..]));
    }

    #[test]
    fn a_text_is_good_for_its_purpose_and_key_only() {
        let text = signer().sign(Purpose::Guest, b"payload");
        assert_eq!(signer().verify(Purpose::Session, &text), None);
        assert_eq!(Signer::new(&[8; KEY_BYTES]).verify(Purpose::Guest, &text), None);
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let text = signer().sign(Purpose::Session, b"0123456789");
        for index in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(signer().verify(Purpose::Session, &changed), None, "{changed}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", ".", "a", "a.b", "....", "%.%", "ä.ä", &"a".repeat(2_000)] {
            assert_eq!(signer().verify(Purpose::Guest, text), None, "{text}");
        }
    }
}
