//! Whole numbers with a range: reading one is checking it, so whoever computes with one knows how large it can be.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// A text that is no whole number of the range.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("a whole number from {min} to {max} is needed, this is `{text}`")]
pub struct OutOfRange {
    /// Cut: whoever wrote it knows how it goes on.
    text: String,
    min: i128,
    max: i128,
}

/// Characters of a refused text that are repeated.
const SHOWN_MAX: usize = 24;

/// What is wrong with a field of an object that was read whole: a rule between several fields. Whoever tells a client
/// which field it is takes it apart again.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("field `{field}`: {words}")]
pub(crate) struct OfField {
    field: &'static str,
    words: String,
}

impl OfField {
    pub(crate) fn new(field: &'static str, words: &impl fmt::Display) -> Self {
        Self { field, words: words.to_string() }
    }

    /// The field and what is wrong with it, from the text of such an error.
    pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
        text.strip_prefix("field `")?.split_once("`: ")
    }
}

/// Declares a number from `MIN` to `MAX` that is kept as a `$repr`.
macro_rules! bounded {
    ($(#[$about:meta])* $name:ident, $repr:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(transparent)]
        pub struct $name<const MIN: $repr, const MAX: $repr>($repr);

        impl<const MIN: $repr, const MAX: $repr> $name<MIN, MAX> {
            /// A number that the program itself gives.
            ///
            /// # Panics
            ///
            /// Panics if it is out of range: the program's own numbers are not.
            pub const fn new(number: $repr) -> Self {
                assert!(MIN <= number && number <= MAX, "out of range");
                Self(number)
            }

            /// The number, if it is in the range.
            pub(crate) fn checked(number: impl TryInto<$repr>) -> Option<Self> {
                number.try_into().ok().filter(|number| (MIN..=MAX).contains(number)).map(Self)
            }
        }

        impl<const MIN: $repr, const MAX: $repr> Default for $name<MIN, MAX> {
            fn default() -> Self {
                Self(MIN)
            }
        }

        impl<const MIN: $repr, const MAX: $repr> fmt::Display for $name<MIN, MAX> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// Reads digits, as they stand in an address or in a setting.
        impl<const MIN: $repr, const MAX: $repr> FromStr for $name<MIN, MAX> {
            type Err = OutOfRange;

            fn from_str(text: &str) -> Result<Self, OutOfRange> {
                text.parse::<$repr>().ok().and_then(Self::checked).ok_or_else(|| OutOfRange {
                    text: text.chars().take(SHOWN_MAX).collect(),
                    min: MIN.into(),
                    max: MAX.into(),
                })
            }
        }

        impl<'de, const MIN: $repr, const MAX: $repr> Deserialize<'de> for $name<MIN, MAX> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader<const MIN: $repr, const MAX: $repr>;

                impl<const MIN: $repr, const MAX: $repr> Visitor<'_> for Reader<MIN, MAX> {
                    type Value = $name<MIN, MAX>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a whole number from {MIN} to {MAX}")
                    }

                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                        $name::checked(number)
                            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
                    }

                    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                        $name::checked(number)
                            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
                    }
                }

                deserializer.deserialize_i64(Reader)
            }
        }

        impl<const MIN: $repr, const MAX: $repr> JsonSchema for $name<MIN, MAX> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                format!("From{MIN}To{MAX}").into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
            }
        }
    };
}

bounded! {
    /// A whole number from `MIN` to `MAX`.
    Bounded, u32
}
bounded! {
    /// A whole number from `MIN` to `MAX` that may be larger than 32 bits.
    BoundedLong, u64
}
bounded! {
    /// A whole number from `MIN` to `MAX` that may be negative.
    BoundedSigned, i32
}

impl<const MIN: u64, const MAX: u64> BoundedLong<MIN, MAX> {
    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

impl<const MIN: i32, const MAX: i32> BoundedSigned<MIN, MAX> {
    pub(crate) const fn number(self) -> i32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    /// The largest one.
    pub(crate) const MOST: Self = Self(MAX);

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The number as a count of things in memory.
    pub(crate) const fn count(self) -> usize {
        self.0 as usize
    }

    /// The number as milliseconds.
    pub(crate) const fn millis(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}
