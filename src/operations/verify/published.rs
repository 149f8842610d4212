//! The published ratings, fitted again from the games.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::VerifyReport;
use crate::competition::leaderboard::rating_sums::RatingSums;
use crate::model::ids::{GameId, PlayerId};
use crate::model::population::Population;
use crate::model::world::on_thread;
use crate::storage::published::{Publication, PublishedRating, RatedGame, VoidedGame};
use crate::storage::record::StoredGame;
use crate::storage::resets::Resets;
use crate::storage::words::Word;
use crate::storage::{Store, StoreError};

/// The published ratings as they follow from the games so far.
#[derive(Debug)]
pub(super) struct Refit {
    stored: Publication,
    books: RatingSums,
}

impl Refit {
    /// Takes up what is stored, before any game is read: games that come meanwhile are not in it.
    pub(super) async fn begin(store: &dyn Store, resets: Resets) -> Result<Self, StoreError> {
        Ok(Self { stored: store.publication().await?, books: RatingSums::new(resets) })
    }

    /// Books a game, if what is stored rests on it.
    pub(super) fn add(&mut self, game: &StoredGame) {
        let Some(up_to) = self.stored.up_to else { return };
        if let Some(rated) = RatedGame::of(game).filter(|rated| rated.number <= up_to) {
            self.books.book(&rated);
        }
    }

    /// Fits all games again and compares. What was taken out meanwhile makes both incomparable: then nothing is said.
    pub(super) async fn compare(
        mut self,
        report: &mut VerifyReport,
        store: &dyn Store,
    ) -> Result<(), StoreError> {
        let Some(up_to) = self.stored.up_to else { return Ok(()) };
        self.books.introduce(&store.players(&self.books.strangers()).await?);
        let revision = self.stored.revision;
        let mut books = self.books;
        let fitted = on_thread(move || books.fit().publication(revision));
        let computed = fitted.await.map_err(|error| StoreError::Failed(Box::new(error)))?;
        if store.revision().await? != revision {
            return Ok(());
        }
        report.published += self.stored.ratings.len() as u64;
        for what in differences(&self.stored.ratings, &computed.ratings) {
            report.findings.push(format!("{what}, by the games up to {up_to}"));
        }
        Ok(())
    }
}

/// Where two lists in the same order differ.
fn differences(stored: &[PublishedRating], computed: &[PublishedRating]) -> Vec<String> {
    type FitKey<'a> = (String, Population, &'a PlayerId);
    fn by_key(ratings: &[PublishedRating]) -> BTreeMap<FitKey<'_>, &PublishedRating> {
        let key = |rating: &PublishedRating| (rating.variant.to_string(), rating.population);
        let keyed = ratings.iter().map(|rating| (key(rating), rating));
        keyed.map(|((variant, population), rating)| ((variant, population, &rating.player), rating)).collect()
    }
    let (stored, computed) = (by_key(stored), by_key(computed));
    let keys: BTreeSet<&FitKey<'_>> = stored.keys().chain(computed.keys()).collect();
    let difference = |key: &FitKey<'_>| {
        let (variant, population, player) = key;
        let found = match (stored.get(key), computed.get(key)) {
            (Some(stored), Some(computed)) if stored == computed => return None,
            (Some(stored), Some(computed)) => format!("is {}, computed {}", shown(stored), shown(computed)),
            (Some(stored), None) => format!("is {}, but no game is behind it", shown(stored)),
            (None, Some(computed)) => format!("is missing, computed {}", shown(computed)),
            (None, None) => return None,
        };
        Some(format!("published rating of {player} in {variant} ({}) {found}", population.word()))
    };
    keys.into_iter().filter_map(difference).collect()
}

fn shown(rating: &PublishedRating) -> String {
    format!("{} ± {} after {} games", rating.elo.0, rating.error, rating.games)
}

/// The games that operators took out, as the audit log has them.
pub(super) async fn voided(store: &dyn Store) -> Result<HashSet<GameId>, StoreError> {
    Ok(store.voided_games().await?.into_iter().map(|VoidedGame { game, .. }| game).collect())
}
