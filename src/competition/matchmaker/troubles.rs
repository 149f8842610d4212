//! Which bots the ladder leaves out at the moment, for everybody to see.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::health::Condition;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// Why a bot is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BotTrouble {
    /// How it broke off last: time, illegal, absent or failed.
    pub(crate) fault: &'static str,
    /// Whether it plays single pairs again to show that it is well; if not, it is paused.
    pub(crate) probing: bool,
    /// When its pause ends, if it is paused.
    pub(crate) until: Option<UnixMillis>,
}

impl BotTrouble {
    /// That of a bot in this condition. It is `now` by the clock of games and `at` on the wall.
    pub(crate) fn of(condition: Condition, now: Instant, at: UnixMillis) -> Option<Self> {
        match condition {
            Condition::Fit => None,
            Condition::Probing(fault) => Some(Self { fault: fault.as_str(), probing: true, until: None }),
            Condition::Paused(fault, until) => {
                let until = at.later(until.saturating_duration_since(now));
                Some(Self { fault: fault.as_str(), probing: false, until: Some(until) })
            }
        }
    }
}

/// All bots in trouble. The matchmaker writes it, pages and interface read it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles {
    bots: Arc<RwLock<HashMap<PlayerId, BotTrouble>>>,
    /// Bots that passed the self-test since the matchmaker looked.
    mended: Arc<Mutex<HashSet<PlayerId>>>,
}

impl Troubles {
    /// Those of these bots.
    #[cfg(test)]
    pub(crate) fn of_bots(bots: impl IntoIterator<Item = (PlayerId, BotTrouble)>) -> Self {
        let troubles = Self::default();
        troubles.replace(bots.into_iter().collect());
        troubles
    }

    /// Why this bot is left out, if it is.
    pub(crate) fn of(&self, bot: &PlayerId) -> Option<BotTrouble> {
        self.bots.read().unwrap_or_else(PoisonError::into_inner).get(bot).copied()
    }

    /// All that are paused.
    fn paused(&self) -> Vec<(PlayerId, BotTrouble)> {
        let bots = self.bots.read().unwrap_or_else(PoisonError::into_inner);
        bots.iter()
            .filter(|(_, trouble)| !trouble.probing)
            .map(|(bot, trouble)| (bot.clone(), *trouble))
            .collect()
    }

    /// A bot has passed the self-test: whoever has mended it need not wait for the end of its pause.
    pub(crate) fn mended(&self, bot: PlayerId) {
        // Who is in no trouble has nothing to be released from.
        if self.of(&bot).is_some() {
            self.mended.lock().unwrap_or_else(PoisonError::into_inner).insert(bot);
        }
    }

    /// Those that passed it since the last call.
    pub(super) fn take_mended(&self) -> HashSet<PlayerId> {
        std::mem::take(&mut *self.mended.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn replace(&self, troubles: HashMap<PlayerId, BotTrouble>) {
        *self.bots.write().unwrap_or_else(PoisonError::into_inner) = troubles;
    }
}

/// The bots that are paused, for whoever tells of each pause once.
#[derive(Debug)]
pub(crate) struct Pauses {
    troubles: Troubles,
    /// Bots that were paused when it was last looked.
    known: HashSet<PlayerId>,
}

impl Pauses {
    /// How often to look; the shortest pause is five minutes.
    pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(10);

    pub(crate) fn new(troubles: Troubles) -> Self {
        Self { troubles, known: HashSet::new() }
    }

    /// Those that were not paused when it was last looked.
    pub(crate) fn new_ones(&mut self) -> Vec<(PlayerId, BotTrouble)> {
        let mut paused = self.troubles.paused();
        let now = paused.iter().map(|(bot, _)| bot.clone()).collect();
        let before = std::mem::replace(&mut self.known, now);
        paused.retain(|(bot, _)| !before.contains(bot));
        paused
    }
}
