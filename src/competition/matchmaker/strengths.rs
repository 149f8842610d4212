//! What is known of the bots' strength when the ladder chooses: the joint fit, and for whom it does not have yet the
//! live rating with its error.

use std::collections::HashMap;
use std::sync::Arc;

use fourfold_arena::stats::normal::Z95;
use fourfold_engine::Variant;

use super::choose::KnownStrength;
use crate::competition::leaderboard::FitSnapshot;
use crate::competition::leaderboard::standings::Standings;
use crate::model::ids::PlayerId;
use crate::model::population::Population;
use crate::model::rating::elo::{Standing, pm95};
use crate::storage::record::{RatingRow, StoredPlayer};
use crate::storage::store::{Store, StoreError};

/// Bots whose ratings are read: all there will ever be on one machine.
const BOTS_MAX: u32 = 100_000;

/// All bots' strengths; whoever is not in it has not played and was not measured beforehand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strengths {
    live: HashMap<PlayerId, Standing>,
    published: Arc<FitSnapshot>,
}

impl Strengths {
    /// Reads the live ratings, beside what was fitted last.
    pub(crate) async fn read(store: &dyn Store, published: Arc<FitSnapshot>) -> Result<Self, StoreError> {
        let rows = store.leaderboard(Population::Bots, Variant::STANDARD, BOTS_MAX).await?;
        let beginning =
            |bot: StoredPlayer| (bot.id, RatingRow::beginning(bot.start, Variant::STANDARD).standing);
        let mut live: HashMap<PlayerId, Standing> =
            store.house_bots().await?.into_iter().map(beginning).collect();
        live.extend(rows.into_iter().map(|row| (row.player.id, row.rating.standing)));
        Ok(Self { live, published })
    }

    /// The joint fit of the bots, as soon as there is one.
    pub(crate) fn fit(&self) -> Option<&Standings> {
        self.published.field(Variant::STANDARD, Population::Bots)
    }

    /// That of one bot.
    pub(crate) fn of(&self, bot: &PlayerId) -> KnownStrength {
        let live = self.standing(bot);
        let is_new = live.is_provisional();
        if let Some(rated) = self.fit().and_then(|field| field.get(bot)) {
            return KnownStrength { elo: rated.elo, error: rated.error, is_new };
        }
        let elo = f64::from(live.rating.to_elo());
        KnownStrength { elo, error: f64::from(pm95(live.games)) / Z95, is_new }
    }

    /// The live rating of one bot.
    pub(crate) fn standing(&self, bot: &PlayerId) -> Standing {
        self.live.get(bot).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::competition::leaderboard::tests::{bots, fit, play_pair};
    use crate::model::rating::elo::NEWCOMER_ELO;
    use crate::model::result::GameResult::{First, Second};
    use crate::storage::conformance::player_id;

    #[tokio::test]
    async fn whoever_is_not_in_the_fit_is_on_its_scale() {
        let store = bots().await;
        play_pair(&store, 0, ["random", "perfect"], [Second, First]).await;
        let read = async |published| Strengths::read(&store, Arc::new(published)).await.unwrap();
        let [random, perfect, six] = ["random", "perfect", "six"].map(player_id);

        let live = read(FitSnapshot::default()).await;
        assert!((live.of(&six).elo - f64::from(NEWCOMER_ELO)).abs() < 1.0);
        assert!(live.fit().is_none() && live.of(&perfect).elo > live.of(&random).elo);

        let fitted = read(fit(&store).await).await;
        assert!(fitted.of(&random).elo.abs() < 1e-9, "the fit's anchor");
        assert!((fitted.of(&six).elo - f64::from(NEWCOMER_ELO)).abs() < 1.0);
        assert!(fitted.of(&six).is_new && fitted.standing(&six) == Standing::default());
    }
}
