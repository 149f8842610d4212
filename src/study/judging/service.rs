//! The judge at work while the daemon runs: one task, and a thread of low priority for what costs time.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::slice::{Said, Slice};
use crate::analysis::background::{MoreWork, Worker, WorkerError};
use crate::analysis::compute::ComputePool;
use crate::analysis::judged::GameJudge;
use crate::model::clock::now;
#[cfg(test)]
use crate::model::ids::GameId;
use crate::storage::finished::{FinishedGame, News, number_of};
use crate::storage::judgements::{Judgement, JudgingProgress, JudgingStep};
use crate::storage::store::{Refused, Write};
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::supervision::Supervision;

/// When so many games wait, those of people go first: some seconds of the ladder's games are no reason to.
const PEOPLE_FIRST_FROM: u64 = 64;

/// Games of people that are judged together ahead of others.
const PEOPLE_GAMES: u32 = 8;

/// How often to look for them while there are others: the look goes through thousands of games.
const PEOPLE_EVERY: Duration = Duration::from_secs(2);

/// How long games gather after a look that found none, and how long to wait while moves wait for the writer.
const GATHER: Duration = Duration::from_millis(500);

/// How long to rest after a failure.
const AFTER_FAILURE: Duration = Duration::from_mins(1);

/// Why the judge cannot go on.
#[derive(Debug, Error)]
pub enum JudgingError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The solver panicked.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// There is no thread.
    #[error("the thread to judge on cannot be started")]
    Thread(#[source] std::io::Error),
}

/// How judging is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgingSettings {
    /// Part of one core that it takes at most, in percent.
    pub(crate) cpu_percent: u32,
    /// Puzzles that are kept of those found in games.
    pub(crate) puzzles: u32,
    /// How long it rests before it begins.
    pub(crate) rests: Duration,
}

/// How long to rest after a start with games that go on: their players come back, and need the machine.
pub(crate) const WHILE_PLAYERS_RETURN: Duration = Duration::from_secs(10);

/// What the judge is built from.
#[derive(Clone, Debug)]
pub(crate) struct JudgingDeps {
    pub(crate) store: Arc<dyn Store>,
    /// Stores what it says.
    pub(crate) writer: Writer,
    /// Whose waiting jobs go first.
    pub(crate) pool: ComputePool,
    /// Says how far it is behind.
    pub(crate) metrics: Arc<Metrics>,
    /// Hears of games on which the solver chokes.
    pub(crate) supervision: Supervision,
    /// How it is run.
    pub(crate) settings: JudgingSettings,
}

/// Follows the finished games and judges them one after the other.
#[derive(Debug)]
pub(crate) struct JudgingActor {
    deps: JudgingDeps,
    worker: Worker,
    /// Away while it judges on the thread.
    judge: Option<GameJudge>,
    /// When it may look again for games of people to go first.
    people_next: Instant,
    /// Ends a search under way when the actor goes.
    stop: Arc<AtomicBool>,
    /// A game that makes it panic.
    #[cfg(test)]
    chokes_on: Option<GameId>,
}

