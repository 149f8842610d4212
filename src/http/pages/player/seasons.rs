//! Where a player stands in the seasons, in words.

use crate::competition::leaderboard::seasons::SeasonPhase;
use crate::http::seasons::{self, SeasonPlace};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;

/// One season in which a player has played.
pub(super) struct SeasonPlaceShown {
    pub(super) season: String,
    /// Place and how many players.
    pub(super) words: String,
    /// Among the first three of a season that is over.
    pub(super) is_badge: bool,
}

/// Places of the first that earn a badge.
const BADGES: u64 = 3;

impl SeasonPlaceShown {
    /// Of all seasons in which the player has played, the latest first.
    pub(super) fn all(state: &AppState, lang: Language, player: &PlayerId) -> Vec<Self> {
        let shown = |place: SeasonPlace| Self {
            words: lang.fill(
                "season.place",
                &[("rank", lang.number(place.rank)), ("players", lang.number(place.players))],
            ),
            is_badge: place.phase == SeasonPhase::Over && place.rank <= BADGES,
            season: place.season,
        };
        seasons::places(state, player).into_iter().map(shown).collect()
    }
}
