//! With which live ratings players begin.

use std::collections::HashMap;

use fourfold_engine::Variant;

use super::record::{RatingRow, StoredPlayer};
use crate::model::ids::PlayerId;
use crate::model::rating::elo::MilliElo;

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
