//! Words by which operators let people register where not everybody may.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, RngExt};
use thiserror::Error;

/// Capitals and digits that nobody confuses when a slip of paper is read.
const ALPHABET: &[u8; 30] = b"ABCDEFGHJKMNPQRSTVWXYZ23456789";

/// Groups of four characters in a code that is drawn: 30^12 is 5 x 10^17, so nobody guesses one.
const GROUPS: usize = 3;

const GROUP_LENGTH: usize = 4;

/// Shortest code that an operator may choose: a class has to type it.
const LENGTH_MIN: usize = 6;

const LENGTH_MAX: usize = 32;

/// So many capitals and digits, drawn.
pub(super) fn letters(count: usize, rng: &mut impl Rng) -> String {
    (0..count).map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())])).collect()
}

/// Text that is no code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("a code has {LENGTH_MIN} to {LENGTH_MAX} letters, digits and `-`")]
pub struct InvalidCode;

/// A code of an invitation, in capitals: small letters are the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InvitationCode(Box<str>);

impl InvitationCode {
    /// Draws a fresh one, such as `7KQ2-MXYA-9BTC`.
    pub(crate) fn random(rng: &mut impl Rng) -> Self {
        let groups: Vec<String> = (0..GROUPS).map(|_| letters(GROUP_LENGTH, rng)).collect();
        Self(groups.join("-").into())
    }

    /// As it is kept and shown.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InvitationCode {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        let text = text.trim();
        let is_one = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if is_one { Ok(Self(text.to_ascii_uppercase().into())) } else { Err(InvalidCode) }
    }
}

impl fmt::Display for InvitationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    use super::*;

    #[test]
    fn a_code_that_is_drawn_is_read_back_in_small_letters_too() {
        let code = InvitationCode::random(&mut SmallRng::seed_from_u64(1));
        assert_eq!(code.as_str().len(), 14);
        assert_eq!(format!(" {} ", code.as_str().to_lowercase()).parse(), Ok(code));
    }

    #[test]
    fn what_cannot_stand_on_a_slip_is_no_code() {
        for text in ["", "SHORT", "with space", "zwölf-zwölf", "a/b/c/d", &"A".repeat(33)] {
            assert_eq!(text.parse::<InvitationCode>(), Err(InvalidCode), "{text}");
        }
        assert_eq!("class-7b".parse::<InvitationCode>().unwrap().as_str(), "CLASS-7B");
    }
}
