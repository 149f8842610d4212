//! `[[seasons]]`: spans of days whose games are ranked by themselves.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use fourfold_engine::{Variant, VariantError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tournaments::check_tournament_name;
use super::value::serde_as_text;
use crate::model::time::Day;

/// Seasons at most: each is a fit of its own, and ten years of quarters are forty.
const SEASONS_MAX: usize = 100;

serde_as_text!(Day);

/// All seasons of the configuration.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeasonConfigs(pub Vec<SeasonConfig>);

/// One season. Seasons may overlap: a year and its quarters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeasonConfig {
    /// What it is called; no two share a name.
    pub(crate) name: String,
    /// The day on which it begins.
    pub(crate) start: Day,
    /// The last day that belongs to it.
    pub(crate) end: Day,
    /// The board that it is played on.
    #[serde(default)]
    pub(crate) variant: SeasonBoard,
}

/// A board as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SeasonBoard(pub(crate) Variant);

impl FromStr for SeasonBoard {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for SeasonBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

serde_as_text!(SeasonBoard);

impl SeasonConfigs {
    /// Whether they can be held.
    ///
    /// # Errors
    ///
    /// What is wrong with which of them, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.0.len() > SEASONS_MAX {
            return Err(format!("{} are too many, {SEASONS_MAX} are the most", self.0.len()));
        }
        let mut names = HashSet::new();
        for SeasonConfig { name, start, end, variant: _ } in &self.0 {
            check_tournament_name(name)?;
            if end < start {
                return Err(format!("`{name}` ends on {end}, before it starts on {start}"));
            }
            if !names.insert(name.to_lowercase()) {
                return Err(format!("two seasons are called `{name}`"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(seasons: &[[&str; 3]]) -> Result<SeasonConfigs, String> {
        #[derive(Deserialize)]
        struct File {
            seasons: SeasonConfigs,
        }
        let table = |[name, start, end]: &[&str; 3]| {
            format!("[[seasons]]\nname = \"{name}\"\nstart = \"{start}\"\nend = \"{end}\"\n")
        };
        let text: String = seasons.iter().map(table).collect();
        let file: File = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
        file.seasons.check().map(|()| file.seasons)
    }

    #[test]
    fn a_season_has_a_name_of_its_own_and_days_in_order() {
        let good = read(&[["Spring", "2026-03-01", "2026-05-31"], ["A day", "2026-04-01", "2026-04-01"]]);
        assert_eq!(good.unwrap().0[1].variant, SeasonBoard(Variant::STANDARD));
        for (seasons, expected) in [
            (vec![["Spring", "2026-05-31", "2026-03-01"]], "before it starts"),
            (vec![["Spring", "2026-03-01", "2026-02-30"]], "is no day"),
            (vec![["", "2026-03-01", "2026-03-02"]], "1 to 60"),
            (vec![["One", "2026-03-01", "2026-03-02"], ["ONE", "2026-04-01", "2026-04-02"]], "two seasons"),
            (vec![["One", "2026-03-01", "2026-03-02"]; SEASONS_MAX + 1], "too many"),
        ] {
            let error = read(&seasons).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
