//! One of several equal parts of a work, so that any batch system can spread it over machines. Pure.
//!
//! Parts are disjoint and together they are the whole: who does them all and joins what came of them has what a run
//! without parts gives.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Parts at most: far more than any batch system starts, so that a number typed twice is noticed.
pub const PARTS_MAX: u32 = 1_000_000;

/// A part by its number, from 1, and how many there are. Prints as `3/8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// How many of so many pieces are in this part.
    pub fn count(self, pieces: u64) -> u64 {
        let of = u64::from(self.of);
        pieces / of + u64::from(u64::from(self.number) <= pieces % of)
    }

    /// Whether a piece of the work is in this part, by its place among all pieces from 0: each part has every `of`-th
    /// piece, so that none has only the hard ones.
    pub fn has(self, place: u64) -> bool {
        place % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// The pieces of this part where what came of the parts is put together one behind the other.
    ///
    /// # Panics
    ///
    /// Never: no part ends behind the last piece.
    pub fn range(self, pieces: usize) -> Range<usize> {
        let end = |number: u32| {
            let end = pieces as u128 * u128::from(number) / u128::from(self.of);
            usize::try_from(end).expect("no part ends behind the last piece")
        };
        end(self.number - 1)..end(self.number)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

/// A text names no part.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is no part such as 3/8: a number from 1 to that of all parts, which is at most {PARTS_MAX}"
)]
pub struct ShardError {
    text: String,
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let read = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| is_number)
        };
        let parts = text.split_once('/').and_then(|(number, of)| Some((read(number)?, read(of)?)));
        match parts {
            Some((number, of)) if number >= 1 && number <= of && of <= PARTS_MAX => Ok(Self { number, of }),
            _ => Err(ShardError { text: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

/// Why parts are not a whole.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PartsError {
    #[error("there is nothing to join")]
    Nothing,
    #[error("it is no part: it was not made with --shard")]
    Whole,
    #[error("it is part {found} where others are of {of}")]
    OtherCount { found: Shard, of: u32 },
    #[error("part {0} is there twice")]
    Twice(Shard),
    #[error("part {0} is missing")]
    Missing(Shard),
}

/// Whether these are all parts of one whole, each once; names the place of the one at fault, if it is one's.
///
/// # Errors
///
/// They are not.
pub fn check_complete(parts: &[Option<Shard>]) -> Result<(), (Option<usize>, PartsError)> {
    let Some(first) = parts.first() else { return Err((None, PartsError::Nothing)) };
    let of = first.ok_or((Some(0), PartsError::Whole))?.of;
    let mut seen = BTreeSet::new();
    for (place, part) in parts.iter().enumerate() {
        let found = part.ok_or((Some(place), PartsError::Whole))?;
        if found.of != of {
            return Err((Some(place), PartsError::OtherCount { found, of }));
        }
        if !seen.insert(found.number) {
            return Err((Some(place), PartsError::Twice(found)));
        }
    }
    match (1..=of).find(|number| !seen.contains(number)) {
        Some(number) => Err((None, PartsError::Missing(Shard { number, of }))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_make_the_whole() {
        for of in [1_u32, 2, 3, 7, 40] {
            let parts: Vec<Shard> = (1..=of).map(|number| Shard { number, of }).collect();
            for pieces in [0_usize, 1, 5, 39, 40, 1000] {
                let joined: Vec<usize> = parts.iter().flat_map(|part| part.range(pieces)).collect();
                assert_eq!(joined, (0..pieces).collect::<Vec<_>>(), "{pieces} in {of}");
            }
            for pieces in 0..50 {
                let counts: Vec<u64> = parts.iter().map(|part| part.count(pieces)).collect();
                let found = |part: &Shard| (0..pieces).filter(|&place| part.has(place)).count() as u64;
                assert_eq!(counts, parts.iter().map(found).collect::<Vec<_>>());
            }
            for place in 0..1000 {
                assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1, "{place} of {of}");
            }
        }
        let last = Shard { number: PARTS_MAX, of: PARTS_MAX };
        assert_eq!(last.range(usize::MAX).end, usize::MAX);
    }

    #[test]
    fn parts_are_a_whole_only_together() {
        let check = |parts: &[&str]| {
            let parts: Vec<Option<Shard>> = parts.iter().map(|part| part.parse().ok()).collect();
            check_complete(&parts).map_err(|(place, error)| (place, error.to_string()))
        };
        assert_eq!(check(&["2/2", "1/2"]), Ok(()));
        for (parts, place, message) in [
            (&[][..], None, "there is nothing to join"),
            (&["1/3", "3/3"], None, "part 2/3 is missing"),
            (&["1/2", "1/2"], Some(1), "part 1/2 is there twice"),
            (&["1/2", "2/3"], Some(1), "it is part 2/3 where others are of 2"),
            (&["1/2", "none"], Some(1), "it is no part: it was not made with --shard"),
        ] {
            assert_eq!(check(parts), Err((place, message.to_owned())));
        }
    }

    #[test]
    fn parts_are_read_as_they_are_printed() {
        for text in ["1/1", "3/8", "1000000/1000000"] {
            assert_eq!(text.parse::<Shard>().map(|part| part.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "1",
            "/",
            "0/4",
            "5/4",
            "1/0",
            "+1/2",
            "1/ 2",
            "1/1000001",
            "1/2/3",
            "a/b",
            "4294967297/4294967298",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
