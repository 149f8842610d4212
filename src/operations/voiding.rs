//! Taking all games of an account out in one go, while the arena goes on.
//!
//! A single game is taken out by one write, which settles all later games again and so takes the longer the more there
//! are. For hundreds of games that would be done hundreds of times. Here games are taken out some at a time, and then
//! their variants are settled once, in portions, none of which holds a move up for longer than a slow disk would. What
//! was begun stands in the store, so that whoever calls again goes on with it.

use std::time::Duration;

use fourfold_engine::Variant;
use thiserror::Error;
use tokio::time::Instant;
use tracing::info;

use crate::model::ids::{GameId, PlayerId};
use crate::storage::moderation::Because;
use crate::storage::refit::Refitting;
use crate::storage::resets::Resets;
use crate::storage::starts::Starts;
use crate::storage::store::{GameQuery, Refused, Write};
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};

/// Why not all could be taken out; what was stands.
#[derive(Debug, Error)]
pub(crate) enum VoidingError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// How much is done by one write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portions {
    /// Games that are taken out: a row in the log each, and what learners made of it.
    voids: u32,
    /// Games that are settled again: two entries each.
    refits: u32,
}

/// Each takes some ten milliseconds, where a move may wait for fifty.
pub(crate) const PORTIONS: Portions = Portions { voids: 20, refits: 100 };

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct VoidedAccount {
    /// Games that were taken out now.
    pub(crate) games: u64,
    /// Whether ratings were owed already, since an earlier call did not come to its end.
    pub(crate) was_begun: bool,
    /// Variants that were settled again.
    pub(crate) variants: Vec<Variant>,
}

/// Takes all finished games of a player out, and settles what is owed.
pub(crate) async fn void_account(
    store: &dyn Store,
    writer: &Writer,
    player: &PlayerId,
    because: &Because,
    portions: Portions,
) -> Result<VoidedAccount, VoidingError> {
    let mut voided =
        VoidedAccount { was_begun: !store.owed_ratings().await?.is_empty(), ..VoidedAccount::default() };
    // Who plays on would keep this going for ever.
    let newest = GameQuery { newest_first: true, limit: 1, ..GameQuery::default() };
    let newest = store.finished_games(&newest).await?.pop().and_then(|game| game.settlement);
    let up_to = newest.map_or(0, |settlement| settlement.number);
    let mut last = 0;
    loop {
        let mut games = store.games_that_count(player, last, portions.voids).await?;
        games.retain(|(number, _)| *number <= up_to);
        let Some((number, _)) = games.last() else { break };
        (last, voided.games) = (*number, voided.games + games.len() as u64);
        let games: Vec<GameId> = games.into_iter().map(|(_, game)| game).collect();
        write(writer, Write::VoidGames { games, because: because.clone() }).await?;
        info!(%player, games = voided.games, "games of an account are taken out");
    }
    while let Some((variant, _)) = store.owed_ratings().await?.first().copied() {
        refit(store, writer, variant, portions).await?;
        info!(%variant, "the ratings of a variant were computed again");
        voided.variants.push(variant);
    }
    Ok(voided)
}

/// Settles a variant again, as often as something comes in between that makes what was begun outdated.
async fn refit(
    store: &dyn Store,
    writer: &Writer,
    variant: Variant,
    portions: Portions,
) -> Result<(), VoidingError> {
    loop {
        let revision = store.revision().await?;
        let owed = store.owed_ratings().await?;
        let Some((_, after)) = owed.into_iter().find(|(other, _)| *other == variant) else { return Ok(()) };
        let starts = Starts::of(&store.house_bots().await?);
        let resets = Resets::of(&store.rating_resets(None).await?);
        let refitting = Refitting::new(variant, starts, &resets, revision, after);
        match settle_all(store, writer, refitting, portions).await {
            Err(VoidingError::Write(WriteError::Refused(Refused::Outdated))) => {}
            result => return result,
        }
    }
}

