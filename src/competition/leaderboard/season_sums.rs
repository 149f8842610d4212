//! The games of a season, summed up and fitted by themselves.

use std::sync::Arc;

use super::SeasonTable;
use super::rating_sums::RatingSums;
use super::seasons::Season;
use crate::storage::StoredPlayer;
use crate::storage::published::RatedGame;
use crate::storage::resets::Resets;

/// The games of a season, summed up.
#[derive(Debug)]
pub(super) struct SeasonSums {
    season: Arc<Season>,
    sums: RatingSums,
}

impl SeasonSums {
    /// Of no games yet. Ratings that begin anew do not: whoever plays in a season is one player in it.
    pub(super) fn new(season: Arc<Season>) -> Self {
        Self { season, sums: RatingSums::new(Resets::default()) }
    }

    /// Of no games of the same season.
    pub(super) fn emptied(&self) -> Self {
        Self::new(Arc::clone(&self.season))
    }

    /// Books a game, if it is of this season.
    pub(super) fn book(&mut self, game: &RatedGame) {
        if self.season.has(game) {
            self.sums.book(game);
        }
    }

    /// Says who players are.
    pub(super) fn introduce(&mut self, players: &[StoredPlayer]) {
        self.sums.introduce(players);
    }

    /// The ratings, fitted again if games have come.
    pub(super) fn table(&mut self) -> SeasonTable {
        let mut fits = self.sums.fit().fits;
        SeasonTable { fits: fits.remove(&self.season.variant), season: Arc::clone(&self.season) }
    }
}
