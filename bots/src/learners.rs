//! The one table of bots that learn, and the learners it makes.

use std::sync::Arc;

use fourfold_engine::Variant;

use crate::bot::BotError;
use crate::learner::{Knowledge, Learner};
use crate::ntuple::Look;
use crate::spec::BotSpec;
use crate::{memory, ntuple, registry};

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
    LearnerEntry { name: "memory", make: make_memory, recall: recall_state },
    LearnerEntry { name: "memory-windows", make: make_memory, recall: recall_state },
    LearnerEntry { name: "ntuple", make: make_network, recall: recall_network },
];

fn make_memory(spec: &BotSpec, variant: Variant, state: Option<&[u8]>) -> Result<Box<dyn Learner>, BotError> {
    memory::learner(registry::memory(spec, variant, "")?, spec.name(), state)
}

fn make_network(
    spec: &BotSpec,
    variant: Variant,
    state: Option<&[u8]>,
) -> Result<Box<dyn Learner>, BotError> {
    ntuple::learner(network_look(spec, variant)?, spec.name(), state)
}

fn recall_network(spec: &BotSpec, variant: Variant, frozen: &[u8]) -> Result<Arc<dyn Knowledge>, BotError> {
    ntuple::recall(network_look(spec, variant)?, spec.name(), frozen)
}

fn network_look(spec: &BotSpec, variant: Variant) -> Result<Look, BotError> {
    if variant != Variant::STANDARD {
        return Err(BotError::VariantNotPlayed { bot: "ntuple", variant, plays: "only 7x6" });
    }
    registry::ntuple_look(spec)
}

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
}
