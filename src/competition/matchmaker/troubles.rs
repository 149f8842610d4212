//! Which bots the ladder leaves out at the moment, for everybody to see.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::health::Condition;
use crate::model::fault::Fault;
use crate::model::ids::PlayerId;

/// Why a bot is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BotTrouble {
    /// How it broke off last: time, illegal, absent or failed.
    pub(crate) fault: &'static str,
    /// Whether it plays single pairs again to show that it is well; if not, it is paused.
    pub(crate) probing: bool,
}

impl BotTrouble {
    /// That of a bot in this condition.
    pub(crate) fn of(condition: Condition) -> Option<Self> {
        let trouble = |fault: Fault, probing| Some(Self { fault: fault.as_str(), probing });
        match condition {
            Condition::Fit => None,
            Condition::Probing(fault) => trouble(fault, true),
            Condition::Paused(fault, _) => trouble(fault, false),
        }
    }
}

/// All bots in trouble. The matchmaker writes it, pages and interface read it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles(Arc<RwLock<HashMap<PlayerId, BotTrouble>>>);

impl Troubles {
    /// Why this bot is left out, if it is.
    pub(crate) fn of(&self, bot: &PlayerId) -> Option<BotTrouble> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(bot).copied()
    }

    pub(super) fn replace(&self, troubles: HashMap<PlayerId, BotTrouble>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = troubles;
    }
}
