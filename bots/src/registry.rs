//! The one table of house bots: name, character, settings, constructor.

use fourfold_engine::Variant;

use crate::bot::{Bot, BotError};
use crate::random::Random;
use crate::setting::{Setting, SettingKind, Settings};
use crate::spec::BotSpec;

/// A house bot as the table knows it.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    /// How it plays, in one word.
    pub style: &'static str,
    /// How it plays, in one line.
    pub about: &'static str,
    pub settings: &'static [Setting],
    build: Constructor,
}

/// Builds the bot with checked settings, or refuses the variant.
type Constructor = fn(&Settings<'_>, Variant) -> Result<Box<dyn Bot>, BotError>;

/// `seed=`, for every bot that draws.
const SEED: Setting = Setting {
    name: "seed",
    about: "seed of its random choices; equal seeds choose alike in equal positions",
    kind: SettingKind::Integer { default: Some(0), min: 0, max: u64::MAX },
};

/// Ordered roughly from weak to strong.
static ENTRIES: [Entry; 1] = [Entry {
    name: "random",
    style: "erratic",
    about: "plays any legal column, all equally likely; the zero of every scale",
    settings: &[SEED],
    build: |settings, _| Ok(Box::new(Random::new(settings.integer("seed")))),
}];

/// All house bots, roughly from weak to strong.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The entry of this name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Builds a bot for games of `variant`.
///
/// # Errors
///
/// Fails if there is no such bot or setting, a value is not allowed, or the bot does not play the variant.
pub fn build(spec: &BotSpec, variant: Variant) -> Result<Box<dyn Bot>, BotError> {
    let entry = entry(spec.name()).ok_or_else(|| unknown_bot(spec.name()))?;
    let settings = Settings::check(entry, spec)?;
    (entry.build)(&settings, variant)
}

impl BotSpec {
    /// The same bot with this seed, if it draws and was not given a seed already. For runners that want each game
    /// different and yet repeatable.
    #[must_use]
    pub fn with_default_seed(self, seed: u64) -> Self {
        let draws = entry(self.name()).is_some_and(|entry| entry.settings.contains(&SEED));
        if draws && self.value(SEED.name).is_none() { self.with(SEED.name, seed) } else { self }
    }
}

fn unknown_bot(name: &str) -> BotError {
    let names = ENTRIES.iter().map(|entry| entry.name);
    let nearest = names.min_by_key(|known| edit_distance(name, known)).expect("there are bots");
    BotError::UnknownBot { name: name.to_owned(), nearest }
}

/// Number of letters to insert, delete or replace to turn one word into the other (Levenshtein).
fn edit_distance(from: &str, to: &str) -> usize {
    // Row by row: `row[j]` is the distance from the letters seen so far to the first j letters of `to`.
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(spec: &str, message: &str) {
        let error = spec.parse().and_then(|spec| build(&spec, Variant::STANDARD)).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn every_bot_can_be_built_with_its_defaults_spelled_out() {
        for entry in entries() {
            let with_default = |spec: BotSpec, setting: &Setting| match setting.kind.default_value() {
                Some(value) => spec.with(setting.name, value),
                None => spec,
            };
            let spec = entry.settings.iter().fold(BotSpec::new(entry.name), with_default);
            assert!(build(&spec, Variant::STANDARD).is_ok(), "{spec}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        check_refused("randon", "no bot is called `randon`; did you mean `random`?");
        check_refused("random:deep=1", "random has no setting `deep`; it has seed");
        check_refused(
            "random:seed=-1",
            "random: seed cannot be `-1`: a whole number from 0 to 18446744073709551615",
        );
        check_refused("random:seed=1,seed=2", "random: setting `seed` is given twice");
    }

    #[test]
    fn runners_seed_only_what_draws_and_is_unseeded() {
        let seeded = |text: &str| text.parse::<BotSpec>().unwrap().with_default_seed(5).to_string();
        assert_eq!(seeded("random"), "random:seed=5");
        assert_eq!(seeded("random:seed=1"), "random:seed=1");
        assert_eq!(seeded("nobody"), "nobody");
    }

    #[test]
    fn distances_count_single_letter_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
    }
}
