//! What old games have beside their moves goes when the settings say so, a few games at a time: see
//! [`crate::storage::forgetting`].

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::rounds::look_every;
use crate::model::time::UnixMillis;
use crate::storage::forgetting::Forgetting;
use crate::storage::store::Write;
use crate::storage::{Store, StoreError, Writer};

/// How often it is looked for games that have become old enough.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// Games of one write: some hundred rows, so that a move waits for it a few milliseconds at most.
const GAMES: u32 = 20;

/// Between two writes. So an arena of a million old games has done with them in an hour and a half, and nobody notices.
const PAUSE: Duration = Duration::from_millis(100);

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// For how many days what is kept; 0 for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptDays {
    pub(crate) lessons: u32,
    pub(crate) notes: u32,
}

impl KeptDays {
    /// What goes now.
    fn at(self, now: UnixMillis) -> Forgetting {
        let before = |days: u32| (days > 0).then(|| UnixMillis(now.0 - i64::from(days) * DAY_MS));
        Forgetting { lessons_before: before(self.lessons), notes_before: before(self.notes), games: GAMES }
    }
}

/// Lets it go.
#[derive(Clone, Debug)]
pub(crate) struct Forgetter {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    pub(crate) days: KeptDays,
}

impl Forgetter {
    /// Runs until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        look_every(LOOK_EVERY, &stop, || self.look()).await;
    }

    async fn look(&self) {
        match self.forget_all(UnixMillis::now()).await {
            Ok(0) => {}
            Ok(writes) => debug!(writes, "old games have lost what they had beside their moves"),
            Err(error) => warn!(%error, "what old games have beside their moves cannot go now"),
        }
    }

    /// Goes on until no game is old enough; after how many writes.
    async fn forget_all(&self, now: UnixMillis) -> Result<u64, StoreError> {
        let forgetting = self.days.at(now);
        if forgetting.lessons_before.is_none() && forgetting.notes_before.is_none() {
            return Ok(0);
        }
        let mut before = self.store.forgotten().await?;
        let mut writes = 0;
        loop {
            // What could not be written is tried again at the next look.
            if let Err(error) = self.writer.write(Write::Forget(forgetting)).await {
                debug!(%error, "old games keep what they have for now");
                return Ok(writes);
            }
            let after = self.store.forgotten().await?;
            if after == before {
                return Ok(writes);
            }
            (before, writes) = (after, writes + 1);
            sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, NOON, add_players, play, spec};
    use crate::storage::forgetting::{ForgettingStore as _, Forgotten};

    /// So many games that ended at noon of a day, and somebody who lets go by these settings.
    async fn forgetter(games: u64, lessons: u32, notes: u32) -> (Arc<MemoryStore>, Forgetter) {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        for game in 0..games {
            let spec = spec(&format!("g{game}"), "Ada", "Bob");
            play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        let (writer, actor) = Writer::new(Arc::clone(&store) as Arc<dyn Store>);
        tokio::spawn(actor.run());
        let days = KeptDays { lessons, notes };
        (Arc::clone(&store), Forgetter { store, writer, days })
    }

    #[tokio::test(start_paused = true)]
    async fn whatever_is_old_enough_goes_in_small_portions() {
        let (store, forgetter) = forgetter(2 * u64::from(GAMES) + 1, 30, 0).await;
        let day = |days: i64| UnixMillis(NOON.0 + days * DAY_MS);
        assert_eq!(forgetter.forget_all(day(29)).await.unwrap(), 0);
        assert_eq!(store.forgotten().await.unwrap(), Forgotten::default());
        assert_eq!(forgetter.forget_all(day(31)).await.unwrap(), 3);
        assert_eq!(store.forgotten().await.unwrap(), Forgotten { lessons: 41, notes: 0 });
        assert_eq!(forgetter.forget_all(day(32)).await.unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_written_where_all_is_kept() {
        let (store, forgetter) = forgetter(3, 0, 0).await;
        assert_eq!(forgetter.forget_all(UnixMillis(i64::MAX)).await.unwrap(), 0);
        assert_eq!(store.forgotten().await.unwrap(), Forgotten::default());
    }

    #[tokio::test(start_paused = true)]
    async fn each_hour_it_is_looked_again() {
        let (store, forgetter) = forgetter(1, 1, 1).await;
        let stop = CancellationToken::new();
        let running = tokio::spawn(forgetter.run(stop.clone()));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let all = Forgotten { lessons: 1, notes: 1 };
        assert_eq!(store.forgotten().await.unwrap(), all, "noon of the tests is long ago");
        let spec = spec("later", "Bob", "Ada");
        play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        tokio::time::sleep(LOOK_EVERY).await;
        assert_eq!(store.forgotten().await.unwrap(), Forgotten { lessons: 2, notes: 2 });
        stop.cancel();
        running.await.unwrap();
    }
}
