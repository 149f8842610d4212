//! Learners: what a house bot knows, kept apart from the bots that play with it.
//!
//! A [`Learner`] is a fold of finished games: the same games in the same order give the same [`Learner::state`], byte
//! for byte, so that whoever keeps the games can make any version of it again. A [`Knowledge`] is what it knew at one
//! moment; bots play with that, while the learner goes on.

use std::fmt::{self, Debug};
use std::str::FromStr;
use std::sync::Arc;

use fourfold_engine::{Cell, Column, Game, Variant};

use crate::bot::{Bot, BotError, GameRecord};
use crate::spec::BotSpec;
use crate::{memory, ntuple};

/// Learns from finished games, one after the other.
pub trait Learner: Send + Sync + Debug {
    /// Learns from a game of its variant as one side saw it, and says what changed, in a fixed order. Nothing but the
    /// game and what was learnt before decides what that is: no clock, no chance from outside.
    fn learn(&mut self, game: &GameRecord) -> Vec<Change>;

    /// The columns among which it would choose before each move of a game of its variant, by what it has learnt now:
    /// all that a memory holds equal, the one that a network likes best at first sight. What a lesson changed in it
    /// shows between two calls.
    ///
    /// Of a network that plays by a running average it is the one that learns: the average follows over about a
    /// hundred games.
    fn leanings(&self, game: &Game) -> Vec<Vec<Column>>;

    /// All that was learnt, from which [`restore`] makes the same learner again.
    fn state(&self) -> Vec<u8>;

    /// What is known now.
    fn knowledge(&self) -> Arc<dyn Knowledge>;

    /// What is known now, as bytes of which [`recall`] makes it again. It is all that a version needs that never learns
    /// again, so it may be less than the state.
    fn frozen(&self) -> Vec<u8> {
        self.state()
    }
}

/// What a learner knew at one moment.
pub trait Knowledge: Send + Sync + Debug {
    /// A bot that plays with it. It does not learn by itself.
    fn player(&self, seed: u64) -> Box<dyn Bot>;

    /// What `NAME:file=` reads: the file that plays as the learner did then, in the form of [`Bot::knowledge`] or of
    /// `fourfold train`.
    fn file(&self) -> Vec<u8>;

    /// The patterns that it knows: the most often seen first, or the weightiest if how often is not kept, of which
    /// there may be more than are given.
    fn patterns(&self) -> Vec<KnownPattern>;

    /// Whether it keeps how often it saw its patterns, and how those games ended, not only what they weigh.
    fn keeps_counts(&self) -> bool;

    /// How many it knows.
    fn pattern_count(&self) -> usize {
        self.patterns().len()
    }
}

/// How often something was met, and how those games ended for the learner's side.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Games, won and lost ones among them.
    pub seen: u32,
    pub won: u32,
    pub lost: u32,
}

/// A pattern with what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownPattern {
    /// Its name, such as `own c1 d1 . .`.
    pub name: String,
    /// Cells on which it wants stones of the bot.
    pub own: Vec<Cell>,
    /// Cells on which it wants stones of the opponent.
    pub enemy: Vec<Cell>,
    /// Empty cells that matter to it: where it is answered.
    pub answers: Vec<Cell>,
    pub counts: Counts,
    /// How much it weighs, in the unit of [`Reason::weight`]: in a memory how loudly it calls for its cells, own stones
    /// to be gone on with, the enemy's to be parried; in a network what it adds for the side that has just moved.
    pub weight: i64,
}

/// What a game did to one pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub pattern: String,
    /// `None` if it was not known before.
    pub before: Option<Counts>,
    pub after: Counts,
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

type Make = fn(&BotSpec, Variant, Option<&[u8]>) -> Result<Box<dyn Learner>, BotError>;
type Recall = fn(&BotSpec, Variant, &[u8]) -> Result<Arc<dyn Knowledge>, BotError>;