async fn settle_all(
    store: &dyn Store,
    writer: &Writer,
    mut refitting: Refitting,
    portions: Portions,
) -> Result<(), VoidingError> {
    let mut last = 0;
    loop {
        let games = store.refit_games(refitting.variant(), last, portions.refits).await?;
        let is_end = games.len() < portions.refits as usize;
        last = games.last().map_or(last, |game| game.number);
        let step = refitting.settle(games).map(|step| Write::Refit(Box::new(step)));
        if !is_end {
            if let Some(step) = step {
                write(writer, step).await?;
            }
            continue;
        }
        // Without a rest: the fewer games finish in between, the sooner this is the end.
        if let Some(step) = step {
            writer.write(step).await?;
        }
        let whole = writer.write(Write::Refit(Box::new(refitting.ratings()))).await;
        let is_outdated = matches!(&whole, Err(WriteError::Refused(Refused::Outdated)));
        // Games have finished meanwhile: they are the next ones.
        let goes_on = is_outdated && store.revision().await? == refitting.revision();
        if !goes_on {
            return whole.map(drop).map_err(VoidingError::from);
        }
    }
}

/// Writes, and rests as long as that took, so that half of the writer is left to the games.
async fn write(writer: &Writer, write: Write) -> Result<(), WriteError> {
    let began = Instant::now();
    writer.write(write).await?;
    let took = began.elapsed();
    if took > Duration::ZERO {
        tokio::time::sleep(took).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use tokio::sync::Notify;

    use super::*;
    use crate::model::durability::Durability;
    use crate::model::result::{EndReason, GameResult};
    use crate::operations::verify::verify;
    use crate::storage::conformance::{add_players, because, player_id, spec, whole_game};
    use crate::storage::{MemoryStore, SqliteStore};

    /// No four, and no course that comes again soon.
    fn moves(n: usize) -> String {
        let tail = [n, n / 7, n / 49, n / 343].map(|n| (1 + n % 7).to_string());
        format!("1357246{}", tail.concat())
    }

    /// Rated games among three players, of which two in three have Ada in them.
    async fn fill(store: &dyn Store, games: usize) {
        add_players(store, &["Ada", "Bob", "Eve"]).await;
        let mut batch = Vec::new();
        for n in 0..games {
            let (first, second) = [("Ada", "Bob"), ("Bob", "Eve"), ("Eve", "Ada")][n % 3];
            let game = spec(&format!("m{n}"), first, second);
            let events = whole_game(&moves(n), GameResult::First, EndReason::Resign);
            batch.extend([Write::StartGame(game.clone()), Write::Finish { game: game.id, events }]);
            if batch.len() == 1_000 || n + 1 == games {
                let answers = store.commit(&std::mem::take(&mut batch)).await.unwrap();
                assert!(answers.iter().all(Result::is_ok));
            }
        }
    }

    async fn findings(store: &dyn Store) -> Vec<String> {
        verify(store).await.unwrap().findings
    }

    /// A writer that counts commits, and tells somebody of the one with a number.
    fn writer(store: &Arc<dyn Store>, tell_at: usize) -> (Writer, Arc<Notify>) {
        let (writer, actor) = Writer::new(Arc::clone(store));
        let (told, count) = (Arc::new(Notify::new()), AtomicUsize::new(0));
        let notify = Arc::clone(&told);
        let observe = move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == tell_at {
                notify.notify_one();
            }
        };
        tokio::spawn(actor.on_commit(observe).run());
        (writer, told)
    }

    const SMALL: Portions = Portions { voids: 5, refits: 7 };

    /// Stops after each write in turn, and calls again.
    async fn check_kills(make: impl AsyncFn() -> Arc<dyn Store>) {
        let (ada, reason) = (player_id("Ada"), because("a test"));
        for kill_at in 1.. {
            let store = make().await;
            fill(&*store, 30).await;
            let (first, killed) = writer(&store, kill_at);
            let result = tokio::select! {
                biased;
                () = killed.notified() => None,
                done = void_account(&*store, &first, &ada, &reason, SMALL) => Some(done.unwrap()),
            };
            if let Some(VoidedAccount { games, was_begun, variants }) = result {
                assert_eq!((games, was_begun, variants), (20, false, vec![Variant::STANDARD]));
                assert!(kill_at > 8, "{kill_at} writes");
                return;
            }
            drop(first);
            let found = findings(&*store).await;
            let owed = store.owed_ratings().await.unwrap();
            assert_eq!(found.len(), owed.len(), "{found:?}");
            let (again, _) = writer(&store, 0);
            let done = void_account(&*store, &again, &ada, &reason, SMALL).await.unwrap();
            assert_eq!(done.was_begun, !owed.is_empty());
            assert_eq!(findings(&*store).await, [""; 0], "after {kill_at} writes");
            assert_eq!(store.voided_games().await.unwrap().len(), 20);
        }
    }

    #[tokio::test]
    async fn whatever_stops_it_is_gone_on_with_by_the_next_call() {
        check_kills(async || Arc::new(MemoryStore::new()) as Arc<dyn Store>).await;
        let directory = tempfile::tempdir().unwrap();
        let number = AtomicUsize::new(0);
        check_kills(async || {
            let path = directory.path().join(format!("{}.db", number.fetch_add(1, Ordering::Relaxed)));
            Arc::new(SqliteStore::open(&path, Durability::Relaxed).await.unwrap()) as Arc<dyn Store>
        })
        .await;
    }

    /// Begins and ends games one after the other until it is enough; says how long the beginning of one took at most.
    async fn play_on(writer: Writer, prefix: &str, is_enough: Arc<AtomicBool>) -> Duration {
        let mut longest = Duration::ZERO;
        for n in 0.. {
            let game = spec(&format!("{prefix}{n}"), "Bob", if n % 2 == 0 { "Eve" } else { "Ada" });
            let began = Instant::now();
            if writer.write(Write::StartGame(game.clone())).await.is_err() {
                break;
            }
            longest = longest.max(began.elapsed());
            let events = whole_game(&moves(n), GameResult::First, EndReason::Resign);
            writer.write(Write::Finish { game: game.id, events }).await.unwrap();
            if is_enough.load(Ordering::Relaxed) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        longest
    }

    /// How long commits took, and forgets them.
    fn told(commits: &mut Vec<Duration>) -> String {
        let mut took = std::mem::take(commits);
        took.sort_unstable();
        let place = |share: usize| took.get((took.len() * share / 1_000).min(took.len().saturating_sub(1)));
        let over = took.iter().filter(|took| took.as_millis() >= 50).count();
        let [middle, most, all] = [500, 990, 1_000].map(|share| place(share).copied().unwrap_or_default());
        format!(
            "{} of which half took {middle:?}, 99 of 100 {most:?}, all {all:?}; {over} over 50 ms",
            took.len()
        )
    }

    /// With `FOURFOLD_GAMES=100000` and `--nocapture` the measurement of docs/operating.md.
    #[tokio::test(flavor = "multi_thread")]
    async fn games_go_on_while_an_account_is_taken_out() {
        let games = std::env::var("FOURFOLD_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(300);
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Strict).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        fill(&*store, games).await;
        let (writer, actor) = Writer::new(Arc::clone(&store));
        let commits = Arc::new(Mutex::new(Vec::new()));
        let observed = Arc::clone(&commits);
        tokio::spawn(actor.on_commit(move |took| observed.lock().unwrap().push(took)).run());
        // A tenth as long as what follows, for what the disk takes by itself.
        let is_enough = Arc::new(AtomicBool::new(false));
        let alone = tokio::spawn(play_on(writer.clone(), "a", Arc::clone(&is_enough)));
        tokio::time::sleep(Duration::from_micros(30 * games as u64)).await;
        is_enough.store(true, Ordering::Relaxed);
        alone.await.unwrap();
        let before = told(&mut commits.lock().unwrap());
        is_enough.store(false, Ordering::Relaxed);
        let others = tokio::spawn(play_on(writer.clone(), "l", Arc::clone(&is_enough)));
        let began = Instant::now();
        let done =
            void_account(&*store, &writer, &player_id("Ada"), &because("a test"), PORTIONS).await.unwrap();
        let took = began.elapsed();
        is_enough.store(true, Ordering::Relaxed);
        let waited = others.await.unwrap();
        let during = told(&mut commits.lock().unwrap());
        println!("{} of {games} games taken out in {took:?}; longest wait of a move {waited:?}", done.games);
        println!("commits: {during}; before, with nothing else to write: {before}");
        assert!(done.games >= (0..games).filter(|n| n % 3 != 1).count() as u64);
        assert_eq!(findings(&*store).await, [""; 0]);
    }
}
