//! The learners at work while the daemon runs: one task, and a thread of low priority for what costs time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fourfold_engine::{BySide, Variant};
use rand::{Rng, RngExt, SeedableRng};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::deps::{LearningDeps, LearningError};
use super::learner_task::{LearnerTask, RoundCache};
use super::plans;
use super::practice::{self, Exercise, RATED_GAMES, WRITES_REST};
use crate::analysis::background::{MoreWork, Worker};
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::play::house::{BotSource, HouseBot, HouseBots};
use crate::storage::StoreError;
use crate::storage::finished::News;
use crate::storage::record::OpeningSource;
use crate::storage::store::Write;
use crate::storage::writer::WriteError;

/// How long games gather after a look that found none, and how long to wait while moves wait for the writer.
const GATHER: Duration = Duration::from_millis(500);

/// How long what is under way may hold up a stop: a few dozen games to learn, or a game of practice.
const ROUND_MAX: Duration = Duration::from_secs(3);

/// How long storing what was learnt may hold up a stop.
const SAVE_MAX: Duration = Duration::from_secs(3);

/// How long to leave alone what failed; everything else goes on.
const AFTER_FAILURE: Duration = Duration::from_mins(1);

/// How long nobody is asked again who needs practice when nobody did: ratings and versions come slowly, and the
/// question is one that moves would wait for.
const NOBODY_DUE: Duration = Duration::from_secs(10);

/// Leads all learners through the records, and lets them practise when there is nothing to learn.
#[derive(Debug)]
pub(crate) struct LearningActor {
    deps: LearningDeps,
    worker: Worker,
    learners: Vec<LearnerTask>,
    cache: RoundCache,
    practice: Practice,
    /// When learners are measured again, after a failure.
    measured_not_before: Option<Instant>,
    /// Set when the daemon stops, for what runs on the thread.
    stopping: Arc<AtomicBool>,
}

/// What is next to be practised.
#[derive(Debug, Default)]
struct Practice {
    /// The second game of a pair: same players and opening, sides swapped.
    second: Option<(PlayerId, PlayerId, OpeningSource)>,
    not_before: Option<Instant>,
}

impl LearningActor {
    /// Takes all learners up as they are stored; they and their versions are in the line-up from here on.
    ///
    /// # Errors
    ///
    /// The store failed, or a thread cannot be started.
    pub(crate) async fn new(deps: LearningDeps) -> Result<Self, LearningError> {
        let worker = Worker::start("learning", deps.settings.cpu_percent, Some(deps.pool.clone()))
            .map_err(LearningError::Thread)?;
        let mut learners = Vec::new();
        for plan in plans() {
            learners.extend(LearnerTask::take_up(plan, &deps).await?);
        }
        for name in useless_teachers(&deps.settings.teachers, &deps.house) {
            warn!(teacher = %name, "learning.teachers names no bot of the house with which learners could practise");
        }
        Ok(Self {
            deps,
            worker,
            learners,
            cache: RoundCache::default(),
            practice: Practice::default(),
            measured_not_before: None,
            stopping: Arc::default(),
        })
    }

