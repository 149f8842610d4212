//! What a browser alone can read: a message encrypted for its subscription (RFC 8291), in one record of the content
//! coding `aes128gcm` (RFC 8188).
//!
//! `ring` draws the key of each message, which nothing of the arena follows from and which is gone when it is
//! encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use rand::Rng as _;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::SystemRandom;
use thiserror::Error;

use crate::model::world::chance;

/// Bytes of a point of P-256, not compressed.
const POINT_BYTES: usize = 65;

/// Bytes of the secret that a browser gives along with its key.
const AUTH_BYTES: usize = 16;

/// Bytes of the salt of a message.
const SALT_BYTES: usize = 16;

/// Bytes of the key of AES-128.
const KEY_BYTES: usize = 16;

/// Bytes that a message says its records have: all fits into one, which may be shorter.
const RECORD_BYTES: u32 = 4_096;

/// Ends the text of the last record.
const LAST: u8 = 2;

/// Bytes of a text that is encrypted: push services take bodies of 4096 bytes, with what encryption adds to them.
pub(super) const TEXT_BYTES_MAX: usize = 3 << 10;

/// What a subscription says of how to encrypt for it.
#[derive(Clone, Debug)]
pub(super) struct BrowserKey {
    point: [u8; POINT_BYTES],
    auth: [u8; AUTH_BYTES],
}

/// Texts that are no keys of a browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("must be `p256dh` and `auth` of a browser's subscription, as base64url")]
pub(crate) struct InvalidBrowserKey;

/// Why a text was not encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum EncryptError {
    #[error("the text has more than {TEXT_BYTES_MAX} bytes")]
    TooLong,
    #[error("the key is no point of the curve, or there are no random numbers")]
    Key,
}

impl BrowserKey {
    /// Reads the texts of a subscription; some browsers pad them.
    ///
    /// # Errors
    ///
    /// They are none. Whether the key is a point of the curve is seen by encrypting for it.
    pub(super) fn read(p256dh: &str, auth: &str) -> Result<Self, InvalidBrowserKey> {
        Ok(Self { point: bytes(p256dh)?, auth: bytes(auth)? })
    }

    /// Encrypts a text.
    ///
    /// # Errors
    ///
    /// It is too long, or the key is none.
    pub(super) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, EncryptError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(EncryptError::TooLong);
        }
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new());
        let own = own.map_err(|_| EncryptError::Key)?;
        let own_point = own.compute_public_key().map_err(|_| EncryptError::Key)?;
        let own_point: [u8; POINT_BYTES] = own_point.as_ref().try_into().map_err(|_| EncryptError::Key)?;
        let mut salt = [0; SALT_BYTES];
        chance().fill_bytes(&mut salt);
        let browser = UnparsedPublicKey::new(&ECDH_P256, self.point);
        agree_ephemeral(own, &browser, |agreed| {
            let secret = Shared { agreed, own_point: &own_point, salt: &salt };
            self.sealed(&secret, text)
        })
        .map_err(|_| EncryptError::Key)
    }

    fn sealed(&self, secret: &Shared<'_>, text: &[u8]) -> Vec<u8> {
        let (key, nonce) = secret.keys(self);
        let mut sealed = [text, &[LAST]].concat();
        let key = UnboundKey::new(&AES_128_GCM, &key).expect("a key of sixteen bytes is one of AES-128");
        LessSafeKey::new(key)
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .expect("a text of some kilobytes can be sealed");
        let point_bytes = u8::try_from(POINT_BYTES).unwrap_or(u8::MAX);
        [&secret.salt[..], &RECORD_BYTES.to_be_bytes(), &[point_bytes], secret.own_point, &sealed].concat()
    }
}

/// What both sides of a message know, and how it was drawn.
#[derive(Clone, Copy)]
struct Shared<'s> {
    /// What came of the two keys.
    agreed: &'s [u8],
    /// The public key of the message.
    own_point: &'s [u8; POINT_BYTES],
    salt: &'s [u8; SALT_BYTES],
}

impl Shared<'_> {
    /// The key and the nonce of the record.
    fn keys(&self, browser: &BrowserKey) -> ([u8; KEY_BYTES], [u8; NONCE_LEN]) {
        let combined = Salt::new(HKDF_SHA256, &browser.auth).extract(self.agreed);
        let input: [u8; 32] = expand(&combined, &[b"WebPush: info\0", &browser.point, self.own_point]);
        let key = Salt::new(HKDF_SHA256, self.salt).extract(&input);
        (expand(&key, &[b"Content-Encoding: aes128gcm\0"]), expand(&key, &[b"Content-Encoding: nonce\0"]))
    }
}

