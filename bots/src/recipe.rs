//! What a bot is made from, as often as somebody needs one.

use std::sync::Arc;

use fourfold_engine::Variant;

use crate::bot::{Bot, BotError};
use crate::registry;
use crate::spec::BotSpec;

/// Settings that make sense, with what the bot has learnt before. Clones share what was learnt.
#[derive(Clone, Debug)]
pub struct Recipe {
    spec: BotSpec,
    variant: Variant,
    knowledge: Option<Arc<[u8]>>,
}

impl Recipe {
    /// Checks the settings by building the bot once. `knowledge` is what a learner knows, as it was kept.
    ///
    /// # Errors
    ///
    /// As for [`registry::build`], or [`registry::build_taught`] with knowledge.
    pub fn new(spec: BotSpec, variant: Variant, knowledge: Option<Vec<u8>>) -> Result<Self, BotError> {
        let recipe = Self { spec, variant, knowledge: knowledge.map(Arc::from) };
        recipe.build(0)?;
        Ok(recipe)
    }

    /// Builds the bot; `seed` is for one that draws and was given no seed.
    ///
    /// # Errors
    ///
    /// What was built once is built again, so this fails only if the bot is broken.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Bot>, BotError> {
        let spec = self.spec.clone().with_default_seed(seed);
        match &self.knowledge {
            Some(knowledge) => registry::build_taught(&spec, self.variant, knowledge),
            None => registry::build(&spec, self.variant),
        }
    }

    /// Whether bots of different seeds differ, so that every game takes one of its own.
    pub fn draws(&self) -> bool {
        self.spec.clone().with_default_seed(0) != self.spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(spec: &str, knowledge: Option<&str>) -> Result<Recipe, BotError> {
        Recipe::new(spec.parse()?, Variant::STANDARD, knowledge.map(|text| text.as_bytes().to_vec()))
    }

    #[test]
    fn settings_and_knowledge_are_checked_at_once() {
        for (spec, knowledge) in
            [("nobody", None), ("negamax:depth=0", None), ("memory:file=m.xml", Some("<Connect"))]
        {
            assert!(recipe(spec, knowledge).is_err(), "{spec}");
        }
        assert!(recipe("memory:file=m.xml", Some("")).unwrap().build(1).is_ok(), "nothing was learnt yet");
    }

    #[test]
    fn only_what_draws_and_has_no_seed_takes_one() {
        let draws = |spec: &str| recipe(spec, None).unwrap().draws();
        assert_eq!((draws("random"), draws("random:seed=1"), draws("greedy")), (true, false, false));
    }
}
