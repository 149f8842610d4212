//! The ratings of games by correspondence, apart from those of live games: who has days for a move plays another game.
//!
//! They follow from the results alone and are stored nowhere: [`Ratings`] folds them, the [`CorrespondenceBook`] keeps
//! what was folded and reads what has ended since.

mod ratings;

use std::sync::{Arc, Mutex, PoisonError};

use fourfold_engine::Variant;

use self::ratings::Ratings;
use crate::model::ids::PlayerId;
use crate::storage::record::RatingRow;
use crate::storage::{Store, StoreError};

/// Results read at a time: a few milliseconds' worth.
const PAGE: u32 = 1_000;

/// What was folded so far.
#[derive(Clone, Debug, Default)]
struct Folded {
    ratings: Ratings,
    /// The last game among them.
    last: u64,
    /// What the records were then: if an operator has taken games out since, all are folded again.
    revision: u64,
}

/// Knows everybody's rating by correspondence. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct CorrespondenceBook {
    store: Arc<dyn Store>,
    /// Whoever asks takes what is there and puts back what came of it; the lock is held for neither of the reads.
    folded: Arc<Mutex<Arc<Folded>>>,
}

impl CorrespondenceBook {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, folded: Arc::default() }
    }

    /// A player's ratings, for each board on which a rated game by correspondence has ended.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn of(&self, player: &PlayerId) -> Result<Vec<(Variant, RatingRow)>, StoreError> {
        Ok(self.now().await?.ratings.of(player))
    }

    async fn now(&self) -> Result<Arc<Folded>, StoreError> {
        let revision = self.store.revision().await?;
        let known = self.folded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let begins_anew = known.revision != revision;
        let last = if begins_anew { 0 } else { known.last };
        let mut results = self.store.correspondence_results(last, PAGE).await?;
        if results.is_empty() && !begins_anew {
            return Ok(known);
        }
        let mut folded =
            if begins_anew { Folded { revision, ..Folded::default() } } else { (*known).clone() };
        while let Some(newest) = results.last() {
            folded.last = newest.number;
            for result in &results {
                folded.ratings.add(result);
            }
            results = self.store.correspondence_results(folded.last, PAGE).await?;
        }
        let folded = Arc::new(folded);
        *self.folded.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&folded);
        Ok(folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{
        FIRST_WINS, FIRST_WINS_TOO, add_players, because, play, player_id, spec,
    };
    use crate::storage::memory::MemoryStore;
    use crate::storage::record::{GameSpec, UnratedReason};
    use crate::storage::store::Write;

    async fn wins(store: &dyn Store, id: &str, first: &str, second: &str, moves: &str) {
        let unrated_because = Some(UnratedReason::Correspondence);
        let spec = GameSpec { rated: false, unrated_because, footing: None, ..spec(id, first, second) };
        play(store, spec, moves, GameResult::First, EndReason::Four).await;
    }

    #[tokio::test]
    async fn ratings_go_on_with_what_has_ended_and_leave_out_what_was_taken_out() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        add_players(&*store, &["Ada", "Bob", "Eve"]).await;
        let book = CorrespondenceBook::new(Arc::clone(&store));
        let ada = player_id("Ada");
        assert_eq!(book.of(&ada).await.unwrap(), []);
        wins(&*store, "g1", "Ada", "Bob", FIRST_WINS).await;
        let [(variant, one)] = book.of(&ada).await.unwrap().try_into().unwrap();
        assert_eq!((variant, one.score.wins, one.standing.rating.to_elo()), (Variant::STANDARD, 1, 770));
        wins(&*store, "g2", "Ada", "Eve", FIRST_WINS_TOO).await;
        let two = book.of(&ada).await.unwrap()[0].1;
        assert_eq!(two.score.wins, 2);
        assert_eq!(
            store.rating(&ada, Variant::STANDARD).await.unwrap(),
            None,
            "the live rating does not move"
        );
        let void = Write::VoidGame { game: "g2".parse().unwrap(), because: because("made up") };
        store.commit(&[void]).await.unwrap().pop().unwrap().unwrap();
        assert_eq!(book.of(&ada).await.unwrap()[0].1, one);
        assert_eq!(book.of(&player_id("Eve")).await.unwrap(), []);
    }
}