/// How many bytes are wanted.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const BYTES: usize>(key: &Prk, info: &[&[u8]]) -> [u8; BYTES] {
    let mut out = [0; BYTES];
    let expanded = key.expand(info, Length(BYTES)).and_then(|expanded| expanded.fill(&mut out));
    expanded.expect("HKDF gives up to 255 times the bytes of its hash");
    out
}

fn bytes<const BYTES: usize>(text: &str) -> Result<[u8; BYTES], InvalidBrowserKey> {
    let decoded = URL_SAFE_NO_PAD.decode(text).or_else(|_| URL_SAFE.decode(text));
    decoded.ok().and_then(|bytes| bytes.try_into().ok()).ok_or(InvalidBrowserKey)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A browser that reads one message, as RFC 8291 describes it.
    pub(in crate::operations::push) struct Browser {
        key: EphemeralPrivateKey,
        pub(in crate::operations::push) p256dh: String,
        pub(in crate::operations::push) auth: String,
    }

    impl Browser {
        pub(in crate::operations::push) fn new() -> Self {
            let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
            let p256dh = URL_SAFE_NO_PAD.encode(key.compute_public_key().unwrap());
            Self { key, p256dh, auth: URL_SAFE_NO_PAD.encode([7; AUTH_BYTES]) }
        }

        pub(in crate::operations::push) fn read(self, body: &[u8]) -> Vec<u8> {
            let (salt, rest) = body.split_first_chunk::<SALT_BYTES>().unwrap();
            let (size, rest) = rest.split_first_chunk::<4>().unwrap();
            let (length, rest) = rest.split_first().unwrap();
            let (own_point, record) = rest.split_first_chunk::<POINT_BYTES>().unwrap();
            assert_eq!((u32::from_be_bytes(*size), *length), (RECORD_BYTES, 65));
            let own = BrowserKey::read(&self.p256dh, &self.auth).unwrap();
            let sender = UnparsedPublicKey::new(&ECDH_P256, own_point);
            let agreed = agree_ephemeral(self.key, &sender, <[u8]>::to_vec).unwrap();
            let (key, nonce) = Shared { agreed: &agreed, own_point, salt }.keys(&own);
            let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
            let mut record = record.to_vec();
            let nonce = Nonce::assume_unique_for_key(nonce);
            let text = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
            let (last, text) = text.split_last().unwrap();
            assert_eq!(*last, LAST);
            text.to_vec()
        }
    }

    #[test]
    fn the_example_of_the_standard_comes_out() {
        // RFC 8291, appendix A, from what the two keys give on.
        let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        let own = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY\
             WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Q\
             ulcy4a-fN";
        let browser = BrowserKey::read(point, "BTBZMqHH6r4Tts7J_aSIgg").unwrap();
        let agreed: [u8; 32] = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs").unwrap();
        let (own_point, salt) = (bytes(own).unwrap(), bytes("DGv6ra1nlYgDCS1FRnbzlw").unwrap());
        let secret = Shared { agreed: &agreed, own_point: &own_point, salt: &salt };
        let body = browser.sealed(&secret, b"When I grow up, I want to be a watermelon");
        assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn a_browser_reads_what_was_encrypted_for_it_and_no_two_messages_are_alike() {
        let (one, other) = (Browser::new(), Browser::new());
        let key = BrowserKey::read(&one.p256dh, &format!("{}==", one.auth)).unwrap();
        let longest = vec![b'x'; TEXT_BYTES_MAX];
        let (body, again) = (key.encrypt(&longest).unwrap(), key.encrypt(&longest).unwrap());
        assert_ne!(body, again);
        assert!(body.len() <= 4_096, "{}", body.len());
        assert_eq!(one.read(&body), longest);
        let key = BrowserKey::read(&other.p256dh, &other.auth).unwrap();
        assert_eq!(other.read(&key.encrypt(b"").unwrap()), b"");
        assert_eq!(key.encrypt(&vec![0; TEXT_BYTES_MAX + 1]), Err(EncryptError::TooLong));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let browser = Browser::new();
        for (p256dh, auth) in [
            ("", browser.auth.as_str()),
            ("~", &browser.auth),
            (&browser.p256dh[4..], &browser.auth),
            (&browser.p256dh, ""),
            (&browser.p256dh, "AAAA"),
        ] {
            assert_eq!(BrowserKey::read(p256dh, auth).unwrap_err(), InvalidBrowserKey, "{p256dh} {auth}");
        }
        let nowhere = URL_SAFE_NO_PAD.encode([4; POINT_BYTES]);
        let key = BrowserKey::read(&nowhere, &browser.auth).unwrap();
        assert_eq!(key.encrypt(b"x"), Err(EncryptError::Key), "no point of the curve");
    }
}