impl JudgingActor {
    /// Begins where the store says.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub(crate) fn new(deps: JudgingDeps) -> Result<Self, JudgingError> {
        let worker = Worker::start("judging", deps.settings.cpu_percent, Some(deps.pool.clone()))
            .map_err(JudgingError::Thread)?;
        Ok(Self {
            deps,
            worker,
            judge: None,
            people_next: now(),
            stop: Arc::default(),
            #[cfg(test)]
            chokes_on: None,
        })
    }

    /// Runs until the daemon stops. What was not stored then is judged again after the next start.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let resting = tokio::time::sleep(self.deps.settings.rests);
        // A stop ends what follows, too.
        let _stopped = stop.run_until_cancelled(resting).await;
        loop {
            // Before the look, so that what comes meanwhile is news.
            let known = self.deps.writer.finished().news();
            let result = tokio::select! {
                () = stop.cancelled() => break,
                result = self.go_on() => result,
            };
            let rest = async {
                match result {
                    Ok(MoreWork::Perhaps) => {}
                    Ok(MoreWork::No) => {
                        self.deps.writer.finished().more_than(known, GATHER, News::has_games_since).await;
                    }
                    Err(cause) => {
                        report(&cause);
                        tokio::time::sleep(AFTER_FAILURE).await;
                    }
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = rest => {}
            }
        }
        info!("judging has stopped");
    }

    /// Judges the next finished games and stores how far it came.
    pub(super) async fn go_on(&mut self) -> Result<MoreWork, JudgingError> {
        let progress = self.deps.store.judging_progress().await?;
        self.deps.metrics.judged(0, progress.behind());
        if progress.behind() == 0 {
            return Ok(MoreWork::No);
        }
        // Under load, games go first; what they ask of the writer too. Nobody tells when it has room again.
        if self.deps.writer.is_congested() {
            tokio::time::sleep(GATHER).await;
            return Ok(MoreWork::Perhaps);
        }
        let step = self.look_at_some(progress).await?;
        let judged = step.games.len() + step.ahead.len();
        if judged == 0 {
            return Ok(MoreWork::No);
        }
        match self.deps.writer.write(Write::StepJudging(Box::new(step))).await {
            Ok(_) => {
                self.deps.metrics.judged(judged, progress.behind().saturating_sub(judged as u64));
                Ok(MoreWork::Perhaps)
            }
            // Somebody else has judged them: the next look finds out how far.
            Err(WriteError::Refused(Refused::JudgeElsewhere)) => Ok(MoreWork::Perhaps),
            Err(other) => Err(other.into()),
        }
    }

    /// What there is to say about the next games: those of people while it is far behind, else the next in their order.
    async fn look_at_some(&mut self, progress: JudgingProgress) -> Result<JudgingStep, JudgingError> {
        let mut step = JudgingStep::in_order(progress.covered, Vec::new());
        step.harvest.keep = self.deps.settings.puzzles;
        if progress.behind() >= PEOPLE_FIRST_FROM && now() >= self.people_next {
            self.people_next = now() + PEOPLE_EVERY;
            let games = self.games_of_people().await?;
            if !games.is_empty() {
                let said = self.look_at(games, BTreeSet::new()).await?;
                step.ahead = into_step(said, &mut step);
                return Ok(step);
            }
        }
        let games = self.deps.writer.finished().page(progress.covered).await?;
        let ahead = match games.iter().rev().find_map(number_of) {
            Some(last) if progress.ahead > 0 => self.deps.store.judged_ahead(progress.covered, last).await?,
            Some(_) | None => BTreeSet::new(),
        };
        let said = self.look_at(games, ahead).await?;
        step.games = into_step(said, &mut step);
        Ok(step)
    }

    /// The newest games of people that wait.
    async fn games_of_people(&self) -> Result<Vec<FinishedGame>, JudgingError> {
        let mut games = Vec::new();
        for number in self.deps.store.unjudged_games_of_people(PEOPLE_GAMES).await? {
            games.extend(self.deps.store.audit_finished(number.saturating_sub(1), 1).await?);
        }
        Ok(games)
    }

    /// What there is to say about some of these games, on the thread.
    async fn look_at<G>(&mut self, games: G, ahead: BTreeSet<u64>) -> Result<Vec<Said>, JudgingError>
    where
        G: Deref<Target = [FinishedGame]> + Send + 'static,
    {
        if games.is_empty() {
            return Ok(Vec::new());
        }
        let slice = Slice {
            games,
            ahead,
            #[cfg(test)]
            chokes_on: self.chokes_on.clone(),
        };
        let (mut judge, stop) = (self.judge.take(), Arc::clone(&self.stop));
        let job = move || {
            let done = slice.run(&mut judge, &stop);
            (judge, done)
        };
        let (judge, done) = self.worker.run(job).await?;
        self.judge = judge;
        for game in done.choked_on {
            self.deps.supervision.panicked(Part::Judge);
            self.deps.supervision.set_aside(Part::Judge, &format!("game {game}"));
        }
        Ok(done.said)
    }
}

