//! Seasons: spans of days whose games are ranked by themselves.

use std::sync::Arc;

use fourfold_engine::Variant;

use crate::model::time::{Day, UnixMillis};
use crate::storage::published::RatedGame;

/// The rated games that end on certain days, on one board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Season {
    /// What it is called; no two share a name.
    pub(crate) name: String,
    /// The day on which it begins.
    pub(crate) start: Day,
    /// The last day that belongs to it.
    pub(crate) end: Day,
    pub(crate) variant: Variant,
}

/// Where a season is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeasonPhase {
    Coming,
    Running,
    Over,
}

impl Season {
    /// Whether it has begun, and ended.
    pub(crate) fn phase(&self, now: UnixMillis) -> SeasonPhase {
        if now < self.start.begin() {
            SeasonPhase::Coming
        } else if now < self.end.end() {
            SeasonPhase::Running
        } else {
            SeasonPhase::Over
        }
    }

    /// Whether a game counts for it.
    pub(super) fn has(&self, game: &RatedGame) -> bool {
        game.variant == self.variant && self.phase(game.ended_at) == SeasonPhase::Running
    }
}

/// The latest first, those that begin on one day by their names.
pub(crate) fn sorted(mut seasons: Vec<Season>) -> Vec<Arc<Season>> {
    seasons.sort_by(|one, other| other.start.cmp(&one.start).then_with(|| one.name.cmp(&other.name)));
    seasons.into_iter().map(Arc::new).collect()
}
