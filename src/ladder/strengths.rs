//! What is known of the bots' strength when the ladder chooses: today the live rating with its error.

use std::collections::HashMap;

use fourfold_arena::stats::normal::Z95;
use fourfold_engine::Variant;

use super::choose::Strength;
use crate::ids::PlayerId;
use crate::rating::elo::{Standing, pm95};
use crate::storage::store::{Board, Store, StoreError};

/// Bots whose ratings are read: all there will ever be on one machine.
const BOTS_MAX: u32 = 100_000;

/// All bots' strengths; whoever is not in it has not played.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strengths {
    known: HashMap<PlayerId, Strength>,
}

impl Strengths {
    /// Reads them.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let rows = store.leaderboard(Board::Bots, Variant::STANDARD, BOTS_MAX).await?;
        let strength = |row: &crate::storage::record::LeaderboardRow| of(row.rating.standing);
        Ok(Self { known: rows.iter().map(|row| (row.player.id.clone(), strength(row))).collect() })
    }

    /// That of one bot.
    pub(crate) fn of(&self, bot: &PlayerId) -> Strength {
        self.known.get(bot).copied().unwrap_or_else(|| of(Standing::default()))
    }
}

fn of(standing: Standing) -> Strength {
    Strength {
        elo: f64::from(standing.rating.to_elo()),
        error: f64::from(pm95(standing.games)) / Z95,
        is_new: standing.is_provisional(),
    }
}
