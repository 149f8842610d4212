//! Codes of six digits that an app on a phone shows, one every 30 seconds: RFC 6238, with SHA-1, as all apps have it.

use std::fmt;

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use super::time::UnixMillis;

/// Bytes of the key: the size of the hash, as RFC 4226 asks for.
pub(crate) const KEY_BYTES: usize = 20;

/// For so long there is one code.
const STEP_MS: i64 = 30_000;

/// Codes have six digits.
const MODULUS: u32 = 1_000_000;

/// How far the clock of a phone may be off, in steps: the code before and the one after are right too.
const TOLERANCE: u64 = 1;

/// What app and arena share.
#[derive(Clone)]
pub(crate) struct Totp {
    key: [u8; KEY_BYTES],
}

impl fmt::Debug for Totp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Totp").finish_non_exhaustive()
    }
}

impl Totp {
    pub(crate) fn new(key: [u8; KEY_BYTES]) -> Self {
        Self { key }
    }

    /// The key as people type it who cannot read the picture.
    pub(crate) fn secret(&self) -> String {
        BASE32_NOPAD.encode(&self.key)
    }

    /// What apps read from a picture: whose account where, and the key.
    pub(crate) fn address(&self, account: &str) -> String {
        let account = utf8_percent_encode(account, NON_ALPHANUMERIC);
        format!("otpauth://totp/Fourfold:{account}?secret={}&issuer=Fourfold", self.secret())
    }

    /// The time step of a code that is right now, if it is one behind those that were used already.
    pub(crate) fn accepts(&self, code: &str, now: UnixMillis, used: u64) -> Option<u64> {
        let step = step_of(now);
        let right = |step: &u64| bool::from(self.code(*step).as_bytes().ct_eq(code.as_bytes()));
        (step.saturating_sub(TOLERANCE)..=step + TOLERANCE).filter(|step| *step > used).find(right)
    }

    /// The code of a time step.
    pub(crate) fn code(&self, step: u64) -> String {
        let mac = Hmac::<Sha1>::new_from_slice(&self.key).expect("HMAC takes keys of every length");
        let hash = mac.chain_update(step.to_be_bytes()).finalize().into_bytes();
        let start = usize::from(hash[hash.len() - 1] & 0xf);
        let number = hash[start..start + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        format!("{:06}", (number & 0x7fff_ffff) % MODULUS)
    }
}

/// The time step that it is.
pub(crate) fn step_of(now: UnixMillis) -> u64 {
    u64::try_from(now.0 / STEP_MS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: i64) -> UnixMillis {
        UnixMillis(seconds * 1_000)
    }

    fn totp() -> Totp {
        Totp::new(*b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        for (time, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(totp().code(step_of(seconds(time))), code, "{time}");
        }
    }

    #[test]
    fn a_code_is_right_around_its_time_and_once() {
        let code = totp().code(100);
        let accepts = |now: i64, used| totp().accepts(&code, seconds(now), used);
        assert_eq!(accepts(100 * 30, 0), Some(100));
        assert_eq!(accepts(100 * 30 - 30, 99), Some(100), "the phone is ahead");
        assert_eq!(accepts(102 * 30 - 1, 0), Some(100), "the phone is behind");
        assert_eq!(accepts(102 * 30, 0), None);
        assert_eq!(accepts(99 * 30 - 1, 0), None);
        assert_eq!(accepts(100 * 30, 100), None, "it was used");
        assert_eq!(accepts(100 * 30, 101), None, "a later one was used");
    }

    #[test]
    fn what_is_no_code_is_not_right() {
        let now = seconds(3_000);
        for wrong in ["", "0", "12345", "1234567", "abcdef", "٠٠٠٠٠٠", "000000\0"] {
            assert_eq!(totp().accepts(wrong, now, 0), None, "{wrong}");
        }
        assert!(totp().accepts("x", UnixMillis(i64::MIN), 0).is_none());
        assert!(totp().accepts("x", UnixMillis(i64::MAX), 0).is_none());
    }

    #[test]
    fn apps_read_whose_key_it_is() {
        let address = totp().address("ada-1");
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        assert_eq!(address, format!("otpauth://totp/Fourfold:ada%2D1?secret={secret}&issuer=Fourfold"));
        assert_eq!(format!("{:?}", totp()), "Totp { .. }");
    }
}
