//! Names that are written differently and look alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// Shortest word that names may be kept from having in them: a shorter one stands in half of all names.
const WORD_MIN: usize = 3;

/// Longest, as names.
const WORD_MAX: usize = 20;

/// What is left of a name for whoever reads it in passing: in small letters, with one letter for all that look alike,
/// `l`, `1` and `i` (which is `I`), `o` and `0`, `_` and `-`. Two names with the same outline are taken for each
/// other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Outline(String);

impl Outline {
    /// Letters that look like another one, and that one. Stores compute the same for the names that they have.
    pub(crate) const ALIKE: [(char, char); 4] = [('1', 'l'), ('i', 'l'), ('0', 'o'), ('_', '-')];

    /// Of a name, or a part of one.
    pub(crate) fn of(text: &str) -> Self {
        let alike = |c: char| Self::ALIKE.iter().find(|(one, _)| *one == c).map_or(c, |(_, other)| *other);
        Self(text.chars().map(|c| alike(c.to_ascii_lowercase())).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The letters alone: nobody hides a word behind a line.
    fn letters(&self) -> String {
        self.0.replace('-', "")
    }
}

/// A word that no name may have in it, also if it is written with letters that look alike or lines between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForbiddenWord(String);

/// Text that is no such word.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is no word of {WORD_MIN} to {WORD_MAX} letters a to z and digits")]
pub struct InvalidWord(String);

impl ForbiddenWord {
    /// Whether it is in a name.
    pub(crate) fn is_in(&self, name: &Outline) -> bool {
        name.letters().contains(Outline::of(&self.0).as_str())
    }
}

impl FromStr for ForbiddenWord {
    type Err = InvalidWord;

    fn from_str(text: &str) -> Result<Self, InvalidWord> {
        let is_word = (WORD_MIN..=WORD_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_word { Ok(Self(text.to_owned())) } else { Err(InvalidWord(text.to_owned())) }
    }
}

impl fmt::Display for ForbiddenWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ForbiddenWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ForbiddenWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_outline() {
        for (one, other) in [("Ilona", "llona"), ("Ilona", "1L0NA"), ("my_bot", "my-bot"), ("b0b", "BOB")] {
            assert_eq!(Outline::of(one), Outline::of(other), "{one} {other}");
        }
        for (one, other) in [("ada", "adam"), ("my_bot", "mybot"), ("b8b", "bbb"), ("seven", "5even")] {
            assert_ne!(Outline::of(one), Outline::of(other), "{one} {other}");
        }
    }

    #[test]
    fn a_forbidden_word_is_found_however_it_is_written() {
        let word: ForbiddenWord = "Idiot".parse().unwrap();
        for name in ["idiot", "an-1D10T", "i_d-i_o-t", "Bigldiot99"] {
            assert!(word.is_in(&Outline::of(name)), "{name}");
        }
        for name in ["ada", "idio", "idiom"] {
            assert!(!word.is_in(&Outline::of(name)), "{name}");
        }
        for bad in ["", "ab", "with space", "ü-wort", &"x".repeat(21)] {
            assert!(bad.parse::<ForbiddenWord>().is_err(), "{bad}");
        }
    }
}
