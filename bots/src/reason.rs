//! What speaks for a move, with how often that was met.

use std::fmt;
use std::str::FromStr;

use fourfold_engine::Column;

/// How often something was met, and how those games ended for the learner's side.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Games, won and lost ones among them.
    pub seen: u32,
    pub won: u32,
    pub lost: u32,
}

/// What speaks for a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub column: Column,
    /// In the learner's own unit; more speaks for the column.
    pub weight: i64,
    /// The name of the pattern that speaks.
    pub pattern: String,
    pub counts: Counts,
}

/// Prints `4 +105 own c1 d1 e1 . (10 8 2)`: column, weight, pattern, and how often it was seen, won and lost.
impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, weight, pattern, counts: Counts { seen, won, lost } } = self;
        write!(formatter, "{} {weight:+} {pattern} ({seen} {won} {lost})", column.number())
    }
}

/// A text that is no [`Reason`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no reason such as `4 +105 own c1 d1 e1 . (10 8 2)`")]
pub struct ReasonError {
    pub text: String,
}

/// Reads what `Display` prints.
impl FromStr for Reason {
    type Err = ReasonError;

    fn from_str(text: &str) -> Result<Self, ReasonError> {
        let parse = || {
            let (column, rest) = text.split_once(' ')?;
            let (weight, rest) = rest.split_once(' ')?;
            let (pattern, counts) = rest.strip_suffix(')')?.rsplit_once(" (")?;
            let mut numbers = counts.split(' ').map(str::parse::<u32>);
            let counts = Counts {
                seen: numbers.next()?.ok()?,
                won: numbers.next()?.ok()?,
                lost: numbers.next()?.ok()?,
            };
            Some(Self {
                column: Column::from_number(column.parse().ok()?)?,
                weight: weight.parse().ok()?,
                pattern: pattern.to_owned(),
                counts: numbers.next().is_none().then_some(counts)?,
            })
        };
        parse().ok_or_else(|| ReasonError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_reason_reads_back() {
        for text in ["4 +105 own c1 d1 e1 . (10 8 2)", "7 -3 tuple 17 (0 0 0)"] {
            assert_eq!(text.parse::<Reason>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "4",
            "4 +1 own",
            "0 +1 own (1 1 1)",
            "4 x own (1 1 1)",
            "4 +1 own (1 1)",
            "4 +1 own (1 1 1 1)",
        ] {
            assert!(text.parse::<Reason>().is_err(), "{text}");
        }
    }
}
