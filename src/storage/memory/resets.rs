//! Ratings that begin anew, in memory.

use super::MemoryTables;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::storage::resets::{NewReset, RatingReset};
use crate::storage::store::{Refused, Written};

impl MemoryTables {
    pub(super) fn reset_rating(&mut self, reset: &NewReset) -> Result<Written, Refused> {
        let NewReset { player, at, version, reason, not_since } = reset.clone();
        let bot = self.players.get(&player).filter(|bot| bot.kind == PlayerKind::Bot && !bot.house);
        bot.ok_or(Refused::NoSuchPlayer)?;
        let is_too_new = |before: &RatingReset| before.at > not_since || before.at == at;
        if self.resets.iter().any(|before| before.player == player && is_too_new(before)) {
            return Err(Refused::TooMany);
        }
        self.ratings.retain(|(of, _), _| *of != player);
        self.resets.push(RatingReset { player, at, after: self.finished.len() as u64, version, reason });
        self.resets.sort_by_key(|reset| reset.at);
        self.unpublish();
        Ok(Written::Done)
    }

    /// Forgets the words, for a bot that leaves for good.
    pub(super) fn forget_resets(&mut self, player: &PlayerId) {
        for reset in self.resets.iter_mut().filter(|reset| reset.player == *player) {
            (reset.version, reset.reason) = (String::new(), String::new());
        }
    }
}
