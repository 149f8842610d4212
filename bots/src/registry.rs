//! The one table of house bots: name, character, settings, constructor.

mod table;

use fourfold_engine::Variant;

use self::table::{ENTRIES, SEED};
use crate::bot::{Bot, BotError};
use crate::c4ai::EvolvedWeights;
use crate::lines69::Parameters;
use crate::memory::Memory;
use crate::ntuple::Look;
use crate::setting::{CheckedSettings, Setting};
use crate::spec::BotSpec;

/// A house bot as the table knows it.
#[derive(Debug)]
pub struct BotEntry {
    pub name: &'static str,
    /// How it plays, in one word.
    pub style: &'static str,
    /// How it plays, in one line.
    pub about: &'static str,
    pub settings: &'static [Setting],
    build: Constructor,
}

/// Builds the bot with checked settings, or refuses the variant.
type Constructor = fn(&CheckedSettings<'_>, Variant) -> Result<Box<dyn Bot>, BotError>;

/// All house bots, roughly from weak to strong.
pub fn entries() -> &'static [BotEntry] {
    &ENTRIES
}

/// The entry of this name.
pub fn entry(name: &str) -> Option<&'static BotEntry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Builds a bot for games of `variant`, with nothing learnt.
///
/// # Errors
///
/// Fails if there is no such bot or setting, a value is not allowed, the bot does not play the variant, or a
/// file is named: its content takes the place of its name, or goes to [`build_taught`] if it is what a bot
/// learns.
pub fn build(spec: &BotSpec, variant: Variant) -> Result<Box<dyn Bot>, BotError> {
    build_with(spec, variant, None)
}

/// Builds a bot for games of `variant` with what it has learnt before: the text that [`Bot::knowledge`] gave, or
/// the content of the file that its settings name. Nothing is nothing learnt yet. Bots that do not learn take no
/// notice of it.
///
/// # Errors
///
/// As for [`build`], and with the reason, and the line of a text, if it makes no sense.
pub fn build_taught(
    spec: &BotSpec,
    variant: Variant,
    knowledge: impl AsRef<[u8]>,
) -> Result<Box<dyn Bot>, BotError> {
    build_with(spec, variant, Some(knowledge.as_ref()))
}

fn build_with(spec: &BotSpec, variant: Variant, knowledge: Option<&[u8]>) -> Result<Box<dyn Bot>, BotError> {
    let settings = settings(spec, knowledge)?;
    let entry = entry(spec.name()).ok_or_else(|| unknown_bot(spec.name()))?;
    (entry.build)(&settings, variant)
}

fn settings<'a>(spec: &'a BotSpec, knowledge: Option<&'a [u8]>) -> Result<CheckedSettings<'a>, BotError> {
    let entry = entry(spec.name()).ok_or_else(|| unknown_bot(spec.name()))?;
    CheckedSettings::check(entry.name, entry.settings, spec, knowledge)
}

/// The pattern memory that a bot plays by, to train it.
pub(crate) fn memory(spec: &BotSpec, variant: Variant, knowledge: &str) -> Result<Memory, BotError> {
    table::memory(&settings(spec, Some(knowledge.as_bytes()))?, variant)
}

/// How the settings let `ntuple` look ahead, for measuring it while it is trained.
///
/// # Errors
///
/// Fails if it is another bot or a setting is not allowed.
pub fn ntuple_look(spec: &BotSpec) -> Result<Look, BotError> {
    check_name(spec, "ntuple")?;
    Ok(table::ntuple_look(&settings(spec, None)?))
}

/// The parameters that `lines69` is given, to tune them.
pub(crate) fn lines69_parameters(spec: &BotSpec) -> Result<Parameters, BotError> {
    check_name(spec, "lines69")?;
    Ok(table::lines69_parameters(&settings(spec, None)?))
}

/// The weights that `c4ai` is given, to let them evolve.
pub(crate) fn c4ai_weights(spec: &BotSpec) -> Result<EvolvedWeights, BotError> {
    check_name(spec, "c4ai")?;
    table::c4ai_weights(&settings(spec, None)?)
}

impl BotSpec {
    /// The same bot with this seed, if it draws and was not given a seed already. For runners that want each
    /// game different and yet repeatable.
    pub fn with_default_seed(self, seed: u64) -> Self {
        let draws = entry(self.name()).is_some_and(|entry| entry.settings.contains(&SEED));
        if draws && self.value(SEED.name).is_none() { self.with(SEED.name, seed) } else { self }
    }
}

fn check_name(spec: &BotSpec, wanted: &'static str) -> Result<(), BotError> {
    if spec.name() == wanted {
        Ok(())
    } else {
        Err(BotError::OtherBot { bot: spec.name().to_owned(), wanted })
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
    use std::time::Duration;

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
        check_refused("nega-max", "no bot is called `nega-max`; did you mean `negamax`?");
        check_refused("greedy:depth=1", "greedy has no setting `depth`; it has none");
        check_refused("negamax:depth=13", "negamax: depth cannot be `13`: a whole number from 1 to 12");
        check_refused("negamax:depth=", "negamax: depth cannot be ``: a whole number from 1 to 12");
        check_refused("random:deep=1", "random has no setting `deep`; it has seed");
        check_refused(
            "random:seed=-1",
            "random: seed cannot be `-1`: a whole number from 0 to 18446744073709551615",
        );
        check_refused("random:seed=1,seed=2", "random: setting `seed` is given twice");
    }

    #[test]
    fn montecarlo_asks_for_its_time_only_if_it_has_one() {
        let time = |spec: &str| build(&spec.parse().unwrap(), Variant::STANDARD).unwrap().move_time();
        assert_eq!(time("montecarlo:ms=100"), Some(Duration::from_millis(100)));
        assert_eq!(time("montecarlo:ms=100,playouts=5"), None);
        assert_eq!(time("montecarlo"), None);
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
