//! The one rating that everybody is shown of a player: at the seats of games, beside offers, in lists and rankings, on
//! pages and on the wire.
//!
//! It is the published one, as soon as a joint fit knows the player well. Of bots of the house it is what was found
//! beforehand until then, so that the first minute is right; of everybody else the live rating, put on the same scale.

use std::collections::HashMap;
use std::sync::Arc;

use fourfold_engine::Variant;
use tokio::sync::watch;

use super::house::HouseBots;
use crate::model::ids::PlayerId;
use crate::model::player::{Identity, PlayerKind};
use crate::model::rating::elo::{ShownRating, Standing};
use crate::storage::record::RatingRow;
use crate::storage::{Store, StoreError};

/// Ratings of joint fits, by board.
pub(crate) type FittedRatings = HashMap<Variant, HashMap<PlayerId, ShownRating>>;

/// What everybody is shown; cheap to clone. The leaderboard puts its fits in, everybody reads.
#[derive(Clone, Debug)]
pub(crate) struct ShownRatings {
    house: HouseBots,
    fitted: Arc<watch::Sender<Arc<FittedRatings>>>,
}

impl Default for ShownRatings {
    fn default() -> Self {
        Self::new(HouseBots::default())
    }
}

impl ShownRatings {
    /// Before the first fit.
    pub(crate) fn new(house: HouseBots) -> Self {
        Self { house, fitted: Arc::new(watch::Sender::new(Arc::default())) }
    }

    /// Puts a new fit in the place of the last one.
    pub(crate) fn publish(&self, fitted: FittedRatings) {
        self.fitted.send_replace(Arc::new(fitted));
    }

    fn fitted(&self) -> Arc<FittedRatings> {
        Arc::clone(&self.fitted.borrow())
    }

    /// What a bot of the house was found to be beforehand on the standard board, which stays the same for ever.
    pub(crate) fn measured(&self, player: &PlayerId) -> Option<i32> {
        self.house.get(player)?.elo
    }

    /// What is known of a player but for single games: the fit, or what was found beforehand.
    pub(crate) fn known(&self, player: &PlayerId, variant: Variant) -> Option<ShownRating> {
        let fitted = self.fitted().get(&variant).and_then(|of| of.get(player).copied());
        let beforehand = || {
            let elo = self.measured(player)?;
            (variant == Variant::STANDARD).then(|| ShownRating::measured(elo))
        };
        match fitted {
            Some(rating) if !rating.provisional => Some(rating),
            uncertain => beforehand().or(uncertain),
        }
    }

    /// The rating of a player whose live one is at hand.
    pub(crate) fn shown(&self, player: &PlayerId, variant: Variant, live: Standing) -> ShownRating {
        self.known(player, variant).unwrap_or_else(|| live.shown())
    }

    /// The rating of a player; guests have none.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn of(
        &self,
        store: &dyn Store,
        player: &Identity,
        variant: Variant,
    ) -> Result<Option<ShownRating>, StoreError> {
        if player.kind == PlayerKind::Guest {
            return Ok(None);
        }
        if let Some(known) = self.known(&player.id, variant) {
            return Ok(Some(known));
        }
        let row = store.rating(&player.id, variant).await?;
        Ok(self.of_row(player, variant, row))
    }

    /// The same of a player whose row is at hand, if it has one.
    pub(crate) fn of_row(
        &self,
        player: &Identity,
        variant: Variant,
        row: Option<RatingRow>,
    ) -> Option<ShownRating> {
        let shown = || self.shown(&player.id, variant, row.unwrap_or_default().standing);
        (player.kind != PlayerKind::Guest).then(shown)
    }

    /// The ratings of a player on all boards on which it has one that is not a newcomer's; guests have none.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn all_of(
        &self,
        store: &dyn Store,
        player: &Identity,
    ) -> Result<Vec<(Variant, ShownRating)>, StoreError> {
        if player.kind == PlayerKind::Guest {
            return Ok(Vec::new());
        }
        let rows = store.ratings_of(&player.id).await?;
        let mut ratings: Vec<_> = rows
            .into_iter()
            .map(|(variant, row)| (variant, self.shown(&player.id, variant, row.standing)))
            .collect();
        if ratings.iter().all(|(variant, _)| *variant != Variant::STANDARD)
            && let Some(known) = self.known(&player.id, Variant::STANDARD)
        {
            ratings.push((Variant::STANDARD, known));
        }
        Ok(ratings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rating::elo::{MilliElo, NEWCOMER_ELO};
    use crate::play::house::{BotSource, HouseBot};
    use crate::storage::MemoryStore;

    fn bot(id: &str) -> Identity {
        Identity { id: id.parse().unwrap(), name: id.parse().unwrap(), kind: PlayerKind::Bot, owner: None }
    }

    /// A house with one bot that was found to have 956 points beforehand.
    fn ratings() -> ShownRatings {
        let house = HouseBots::default();
        house.join(HouseBot {
            identity: bot("squint"),
            source: BotSource::Fixed("random".parse().unwrap()),
            style: "any",
            strength: None,
            level: None,
            elo: Some(956),
            about: String::new(),
        });
        ShownRatings::new(house)
    }

    fn fit(ratings: &ShownRatings, player: &str, rating: ShownRating) {
        let players = [(player.parse().unwrap(), rating)].into();
        ratings.publish([(Variant::STANDARD, players)].into());
    }

    #[test]
    fn the_house_knows_its_bots_until_a_fit_knows_them_better() {
        let ratings = ratings();
        let known = || ratings.known(&bot("squint").id, Variant::STANDARD);
        assert_eq!(known(), Some(ShownRating::measured(956)));
        assert_eq!(
            ratings.known(&bot("squint").id, "9x6".parse().unwrap()),
            None,
            "it was measured elsewhere"
        );
        fit(&ratings, "squint", ShownRating::fitted(1_400, 300, 4));
        assert_eq!(known(), Some(ShownRating::measured(956)), "four games say less");
        let certain = ShownRating::fitted(940, 30, 400);
        fit(&ratings, "squint", certain);
        assert_eq!(known(), Some(certain));
    }

    #[tokio::test]
    async fn everybody_else_begins_as_a_newcomer_and_guests_have_no_rating() {
        let (ratings, store) = (ratings(), MemoryStore::new());
        let of = async |player: Identity| ratings.of(&store, &player, Variant::STANDARD).await.unwrap();
        let newcomer = of(bot("hal")).await.unwrap();
        assert_eq!((newcomer.elo, newcomer.provisional), (NEWCOMER_ELO, true));
        assert_eq!(of(Identity { kind: PlayerKind::Guest, ..bot("hal") }).await, None);
        let live = Standing { rating: MilliElo(770_000), games: 2 };
        let shown = || ratings.shown(&bot("hal").id, Variant::STANDARD, live);
        assert_eq!(shown().elo, NEWCOMER_ELO + 20);
        let fitted = ShownRating::fitted(312, 200, 2);
        fit(&ratings, "hal", fitted);
        assert_eq!((shown(), of(bot("hal")).await), (fitted, Some(fitted)));
        assert_eq!(ratings.all_of(&store, &bot("hal")).await.unwrap(), [(Variant::STANDARD, fitted)]);
    }
}
