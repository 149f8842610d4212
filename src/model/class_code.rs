//! The word on the wall by which pupils find their class.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use thiserror::Error;

use super::invitation;

/// 30^6 is 7 x 10^8, and tries are counted, so nobody comes upon a class by chance; more would be hard to type for a
/// child.
const LENGTH: usize = 6;

/// Text that is no code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the code of a class has {LENGTH} letters and digits, such as the teacher shows")]
pub(crate) struct InvalidClassCode;

/// The code of a class, in capitals: small letters are the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClassCode(Box<str>);

impl ClassCode {
    /// Draws a fresh one, such as `7KQ2MX`.
    pub(crate) fn random(rng: &mut impl Rng) -> Self {
        Self(invitation::letters(LENGTH, rng).into())
    }

    /// As it is shown.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ClassCode {
    type Err = InvalidClassCode;

    fn from_str(text: &str) -> Result<Self, InvalidClassCode> {
        let text = text.trim();
        let is_one = text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_one { Ok(Self(text.to_ascii_uppercase().into())) } else { Err(InvalidClassCode) }
    }
}

impl fmt::Display for ClassCode {
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
    fn a_code_is_read_as_children_type_it() {
        let code = ClassCode::random(&mut SmallRng::seed_from_u64(1));
        assert_eq!(code.to_string().len(), LENGTH);
        assert_eq!(format!(" {} ", code.to_string().to_lowercase()).parse(), Ok(code));
        for text in ["", "ABCDE", "ABCDEFG", "ABC DE", "ABC-DE", "ÄBCDE", "../../"] {
            assert_eq!(text.parse::<ClassCode>(), Err(InvalidClassCode), "{text}");
        }
    }
}
