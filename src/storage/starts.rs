//! With which live ratings players begin.

use std::collections::HashMap;

use fourfold_engine::Variant;

use super::record::{RatingRow, StoredPlayer};
use crate::model::ids::PlayerId;
use crate::model::rating::elo::MilliElo;

/// For the migration to one scale: what learners were rated at each point of their curves, after all games were settled
/// again.
pub(super) const CURVES: &str = "UPDATE learner_point SET rating = coalesce((SELECT e.after FROM rating_entry e \
    JOIN settlement n ON n.number = e.number JOIN player p ON p.key = e.player JOIN learner l ON l.name = p.name \
    WHERE l.key = learner_point.learner AND e.variant = '7x6' AND n.ended_at <= learner_point.at \
    ORDER BY e.number DESC LIMIT 1), rating - 750000) WHERE rating IS NOT NULL";

/// Bots of the house that were measured beforehand. Everybody else begins as a newcomer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Starts(HashMap<PlayerId, MilliElo>);

impl Starts {
    /// Of these players.
    pub(crate) fn of<'a>(players: impl IntoIterator<Item = &'a StoredPlayer>) -> Self {
        players.into_iter().filter_map(|player| Some((player.id.clone(), player.start?))).collect()
    }

    /// How a player stands before its first rated game.
    pub(crate) fn row(&self, player: &PlayerId, variant: Variant) -> RatingRow {
        RatingRow::beginning(self.0.get(player).copied(), variant)
    }
}

impl FromIterator<(PlayerId, MilliElo)> for Starts {
    fn from_iter<T: IntoIterator<Item = (PlayerId, MilliElo)>>(starts: T) -> Self {
        Self(starts.into_iter().collect())
    }
}