/// Takes over the puzzles, and says what is said of the games.
fn into_step(said: Vec<Said>, step: &mut JudgingStep) -> Vec<(u64, Judgement)> {
    let take = |Said { number, judgement, puzzle }: Said| {
        step.harvest.puzzles.extend(puzzle);
        (number, judgement)
    };
    said.into_iter().map(take).collect()
}

impl Drop for JudgingActor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn report(cause: &JudgingError) {
    match cause {
        // The daemon is stopping, for a reason that is told elsewhere.
        JudgingError::Write(WriteError::Store(_)) => warn!(error = %cause, "what was judged is not stored"),
        JudgingError::Store(_)
        | JudgingError::Write(_)
        | JudgingError::Worker(_)
        | JudgingError::Thread(_) => {
            error!(error = ?cause, "the judge cannot go on for now");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{
        FIRST_WINS, FIRST_WINS_TOO, add_players, play, player_id, spec, whole_game,
    };
    use crate::storage::judgements::JudgementStore as _;
    use crate::storage::ratings::RatingStore;

    fn actor(store: &Arc<MemoryStore>) -> JudgingActor {
        let shared = Arc::clone(store) as Arc<dyn Store>;
        let (writer, writing) = Writer::new(Arc::clone(&shared));
        tokio::spawn(writing.run());
        JudgingActor::new(JudgingDeps {
            store: shared,
            writer,
            pool: ComputePool::new(1),
            metrics: Arc::new(Metrics::new()),
            supervision: Supervision::new(Arc::default()),
            settings: JudgingSettings { cpu_percent: 100, puzzles: 10, rests: Duration::ZERO },
        })
        .unwrap()
    }

    async fn store_with(games: &[(&str, &str, GameResult)]) -> Arc<MemoryStore> {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        for (id, moves, result) in games {
            play(&*store, spec(id, "Ada", "Bob"), moves, *result, EndReason::Four).await;
        }
        store
    }

    #[tokio::test]
    async fn a_backlog_is_judged_once_and_then_there_is_nothing_to_do() {
        let games: Vec<String> = (0..20).map(|number| format!("g{number}")).collect();
        let rows: Vec<_> = games.iter().map(|id| (id.as_str(), FIRST_WINS, GameResult::First)).collect();
        let store = store_with(&rows).await;
        let mut judge = actor(&store);
        while judge.go_on().await.unwrap() == MoreWork::Perhaps {}
        assert_eq!(store.judging_progress().await.unwrap().behind(), 0);
        let text = judge.deps.metrics.text();
        assert!(
            text.contains("fourfold_games_judged_total 20") && text.contains("fourfold_games_unjudged 0")
        );
        // The same game over and over counts for ratings a few times only, and so it does here.
        let skills = store.skills_of(&player_id("Ada")).await.unwrap();
        let row = store.rating(&player_id("Ada"), fourfold_engine::Variant::STANDARD).await.unwrap().unwrap();
        assert_eq!(skills[0].1.games, row.standing.games);
    }

    #[tokio::test(start_paused = true)]
    async fn while_players_return_it_rests() {
        let store = store_with(&[("g1", FIRST_WINS, GameResult::First)]).await;
        let mut judge = actor(&store);
        judge.deps.settings.rests = WHILE_PLAYERS_RETURN;
        let (stop, began) = (CancellationToken::new(), tokio::time::Instant::now());
        let running = tokio::spawn(judge.run(stop.clone()));
        while store.judging_progress().await.unwrap().behind() > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(began.elapsed() >= WHILE_PLAYERS_RETURN, "{:?}", began.elapsed());
        stop.cancel();
        running.await.unwrap();
    }

    #[tokio::test]
    async fn a_judge_that_died_is_followed_by_one_that_repeats_nothing() {
        let store = store_with(&[("g1", FIRST_WINS, GameResult::First)]).await;
        actor(&store).go_on().await.unwrap();
        play(&*store, spec("g2", "Bob", "Ada"), FIRST_WINS_TOO, GameResult::First, EndReason::Four).await;
        let mut second = actor(&store);
        assert_eq!(second.go_on().await.unwrap(), MoreWork::Perhaps);
        assert_eq!(store.skills_of(&player_id("Ada")).await.unwrap()[0].1.games, 2);
    }

    #[tokio::test]
    async fn games_that_cannot_be_judged_do_not_hold_it_up() {
        let store =
            store_with(&[("g1", "44", GameResult::Void), ("g2", FIRST_WINS, GameResult::First)]).await;
        let mut judge = actor(&store);
        judge.go_on().await.unwrap();
        let said = |id: &'static str| {
            let store = Arc::clone(&store);
            async move { store.judgement(&id.parse().unwrap()).await.unwrap() }
        };
        assert_eq!(said("g1").await, Some(Judgement::Unjudged));
        assert!(matches!(said("g2").await, Some(Judgement::Judged(_))));
        assert_eq!(judge.go_on().await.unwrap(), MoreWork::No);
    }

    #[tokio::test]
    async fn a_game_that_makes_the_judge_panic_is_set_aside_and_counted() {
        let store =
            store_with(&[("g1", FIRST_WINS, GameResult::First), ("g2", FIRST_WINS_TOO, GameResult::First)])
                .await;
        let mut judge = actor(&store);
        judge.chokes_on = Some("g1".parse().unwrap());
        // A slice ends behind the game that it chokes on if that took long.
        let mut slices = 0;
        while judge.go_on().await.unwrap() == MoreWork::Perhaps {
            slices += 1;
            assert!(slices <= 2, "of two games neither is tried again");
        }
        assert_ne!(slices, 0);
        let said = store.judgement(&"g1".parse().unwrap()).await.unwrap();
        assert_eq!(said, Some(Judgement::Unjudged));
        let other = store.judgement(&"g2".parse().unwrap()).await.unwrap();
        assert!(matches!(other, Some(Judgement::Judged(_))), "{other:?}");
        assert_eq!(judge.deps.supervision.things_set_aside(), ["judge: game g1"]);
    }

    /// Finishes a game as a room does.
    async fn finish(writer: &Writer, id: &str) {
        let spec = spec(id, "Ada", "Bob");
        let events = whole_game(FIRST_WINS_TOO, GameResult::First, EndReason::Four);
        let finish = Write::Finish { game: spec.id.clone(), events };
        let (started, finished) = tokio::join!(writer.write(Write::StartGame(spec)), writer.write(finish));
        started.and(finished).unwrap();
    }

    /// Waits until so many games are judged.
    async fn judged(writer: &Writer, games: u64) {
        let known = News { judged: games - 1, ..News::default() };
        writer.finished().more_than(known, Duration::ZERO, News::has_judgements_since).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_game_is_judged_when_it_has_finished_without_a_look_by_the_clock() {
        const QUIET: Duration = Duration::from_hours(1);
        let store = store_with(&[("g1", FIRST_WINS, GameResult::First)]).await;
        let judge = actor(&store);
        let writer = judge.deps.writer.clone();
        let stop = CancellationToken::new();
        let running = tokio::spawn(judge.run(stop.clone()));
        judged(&writer, 1).await;
        tokio::time::sleep(QUIET).await;
        let looks = store.looks().len();
        tokio::time::sleep(QUIET).await;
        assert_eq!(store.looks().len(), looks, "nothing has happened");
        let began = tokio::time::Instant::now();
        finish(&writer, "g2").await;
        judged(&writer, 2).await;
        assert!(began.elapsed() < GATHER);
        stop.cancel();
        running.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn games_that_cannot_be_read_are_judged_later_and_none_is_left_out() {
        let store = store_with(&[("g1", FIRST_WINS, GameResult::First)]).await;
        store.fail_looks(2);
        let judge = actor(&store);
        let writer = judge.deps.writer.clone();
        let began = tokio::time::Instant::now();
        let running = tokio::spawn(judge.run(CancellationToken::new()));
        finish(&writer, "g2").await;
        judged(&writer, 2).await;
        assert!(began.elapsed() >= 2 * AFTER_FAILURE);
        assert!(began.elapsed() < 3 * AFTER_FAILURE);
        assert_eq!(store.skills_of(&player_id("Ada")).await.unwrap()[0].1.games, 2);
        running.abort();
    }
}
