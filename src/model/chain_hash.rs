//! The hash by which finished games are chained: what it is made of is in `storage::chain`.

use std::fmt;
use std::str::FromStr;

/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// The hash of a finished game, in hexadecimal digits. The default is what the first game stands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChainHash(String);

impl Default for ChainHash {
    fn default() -> Self {
        Self("0".repeat(DIGITS))
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InvalidChainHash;

impl FromStr for ChainHash {
    type Err = InvalidChainHash;

    fn from_str(text: &str) -> Result<Self, InvalidChainHash> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = text.len() == DIGITS && text.as_bytes().iter().all(is_digit);
        if is_hash { Ok(Self(text.to_owned())) } else { Err(InvalidChainHash) }
    }
}

impl ChainHash {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_are_read_as_such() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(hash.parse::<ChainHash>().map(|hash| hash.to_string()), Ok(hash.clone()));
        for text in ["", "0", &hash.to_uppercase(), &format!("{hash}0"), &hash.replace('f', "g")] {
            assert_eq!(text.parse::<ChainHash>(), Err(InvalidChainHash));
        }
    }
}
