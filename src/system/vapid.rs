//! The key pair by which push services know this arena (RFC 8292, VAPID): the private key signs, browsers name the
//! public one when they subscribe.
//!
//! `ring` signs, and draws its own random numbers for that: no result of the arena follows from them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::error::Unspecified;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use thiserror::Error;

use crate::model::secret::Secret;

/// Bytes of a public key: a point of P-256, not compressed.
const PUBLIC_BYTES: usize = 65;

/// Bytes of a private key: a number below the order of P-256.
const PRIVATE_BYTES: usize = 32;

/// Where that number begins in a key as `ring` writes it, in the form of PKCS#8 (RFC 5958, RFC 5915).
const PRIVATE_AT: usize = 36;

/// A pair of keys, which can sign.
#[derive(Debug)]
pub(crate) struct VapidKey {
    pair: EcdsaKeyPair,
    /// The public key, an uncompressed point as base64url.
    public: String,
}

/// Texts that are no pair of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum InvalidVapidKey {
    #[error("is no public key of `fourfold push-key`: 65 bytes as base64url")]
    Public,
    #[error("is no private key of `fourfold push-key`: 32 bytes as base64url")]
    Private,
    #[error("do not belong together")]
    NoPair,
}

/// A new pair as texts.
#[derive(Debug)]
pub(crate) struct NewVapidKey {
    pub(crate) public: String,
    pub(crate) private: Secret,
}

impl VapidKey {
    /// Reads a pair.
    ///
    /// # Errors
    ///
    /// It is none.
    pub(crate) fn read(public: &str, private: &Secret) -> Result<Self, InvalidVapidKey> {
        let point = URL_SAFE_NO_PAD.decode(public).map_err(|_| InvalidVapidKey::Public)?;
        let number = URL_SAFE_NO_PAD.decode(private.expose()).map_err(|_| InvalidVapidKey::Private)?;
        if number.len() != PRIVATE_BYTES {
            return Err(InvalidVapidKey::Private);
        }
        if point.len() != PUBLIC_BYTES {
            return Err(InvalidVapidKey::Public);
        }
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pair = EcdsaKeyPair::from_private_key_and_public_key(kind, &number, &point, &random);
        let pair = pair.map_err(|_| InvalidVapidKey::NoPair)?;
        Ok(Self { pair, public: public.to_owned() })
    }

    /// Makes a pair.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(crate) fn generate() -> Result<NewVapidKey, Unspecified> {
        let random = SystemRandom::new();
        let form = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, form.as_ref(), &random)
            .map_err(|_| Unspecified)?;
        let number = form.as_ref().get(PRIVATE_AT..PRIVATE_AT + PRIVATE_BYTES).ok_or(Unspecified)?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(NewVapidKey { public, private: Secret::new(URL_SAFE_NO_PAD.encode(number)) })
    }

    /// The public key, as browsers and push services take it.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// A signature as tokens have it (ES256).
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(crate) fn sign(&self, text: &str) -> Result<String, Unspecified> {
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes())?;
        Ok(URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_new_pair_signs_what_its_public_key_verifies() {
        let NewVapidKey { public, private } = VapidKey::generate().unwrap();
        let key = VapidKey::read(&public, &private).unwrap();
        let signature = URL_SAFE_NO_PAD.decode(key.sign("text").unwrap()).unwrap();
        let point = URL_SAFE_NO_PAD.decode(key.public()).unwrap();
        let verifier = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        verifier.verify(b"text", &signature).unwrap();
        verifier.verify(b"other", &signature).unwrap_err();
        assert!(!format!("{key:?}").contains(private.expose()));
    }

    #[test]
    fn what_is_no_pair_is_refused_by_what_is_wrong_with_it() {
        let [one, other] = [VapidKey::generate().unwrap(), VapidKey::generate().unwrap()];
        let read = |public: &str, private: &str| VapidKey::read(public, &Secret::new(private)).unwrap_err();
        assert_eq!(read(&one.public, other.private.expose()), InvalidVapidKey::NoPair);
        assert_eq!(read("", one.private.expose()), InvalidVapidKey::Public);
        assert_eq!(read("~", one.private.expose()), InvalidVapidKey::Public);
        assert_eq!(read(&one.public[2..], one.private.expose()), InvalidVapidKey::Public);
        for private in ["", "~", &one.private.expose()[2..], &one.public] {
            assert_eq!(read(&one.public, private), InvalidVapidKey::Private, "{private}");
        }
    }
}
