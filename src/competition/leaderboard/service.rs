//! Follows the records while the daemon runs, and fits again when rated games have come.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info};

use super::rating_sums::RatingSums;
use super::season_sums::SeasonSums;
use super::seasons::Season;
use super::{FitSnapshot, Leaderboard};
use crate::model::world::on_thread;
use crate::storage::finished::News;
use crate::storage::resets::Resets;
use crate::storage::store::{Refused, Write};
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};

/// How long games gather after each look, and so how often to fit at most.
pub(super) const GATHER: Duration = Duration::from_secs(1);

/// Fitting takes at most a twentieth of one core: after a fit, so many times its duration is waited.
const REST: u32 = 20;

/// How often what was fitted is stored.
const PUBLISH_EVERY: Duration = Duration::from_secs(30);

/// How long to wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Games read at a time: a few milliseconds' worth.
const PAGE: u32 = 2_000;

/// Why ratings could not be fitted.
#[derive(Debug, Error)]
pub(crate) enum FollowError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What the leaderboard is made from.
#[derive(Clone, Debug)]
pub(crate) struct LeaderboardDeps {
    /// Where rated games are.
    pub(crate) store: Arc<dyn Store>,
    /// Stores what was fitted.
    pub(crate) writer: Writer,
    /// Where everybody reads it.
    pub(crate) leaderboard: Leaderboard,
    /// What is fitted by itself besides, the latest first.
    pub(crate) seasons: Vec<Arc<Season>>,
}

/// Follows the records.
#[derive(Debug)]
pub(crate) struct LeaderboardActor {
    deps: LeaderboardDeps,
    follower: Follower,
    unpublished: Option<FitSnapshot>,
    published_at: Option<Instant>,
}

impl LeaderboardActor {
    /// Nothing is read before it runs.
    pub(crate) fn new(deps: LeaderboardDeps) -> Self {
        let follower = Follower::of(&deps.seasons);
        Self { deps, follower, unpublished: None, published_at: None }
    }

    /// Runs until the daemon stops.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let finished = self.deps.writer.finished().clone();
        loop {
            // Before the look, so that what comes meanwhile is news.
            let known = finished.news();
            let rest = match self.round().await {
                Ok(rest) => rest,
                Err(FollowError::Write(WriteError::Store(_))) => return, // the daemon is stopping, told elsewhere
                Err(cause) => {
                    error!(error = ?cause, "the leaderboard cannot go on for now");
                    self.follower = Follower::of(&self.deps.seasons);
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(AFTER_FAILURE) => continue,
                    }
                }
            };
            let is_wanted =
                |news: &News, known: &News| news.has_games_since(known) || news.has_withdrawals_since(known);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = finished.more_than(known, rest, is_wanted) => {}
                () = self.publishing(rest) => {}
            }
        }
    }

    /// Waits until what was fitted is to be stored, and at least for `rest`; for ever if everything is.
    async fn publishing(&self, rest: Duration) {
        if self.unpublished.is_none() {
            return std::future::pending().await;
        }
        let since = self.published_at.map_or(PUBLISH_EVERY, |at| at.elapsed());
        tokio::time::sleep(rest.max(PUBLISH_EVERY.saturating_sub(since))).await;
    }

    /// One look at the records. Returns for how long to leave them alone.
    async fn round(&mut self) -> Result<Duration, FollowError> {
        let began = Instant::now();
        let mut rest = GATHER;
        if let Some(snapshot) = self.follower.catch_up(self.deps.store.as_ref()).await? {
            let took = began.elapsed();
            debug!(up_to = snapshot.up_to, ms = took.as_millis(), "ratings fitted");
            self.deps.leaderboard.show(snapshot.clone());
            self.unpublished = Some(snapshot);
            rest = rest.max(took * REST);
        }
        let is_due = self.published_at.is_none_or(|at| at.elapsed() >= PUBLISH_EVERY);
        if is_due && let Some(snapshot) = self.unpublished.take() {
            self.publish(&snapshot).await?;
            self.published_at = Some(Instant::now());
        }
        Ok(rest)
    }

    async fn publish(&mut self, snapshot: &FitSnapshot) -> Result<(), WriteError> {
        let publication = snapshot.publication(self.follower.revision);
        match self.deps.writer.write(Write::Publish(Box::new(publication))).await {
            // Games have been taken out meanwhile: the next look finds out.
            Ok(_) | Err(WriteError::Refused(Refused::Outdated) | WriteError::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// How far the records were read.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    books: RatingSums,
    /// The same of each season's games.
    seasons: Vec<SeasonSums>,
    /// Of the records, when reading began.
    revision: u64,
    has_begun: bool,
}

impl Follower {
    /// Has read nothing yet, and is to sum these seasons up as well.
    pub(crate) fn of(seasons: &[Arc<Season>]) -> Self {
        let seasons = seasons.iter().map(|season| SeasonSums::new(Arc::clone(season))).collect();
        Self { seasons, ..Self::default() }
    }

    /// Begins again with the first game.
    fn begin(&mut self, revision: u64, resets: Resets) {
        let seasons = self.seasons.iter().map(SeasonSums::emptied).collect();
        *self = Self { revision, books: RatingSums::new(resets), seasons, has_begun: true };
    }

    /// Finds out who has played for the first time.
    async fn meet_strangers(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let strangers = self.books.strangers();
        if !strangers.is_empty() {
            let players = store.players(&strangers).await?;
            self.books.introduce(&players);
            self.seasons.iter_mut().for_each(|season| season.introduce(&players));
        }
        Ok(())
    }

    /// Reads what has come, and fits again if anything has. If games were taken out, everything is read anew.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn catch_up(&mut self, store: &dyn Store) -> Result<Option<FitSnapshot>, FollowError> {
        let revision = store.revision().await?;
        let is_due = !self.has_begun || revision != self.revision;
        if is_due {
            if self.has_begun {
                info!("games count no more, or otherwise than they did: all ratings are fitted anew");
            }
            // Behind the revision: a reset that comes in between changes it, and is seen at the next look.
            let resets = Resets::of(&store.rating_resets(None).await?);
            self.begin(revision, resets);
        }
        loop {
            let page = store.rated_games(self.books.up_to(), PAGE).await?;
            for game in &page {
                self.books.book(game);
                self.seasons.iter_mut().for_each(|season| season.book(game));
            }
            if page.len() < PAGE as usize {
                break;
            }
        }
        if !is_due && !self.books.is_new() {
            return Ok(None);
        }
        self.meet_strangers(store).await?;
        let (mut books, mut seasons) = (std::mem::take(&mut self.books), std::mem::take(&mut self.seasons));
        let fitted = on_thread(move || {
            let mut snapshot = books.fit();
            snapshot.seasons = seasons.iter_mut().map(SeasonSums::table).collect();
            (books, seasons, snapshot)
        });
        // A panic is the follower's own: it begins again from the records.
        let fitted = fitted.await.map_err(tokio::task::JoinError::try_into_panic);
        let (books, seasons, snapshot) = match fitted {
            Ok(fitted) => fitted,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_closed)) => return Ok(None),
        };
        (self.books, self.seasons) = (books, seasons);
        Ok(Some(snapshot))
    }
}