/// A kind of bot that learns.
struct LearnerEntry {
    /// As its table in [`crate::registry`] names it.
    name: &'static str,
    /// Makes a learner, or restores one from its state.
    make: Make,
    /// What is in the bytes of [`Learner::frozen`].
    recall: Recall,
}

/// The bots that learn.
static LEARNERS: [LearnerEntry; 3] = [
    LearnerEntry { name: "memory", make: memory::learner, recall: recall_state },
    LearnerEntry { name: "memory-windows", make: memory::learner, recall: recall_state },
    LearnerEntry { name: "ntuple", make: ntuple::learner, recall: ntuple::recall },
];

/// For learners that are frozen as they are.
fn recall_state(spec: &BotSpec, variant: Variant, frozen: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
    Ok(restore(spec, variant, frozen)?.knowledge())
}

/// Whether bots of this name learn.
pub fn is_learner(name: &str) -> bool {
    LEARNERS.iter().any(|entry| entry.name == name)
}

/// A learner that has learnt nothing, for games of `variant`.
///
/// # Errors
///
/// As for [`crate::registry::build`], and if such bots do not learn.
pub fn fresh(spec: &BotSpec, variant: Variant) -> Result<Box<dyn Learner>, BotError> {
    (entry(spec)?.make)(spec, variant, None)
}

/// A learner as its state says.
///
/// # Errors
///
/// As for [`fresh`], and with the reason if the bytes are no state of such a learner.
pub fn restore(spec: &BotSpec, variant: Variant, state: &[u8]) -> Result<Box<dyn Learner>, BotError> {
    (entry(spec)?.make)(spec, variant, Some(state))
}

/// What a learner knew when it was frozen.
///
/// # Errors
///
/// As for [`restore`].
pub fn recall(spec: &BotSpec, variant: Variant, frozen: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
    (entry(spec)?.recall)(spec, variant, frozen)
}

fn entry(spec: &BotSpec) -> Result<&'static LearnerEntry, BotError> {
    let found = LEARNERS.iter().find(|entry| entry.name == spec.name());
    found.ok_or_else(|| BotError::LearnsNothing { name: spec.name().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn every_learner_is_a_bot_of_the_registry_and_survives_its_state() {
        for LearnerEntry { name, .. } in &LEARNERS {
            assert!(registry::entry(name).is_some() && is_learner(name), "{name}");
            let learner = fresh(&BotSpec::new(*name), Variant::STANDARD).unwrap();
            let state = learner.state();
            let again = restore(&BotSpec::new(*name), Variant::STANDARD, &state).unwrap();
            assert_eq!(again.state(), state, "{name}");
            let recalled = recall(&BotSpec::new(*name), Variant::STANDARD, &learner.frozen()).unwrap();
            assert!(recalled.patterns().is_empty(), "{name}");
            assert!(learner.knowledge().patterns().is_empty(), "{name} knows nothing yet");
            let counts = !name.starts_with("ntuple");
            assert_eq!(learner.knowledge().keeps_counts(), counts, "{name}, though it knows nothing yet");
            let file = learner.knowledge().file();
            assert!(
                registry::build_taught(&BotSpec::new(*name).with("file", "x"), Variant::STANDARD, file)
                    .is_ok(),
                "{name}"
            );
        }
    }

    #[test]
    fn others_learn_nothing_and_no_learner_reads_rubbish() {
        let error = fresh(&BotSpec::new("greedy"), Variant::STANDARD).unwrap_err();
        assert_eq!(error.to_string(), "greedy does not learn");
        for LearnerEntry { name, .. } in &LEARNERS {
            for rubbish in [&b""[..], b"rubbish", &[0; 100]] {
                assert!(restore(&BotSpec::new(*name), Variant::STANDARD, rubbish).is_err(), "{name}");
                assert!(recall(&BotSpec::new(*name), Variant::STANDARD, rubbish).is_err(), "{name}");
            }
        }
    }

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
