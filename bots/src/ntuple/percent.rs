//! Shares in whole percent, as people set them.

use std::fmt;
use std::str::FromStr;

/// A share in whole percent, 0 to 100.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Percent(u8);

/// Why a text is no [`Percent`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a share is a whole number of percent from 0 to 100")]
pub struct PercentError;

impl Percent {
    pub const ZERO: Self = Self(0);

    /// What nobody can set, to see that it is not read either.
    #[cfg(test)]
    pub(super) const BROKEN: Self = Self(101);

    /// This many percent; `None` above 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The same for constants: with more than 100 the program cannot be built.
    pub(super) const fn of(percent: u8) -> Self {
        Self::new(percent).expect("at most 100")
    }

    /// From 0 to 100.
    pub(super) fn number(self) -> u8 {
        self.0
    }

    /// From 0 to 1.
    pub(super) fn share(self) -> f32 {
        f32::from(self.0) / 100.0
    }
}

impl FromStr for Percent {
    type Err = PercentError;

    fn from_str(text: &str) -> Result<Self, PercentError> {
        text.parse().ok().and_then(Self::new).ok_or(PercentError)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_printed() {
        for text in ["0", "7", "100"] {
            assert_eq!(text.parse::<Percent>().unwrap().to_string(), text);
        }
        for text in ["", "101", "-1", "0.7", "300", "ten"] {
            assert_eq!(text.parse::<Percent>(), Err(PercentError), "{text}");
        }
    }
}
