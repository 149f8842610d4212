//! Who decides better than people of their rating can: all rated games between people, solved beside the games.
//!
//! What is found is for operators, and each player's own part for that player. The games are read again every hour,
//! and when an operator asks; those that were read before are not solved again. Nothing of it is stored: it follows
//! from the records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fourfold_arena::fair_play::{Finding, RatedPlayer, SolvedGame, findings, solve};
use fourfold_engine::review::Judge;
use fourfold_engine::solver::Solver;
use fourfold_engine::{BySide, Game, Side, Variant};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::analysis::background::{Worker, WorkerError};
use crate::analysis::compute::ComputePool;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::published::RatedGame;
use crate::storage::{Store, StoreError};
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Games that are read at most, the newest: some 20 MB of decisions. An arena with more has them looked at by
/// `fourfold fair-play`, which takes all.
const GAMES_MAX: u32 = 10_000;

/// How often they are read anew.
const EVERY: Duration = Duration::from_hours(1);

/// Whoever asks gets what was found so lately: reading is no work for each look at a page.
const FRESH: Duration = Duration::from_mins(1);

/// Part of one core that solving takes at most, in percent: five games or so a second, which nobody waits for.
const CPU_PERCENT: u32 = 10;

/// After so many games it is told what they say, while others wait to be solved.
const TOLD_AFTER: usize = 200;

/// What is known of everybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// When that was; none before it was for the first time.
    pub(crate) at: Option<UnixMillis>,
    /// Games that it rests on.
    pub(crate) games: usize,
    /// Games that are still to be solved.
    pub(crate) waiting: usize,
    /// By player id, those with the most evidence first.
    pub(crate) findings: Vec<Finding>,
}

impl Evidence {
    pub(crate) fn of(&self, player: &PlayerId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.player == player.as_str())
    }
}

/// Reads what was found last, and asks for more. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct EvidenceReader {
    seen: watch::Receiver<Arc<Evidence>>,
    asked: Arc<Notify>,
}

impl EvidenceReader {
    pub(crate) fn last(&self) -> Arc<Evidence> {
        Arc::clone(&self.seen.borrow())
    }

    /// Has the games read anew, unless that was a moment ago. The answer is there with the next look.
    pub(crate) fn ask(&self) {
        let is_fresh = |at: UnixMillis| UnixMillis::now().after(at) < FRESH;
        if !self.last().at.is_some_and(is_fresh) {
            self.asked.notify_one();
        }
    }
}

/// For tests of those who read it: says what the test says.
#[cfg(test)]
impl EvidenceReader {
    pub(crate) fn told_by_a_test() -> (watch::Sender<Arc<Evidence>>, Self) {
        let (told, seen) = watch::channel(Arc::default());
        (told, Self { seen, asked: Arc::default() })
    }
}

/// Reads and solves the games.
#[derive(Debug)]
pub(crate) struct EvidenceActor {
    store: Arc<dyn Store>,
    worker: Worker,
    /// By number; none of a game that is too hard, which is not tried again.
    games: BTreeMap<u64, Option<Arc<SolvedGame>>>,
    told: watch::Sender<Arc<Evidence>>,
    asked: Arc<Notify>,
    /// Ends a search under way when the actor goes.
    stop: Arc<AtomicBool>,
}