    /// Runs until the daemon stops, and stores what was learnt then. What could not be is learnt again after the next
    /// start.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        for learner in &mut self.learners {
            if let Err(error) = learner.look_back(&self.deps, &mut self.cache).await {
                warn!(learner = %learner.plan.name, error = %error, "the last lessons cannot be read");
            }
        }
        let learning = self.deps.learning.clone();
        let (haste, stopping) = (self.worker.haste(), Arc::clone(&self.stopping));
        let stops = async {
            stop.cancelled().await;
            stopping.store(true, Ordering::Relaxed);
            haste.cancel();
        };
        let mut stops = std::pin::pin!(stops);
        loop {
            // Before the look, so that what comes meanwhile is news.
            let (known, began) = (self.deps.writer.finished().news(), Instant::now());
            let more = {
                let mut round = std::pin::pin!(self.round());
                tokio::select! {
                    more = &mut round => more,
                    () = &mut stops => {
                        // What is on the thread comes back, so that it can be stored.
                        if tokio::time::timeout(ROUND_MAX, round).await.is_err() {
                            warn!("what was being learnt could not be brought to an end in time");
                        }
                        break;
                    }
                }
            };
            if more == MoreWork::No {
                tokio::select! {
                    () = &mut stops => break,
                    () = learning.withdrawn() => self.learners.iter_mut().for_each(LearnerTask::look_again),
                    () = self.more_to_learn(known) => {}
                    () = at(self.due(began)) => {}
                }
            }
        }
        if tokio::time::timeout(SAVE_MAX, self.save()).await.is_err() {
            warn!("what was learnt last could not be stored in time");
        }
        let games: u64 = self.learners.iter().map(LearnerTask::games).sum();
        info!(games, "learning has stopped");
    }

    /// Makes a learner panic at the finished game of this number.
    #[cfg(test)]
    pub(super) fn choke(&mut self, learner: &PlayerName, number: u64) {
        for task in self.learners.iter_mut().filter(|task| task.plan.name == *learner) {
            task.choking.chokes_on = Some(number);
        }
    }

    /// Stores what was learnt and is not stored yet.
    pub(super) async fn save(&mut self) {
        for learner in &mut self.learners {
            if let Err(error) = learner.save(&self.deps, &self.worker).await {
                warn!(learner = %learner.plan.name, error = %error, "what was learnt last is not stored");
            }
        }
    }

    /// Waits for games that have finished, or for the judge's word if a learner needs it.
    pub(super) async fn more_to_learn(&self, known: News) {
        let waits = self.learners.iter().any(LearnerTask::waits);
        let is_wanted = |news: &News, known: &News| {
            news.has_games_since(known) || (waits && news.has_judgements_since(known))
        };
        self.deps.writer.finished().more_than(known, GATHER, is_wanted).await;
    }

    /// When there is something to do again though nothing finishes, after a round that began then and in which there
    /// was nothing; never if time alone changes nothing.
    pub(super) fn due(&self, began: Instant) -> Option<Instant> {
        let has_room = self.cache.was_without_room().then(|| Instant::now() + GATHER);
        let learners = self.learners.iter().filter_map(LearnerTask::wakes_at);
        let all = learners
            .chain([self.practice.not_before, self.measured_not_before, has_room].into_iter().flatten());
        // What was overdue waits for something else than time.
        all.filter(|at| *at > began).min()
    }

    /// Lets every learner go on; if none had anything to do, lets one practise.
    pub(super) async fn round(&mut self) -> MoreWork {
        if self.deps.learning.were_withdrawn().await {
            self.learners.iter_mut().for_each(LearnerTask::look_again);
        }
        let (mut all, mut remaking) = (MoreWork::No, MoreWork::No);
        let now = Instant::now();
        self.cache.begin_round();
        for learner in self.learners.iter_mut().filter(|learner| !learner.is_resting(now)) {
            if self.stopping.load(Ordering::Relaxed) {
                return MoreWork::No;
            }
            match learner.go_on(&self.deps, &self.worker, &mut self.cache).await {
                // From its first lesson on it may take minutes, for which nobody waits.
                Ok(MoreWork::Perhaps) if learner.is_being_made_again() => remaking = MoreWork::Perhaps,
                Ok(MoreWork::Perhaps) => all = MoreWork::Perhaps,
                Ok(MoreWork::No) => {}
                Err(LearningError::Write(WriteError::Store(_))) => {
                    // The daemon is stopping, for a reason that is told elsewhere.
                    learner.rest_until(now + AFTER_FAILURE);
                }
                Err(cause) => {
                    error!(learner = %learner.plan.name, error = ?cause, "a learner cannot go on for now");
                    learner.look_again();
                    learner.rest_until(now + AFTER_FAILURE);
                }
            }
        }
        if all == MoreWork::Perhaps || self.measure().await == MoreWork::Perhaps {
            return MoreWork::Perhaps;
        }
        if self.stopping.load(Ordering::Relaxed) {
            return MoreWork::No;
        }
        match self.practise().await {
            Ok(MoreWork::Perhaps) => MoreWork::Perhaps,
            Ok(MoreWork::No) => remaking,
            Err(error) => {
                warn!(error = %error, "a practice game came to nothing");
                self.practice = Practice { not_before: Some(Instant::now() + AFTER_FAILURE), second: None };
                remaking
            }
        }
    }

    /// Measures one learner or version, if any is due.
    async fn measure(&mut self) -> MoreWork {
        let now = Instant::now();
        if !self.cache.has_room(&self.deps) || self.measured_not_before.is_some_and(|at| now < at) {
            return MoreWork::No;
        }
        for learner in &mut self.learners {
            match learner.measure_next(&self.deps, &self.worker, &self.stopping).await {
                Ok(MoreWork::No) => {}
                Ok(MoreWork::Perhaps) => return MoreWork::Perhaps,
                Err(error) => {
                    warn!(learner = %learner.plan.name, error = %error, "a learner cannot be measured");
                    self.measured_not_before = Some(now + AFTER_FAILURE);
                }
            }
        }
        MoreWork::No
    }

    // ---- practice ----

    async fn practise(&mut self) -> Result<MoreWork, LearningError> {
        let now = Instant::now();
        if !self.cache.has_room(&self.deps) || self.practice.not_before.is_some_and(|at| now < at) {
            return Ok(MoreWork::No);
        }
        // More games would not teach those who wait for the judge, and keep it from coming to theirs.
        if self.learners.iter().any(LearnerTask::waits) {
            return Ok(MoreWork::No);
        }
        let seed: u64 = chance().random();
        let Some((first, second, opening)) = self.next_pairing(seed).await? else {
            self.practice.not_before = Some(now + NOBODY_DUE);
            return Ok(MoreWork::No);
        };
        let house = &self.deps.house;
        let (Some(first_bot), Some(second_bot)) = (house.get(&first), house.get(&second)) else {
            self.practice.not_before = Some(now + NOBODY_DUE);
            return Ok(MoreWork::No);
        };
        let (id, now) = (GameId::random(&mut chance()), UnixMillis::now());
        let job = move || -> Result<[Write; 2], LearningError> {
            let bots = BySide {
                first: first_bot.build(Variant::STANDARD, seed)?,
                second: second_bot.build(Variant::STANDARD, !seed)?,
            };
            let players = BySide { first, second };
            Ok(practice::play(Exercise { players, bots, opening, id, now })?)
        };
        let [start, finish] = self.worker.run(job).await??;
        let asked = Instant::now();
        let started = self.deps.writer.write(start);
        let (started, finished) = tokio::join!(started, self.deps.writer.write(finish));
        started.and(finished)?;
        self.deps.metrics.practised();
        let rest = self.deps.settings.practice_pause.max(asked.elapsed() * WRITES_REST);
        self.practice.not_before = Some(Instant::now() + rest);
        Ok(MoreWork::Perhaps)
    }

    /// The second game of a pair, or the first one of a new pair; none if no one is due.
    async fn next_pairing(
        &mut self,
        seed: u64,
    ) -> Result<Option<(PlayerId, PlayerId, OpeningSource)>, LearningError> {
        if let Some(again) = self.practice.second.take() {
            return Ok(Some(again));
        }
        let Some((first, second)) = self.choose(seed).await? else { return Ok(None) };
        let opening = practice::opening(seed);
        self.practice.second = Some((second.clone(), first.clone(), opening.clone()));
        Ok(Some((first, second, opening)))
    }

    /// Who practises next, against whom: the live learner with the fewest lessons and the account with the fewest rated
    /// games take turns; opponents are the teachers, and for whom ratings are sought the versions of the same learner.
    async fn choose(&self, seed: u64) -> Result<Option<(PlayerId, PlayerId)>, LearningError> {
        let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(seed);
        let live = self.least_taught();
        let unrated = self.least_rated().await?;
        let chosen = match (live, unrated) {
            (Some(live), Some(unrated)) => Some(if rng.random() { live } else { unrated }),
            (live, unrated) => live.or(unrated),
        };
        let Some((player, mut opponents)) = chosen else { return Ok(None) };
        opponents.extend(self.teachers());
        opponents.retain(|opponent| *opponent != player);
        Ok(pick(&opponents, &mut rng).map(|opponent| (player, opponent)))
    }

    /// The learners that learn from a game now. One that cannot go on would practise for ever.
    fn well(&self) -> impl Iterator<Item = &LearnerTask> {
        let now = Instant::now();
        self.learners.iter().filter(move |learner| learner.is_well(now))
    }

    /// The live learner with the fewest lessons, until all have enough.
    fn least_taught(&self) -> Option<(PlayerId, Vec<PlayerId>)> {
        let due = self.well().filter(|learner| learner.games() < self.deps.settings.practice_games);
        let learner = due.min_by_key(|learner| learner.games())?;
        Some((learner.live.id.clone(), Vec::new()))
    }

    /// The account of a learner or version with the fewest rated games, until all have enough; with the versions of
    /// the same learner.
    async fn least_rated(&self) -> Result<Option<(PlayerId, Vec<PlayerId>)>, StoreError> {
        if self.deps.settings.practice_games == 0 {
            return Ok(None);
        }
        let versions = |learner: &LearnerTask| -> Vec<PlayerId> {
            learner.versions().iter().map(|version| version.player.clone()).collect()
        };
        let accounts: Vec<(PlayerId, &LearnerTask)> = self
            .well()
            .flat_map(|learner| {
                versions(learner).into_iter().chain([learner.live.id.clone()]).map(move |id| (id, learner))
            })
            .collect();
        let ids: Vec<PlayerId> = accounts.iter().map(|(id, _)| id.clone()).collect();
        let rows = self.deps.store.ratings_of_players(&ids, Variant::STANDARD).await?;
        let played: HashMap<PlayerId, u64> =
            rows.into_iter().map(|(id, row)| (id, row.standing.games)).collect();
        let games = |id: &PlayerId| played.get(id).copied().unwrap_or_default();
        let due = accounts.into_iter().filter(|(id, _)| games(id) < RATED_GAMES);
        Ok(due.min_by_key(|(id, _)| games(id)).map(|(player, learner)| (player, versions(learner))))
    }

    fn teachers(&self) -> Vec<PlayerId> {
        let named = self.deps.settings.teachers.iter().filter_map(|name| teacher(name, &self.deps.house));
        named.map(|bot| bot.identity.id.clone()).collect()
    }
}

/// Waits until then; for ever if that is never.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The bot of this name, if it may teach. A learner would learn from its own doubles; versions meet each other anyway.
fn teacher(name: &PlayerName, house: &HouseBots) -> Option<Arc<HouseBot>> {
    house.by_name(name).filter(|bot| matches!(bot.source, BotSource::Fixed(_)))
}

/// Names among the teachers that stand for nobody who may teach.
fn useless_teachers<'n>(names: &'n [PlayerName], house: &HouseBots) -> Vec<&'n PlayerName> {
    names.iter().filter(|name| teacher(name, house).is_none()).collect()
}

fn pick(players: &[PlayerId], rng: &mut impl Rng) -> Option<PlayerId> {
    (!players.is_empty()).then(|| players[rng.random_range(0..players.len())].clone())
}