impl Drop for EvidenceActor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Kept for EvidenceActor {
    fn part(&self) -> Part {
        Part::Evidence
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                looked = self.look() => if let Err(error) = looked {
                    error!(error = %error, "games between people could not be looked at");
                }
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = self.asked.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// What was solved stays.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl EvidenceActor {
    /// # Errors
    ///
    /// The thread cannot be started.
    pub(crate) fn new(store: Arc<dyn Store>, pool: ComputePool) -> std::io::Result<(Self, EvidenceReader)> {
        let worker = Worker::start("fair-play", CPU_PERCENT, Some(pool))?;
        let (told, seen) = watch::channel(Arc::default());
        let asked = Arc::new(Notify::new());
        let reader = EvidenceReader { seen, asked: Arc::clone(&asked) };
        Ok((Self { store, worker, games: BTreeMap::new(), told, asked, stop: Arc::default() }, reader))
    }

    /// Reads the games, solves those that are new, and tells what follows from all.
    async fn look(&mut self) -> Result<(), BoxedError> {
        let since = UnixMillis::now().first_of_last_year();
        let numbers = self.store.rated_games_of_people(Variant::STANDARD, since, GAMES_MAX).await?;
        self.games.retain(|number, _| numbers.binary_search(number).is_ok());
        let new: Vec<u64> = numbers.into_iter().filter(|number| !self.games.contains_key(number)).collect();
        let mut judge = None;
        for (done, number) in new.iter().enumerate() {
            if done % TOLD_AFTER == TOLD_AFTER - 1 {
                self.sum_up().await?;
            }
            self.tell(|evidence| evidence.waiting = new.len() - done);
            if let Some(game) = read(&*self.store, *number).await? {
                let solved = self.solve(&mut judge, game).await?;
                self.games.insert(*number, solved.map(Arc::new));
            }
        }
        self.sum_up().await?;
        self.tell(|evidence| (evidence.at, evidence.waiting) = (Some(UnixMillis::now()), 0));
        Ok(())
    }

    /// Tells what follows from the games that are solved.
    async fn sum_up(&self) -> Result<(), WorkerError> {
        let games: Vec<Arc<SolvedGame>> = self.games.values().flatten().cloned().collect();
        let count = games.len();
        let findings = self.worker.run(move || findings(&games)).await?;
        self.tell(|evidence| (evidence.games, evidence.findings) = (count, findings));
        Ok(())
    }

    /// `judge` is made for the first game and serves the next ones; between the looks its table takes no memory.
    async fn solve(
        &self,
        judge: &mut Option<Judge>,
        game: RatedGame,
    ) -> Result<Option<SolvedGame>, WorkerError> {
        let (mut judge_there, stop) = (judge.take(), Arc::clone(&self.stop));
        let job = move || {
            let judge = judge_there.get_or_insert_with(|| Judge::new(Solver::new()));
            let solved = solved(&game, judge, &stop);
            (judge_there, solved)
        };
        let (judge_back, solved) = self.worker.run(job).await?;
        *judge = judge_back;
        Ok(solved)
    }

    fn tell(&self, change: impl FnOnce(&mut Evidence)) {
        self.told.send_modify(|told| change(Arc::make_mut(told)));
    }
}

/// `None` if it was taken out meanwhile.
async fn read(store: &dyn Store, number: u64) -> Result<Option<RatedGame>, StoreError> {
    let game = store.rated_games(number.saturating_sub(1), 1).await?.pop();
    Ok(game.filter(|game| game.number == number))
}

fn solved(game: &RatedGame, judge: &mut Judge, stop: &AtomicBool) -> Option<SolvedGame> {
    let moves = Game::from_moves(game.variant, &game.moves).ok()?;
    let decided = solve(judge, &moves, u32::try_from(game.opening_plies).ok()?, stop)?;
    let player = |side: Side| RatedPlayer {
        id: game.players[side].to_string(),
        rating: game.ratings[side].before.to_elo(),
    };
    Some(SolvedGame { id: game.id.to_string(), players: BySide::from_fn(player), decided })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{add_players, because, play, player_id, spec};
    use crate::storage::store::Write;

    const GAMES: [&str; 2] = ["557152711624545746362464762234657", "4424446623355"];

    async fn play_all(store: &MemoryStore, games: &[&str]) {
        for (number, moves) in games.iter().enumerate() {
            let spec = spec(&format!("g{number}"), "Ada", "Bob");
            play(store, spec, moves, GameResult::First, EndReason::Resign).await;
        }
    }

    fn actor(store: &Arc<MemoryStore>) -> (EvidenceActor, EvidenceReader) {
        EvidenceActor::new(Arc::clone(store) as Arc<dyn Store>, ComputePool::new(1)).unwrap()
    }

    #[tokio::test]
    async fn games_are_solved_once_and_those_taken_out_count_no_more() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let (mut actor, reader) = actor(&store);
        assert_eq!(reader.last().at, None);
        actor.look().await.unwrap();
        assert!(reader.last().at.is_some() && reader.last().findings.is_empty());
        play_all(&store, &GAMES).await;
        actor.look().await.unwrap();
        let evidence = reader.last();
        assert_eq!((evidence.games, evidence.waiting, evidence.findings.len()), (2, 0, 2));
        let ada = evidence.of(&player_id("Ada")).unwrap();
        assert_eq!((ada.games, ada.look), (2, false));
        assert!(evidence.of(&player_id("Eve")).is_none());
        let solved: Vec<_> = actor.games.values().flatten().cloned().collect();
        actor.look().await.unwrap();
        assert!(actor.games.values().flatten().zip(&solved).all(|(now, before)| Arc::ptr_eq(now, before)));
        let void = Write::VoidGame { game: "g0".parse().unwrap(), because: because("a test") };
        store.commit(&[void]).await.unwrap().pop().unwrap().unwrap();
        actor.look().await.unwrap();
        assert_eq!(reader.last().games, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_has_the_games_read_anew_unless_that_was_a_moment_ago() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let (mut actor, reader) = actor(&store);
        let mut seen = reader.seen.clone();
        let told = actor.told.clone();
        tokio::spawn(async move { actor.run(&CancellationToken::new()).await });
        seen.wait_for(|evidence| evidence.at.is_some()).await.unwrap();
        play_all(&store, &GAMES).await;
        reader.ask();
        tokio::time::sleep(EVERY / 2).await;
        assert_eq!(reader.last().games, 0, "it was just read");
        told.send_modify(|told| Arc::make_mut(told).at = Some(UnixMillis::now().before(FRESH)));
        reader.ask();
        seen.wait_for(|evidence| evidence.games == 2).await.unwrap();
    }
}
