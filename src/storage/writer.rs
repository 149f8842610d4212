//! The one writer: groups writes into transactions and answers after the commit.
//!
//! Group commit: everything that queued up during one commit becomes the next one. An idle daemon waits for one fsync
//! per move; a busy one makes batches grow by themselves, and when many come it gives them a moment to gather, as
//! PostgreSQL does with `commit_delay` and `commit_siblings`.
//!
//! A full disk, another program that holds the database and a server out of reach are waited out: the games stand
//! still meanwhile, and what nobody has begun yet is refused at once. Any other failure ends the writer, as nobody
//! knows what it left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

use super::finished::FinishedGames;
use super::store::{Refused, Store, StoreError, Write, Written};

/// Most writes in one transaction: 4,096 moves take some 20 ms to insert, about the time of a few fsyncs.
const BATCH_MAX: usize = 4_096;

/// Most writes that wait. A full queue means that the disk has stood still for seconds: see [`WriteError::Busy`].
const QUEUE_MAX: usize = 65_536;

/// From this share of the queue on, no new games begin.
const CONGESTED_AT: usize = QUEUE_MAX / 4;

/// How long to wait before writing again when something was in the way.
const RETRY: Duration = Duration::from_secs(1);

/// How long a writer that has much to do lets more writes gather before it commits: a commit costs about as much as
/// thirty moves in it, and on one core it interrupts those who bring more.
const GATHER: Duration = Duration::from_millis(2);

/// From this age of the oldest waiting write on, no flag falls: the delay is ours, not the players'.
const STALLED_AFTER: Duration = Duration::from_millis(500);

/// Why a write did not happen, or may not have.
#[derive(Clone, Debug, Error)]
pub enum WriteError {
    /// This write was refused and left no trace.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The queue is full.
    #[error("too many writes are waiting")]
    Busy,
    /// Nothing can be written for now, and this is nothing that goes on already. It left no trace.
    #[error("{0}")]
    Obstructed(Obstacle),
    /// The store failed: whether the write happened is unknown, and the daemon stops.
    #[error(transparent)]
    Store(Arc<StoreError>),
}

/// What keeps the writer from writing until it goes away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Obstacle {
    #[error("no space is left on the disk")]
    DiskFull,
    #[error("another program holds the database")]
    Locked,
    #[error("the database server cannot be reached")]
    Unreachable,
}

impl Obstacle {
    /// Of what is in the way an error speaks, if it is of that kind.
    pub(crate) fn of(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::Full(_) => Some(Self::DiskFull),
            StoreError::Locked(_) => Some(Self::Locked),
            StoreError::Unreachable(_) => Some(Self::Unreachable),
            StoreError::Failed(_) | StoreError::Corrupt(_) | StoreError::Unusable(_) | StoreError::Closed => {
                None
            }
        }
    }

    /// In a word, for programs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::DiskFull => "disk_full",
            Self::Locked => "database_locked",
            Self::Unreachable => "database_unreachable",
        }
    }
}

/// What a write came to.
pub(crate) type WriteResult = Result<Written, WriteError>;

type Reply = Box<dyn FnOnce(WriteResult) + Send>;

struct QueuedWrite {
    write: Write,
    /// What belongs into the same transaction, if anything does: it is what the answer is of.
    then: Option<Box<Write>>,
    reply: Reply,
    queued_at: Instant,
}

/// What the actor lets everybody see without asking it.
#[derive(Debug)]
struct Gauge {
    origin: Instant,
    waiting: AtomicUsize,
    /// When the oldest write of the commit that is now under way was queued, in milliseconds since `origin` plus one;
    /// 0 for none.
    busy_since: AtomicU64,
    /// What is in the way: 0 for nothing, 1 for a full disk, 2 for a lock, 3 for a server that does not answer.
    obstacle: AtomicU8,
}

impl Gauge {
    fn set_busy_since(&self, queued_at: Instant) {
        let since = queued_at.saturating_duration_since(self.origin).as_millis();
        self.busy_since.store(u64::try_from(since).unwrap_or(u64::MAX - 1) + 1, Ordering::Relaxed);
    }

    fn set_obstacle(&self, obstacle: Option<Obstacle>) {
        let code = match obstacle {
            None => 0,
            Some(Obstacle::DiskFull) => 1,
            Some(Obstacle::Locked) => 2,
            Some(Obstacle::Unreachable) => 3,
        };
        self.obstacle.store(code, Ordering::Relaxed);
    }

    fn obstacle(&self) -> Option<Obstacle> {
        match self.obstacle.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Obstacle::DiskFull),
            2 => Some(Obstacle::Locked),
            _ => Some(Obstacle::Unreachable),
        }
    }

    fn busy_since(&self) -> Option<Instant> {
        let ms = self.busy_since.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.origin + Duration::from_millis(ms))
    }
}

/// The cloneable address of the writer.
#[derive(Clone, Debug)]
pub struct Writer {
    /// Before the sender, so that the store is let go before the actor ends for want of writers.
    finished: FinishedGames,
    items: mpsc::Sender<QueuedWrite>,
    gauge: Arc<Gauge>,
}

impl Writer {
    /// Makes the writer and the actor behind it, which the caller runs.
    pub(crate) fn new(store: Arc<dyn Store>) -> (Self, WriterActor) {
        let (items, inbox) = mpsc::channel(QUEUE_MAX);
        let gauge = Arc::new(Gauge {
            origin: now(),
            waiting: AtomicUsize::new(0),
            busy_since: AtomicU64::new(0),
            obstacle: AtomicU8::new(0),
        });
        let finished = FinishedGames::new(Arc::clone(&store));
        let actor = WriterActor {
            store,
            inbox,
            gauge: Arc::clone(&gauge),
            finished: finished.clone(),
            on_commit: Box::new(|_| {}),
            on_failure: Box::new(|| {}),
        };
        (Self { finished, items, gauge }, actor)
    }

    /// Queues a write without waiting; `reply` is called after the commit, on the writer's task, and must be quick.
    pub(crate) fn submit(&self, write: Write, reply: impl FnOnce(WriteResult) + Send + 'static) {
        self.submit_with(write, None, reply);
    }

    fn submit_with(
        &self,
        write: Write,
        then: Option<Box<Write>>,
        reply: impl FnOnce(WriteResult) + Send + 'static,
    ) {
        if let Some(obstacle) = self.obstacle()
            && write.can_wait_outside()
        {
            return reply(Err(WriteError::Obstructed(obstacle)));
        }
        let writes = 1 + usize::from(then.is_some());
        self.gauge.waiting.fetch_add(writes, Ordering::Relaxed);
        let item = QueuedWrite { write, then, reply: Box::new(reply), queued_at: now() };
        if let Err(error) = self.items.try_send(item) {
            self.gauge.waiting.fetch_sub(writes, Ordering::Relaxed);
            match error {
                mpsc::error::TrySendError::Full(item) => (item.reply)(Err(WriteError::Busy)),
                mpsc::error::TrySendError::Closed(item) => {
                    (item.reply)(Err(WriteError::Store(Arc::new(StoreError::Closed))));
                }
            }
        }
    }

    /// Writes and waits until it is durable.
    ///
    /// # Errors
    ///
    /// The write was refused, the queue is full, something is in the way, or the store failed.
    pub async fn write(&self, write: Write) -> WriteResult {
        self.write_with(write, None).await
    }

    /// Queues, at once, two writes of which the first must not be there without the second. The answer is that of the
    /// second, which is refused if the first was.
    pub(crate) fn write_both(
        &self,
        first: Write,
        second: Write,
    ) -> impl Future<Output = WriteResult> + use<> {
        let gauge = Arc::clone(&self.gauge);
        let written = self.write_with(first, Some(Box::new(second)));
        async move {
            match (written.await, gauge.obstacle()) {
                // The first could wait outside, the second only follows it.
                (Err(WriteError::Refused(_)), Some(obstacle)) => Err(WriteError::Obstructed(obstacle)),
                (written, _) => written,
            }
        }
    }

    fn write_with(
        &self,
        write: Write,
        then: Option<Box<Write>>,
    ) -> impl Future<Output = WriteResult> + use<> {
        let (reply, answer) = oneshot::channel();
        self.submit_with(write, then, move |result| {
            // The asker may have gone away; the write stands all the same.
            let _ = reply.send(result);
        });
        async move { answer.await.unwrap_or_else(|_| Err(WriteError::Store(Arc::new(StoreError::Closed)))) }
    }

    /// The finished games, with news of those whose end it writes.
    pub(crate) fn finished(&self) -> &FinishedGames {
        &self.finished
    }

    /// Whether so much waits that no new game should begin.
    pub(crate) fn is_congested(&self) -> bool {
        self.waiting() >= CONGESTED_AT
    }

    /// What keeps it from writing now, if something does.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        self.gauge.obstacle()
    }

    /// Writes that wait, for metrics.
    pub(crate) fn waiting(&self) -> usize {
        self.gauge.waiting.load(Ordering::Relaxed)
    }

    /// Whether a write has waited so long that flags must not fall because of it.
    pub(crate) fn is_stalled(&self, now: Instant) -> bool {
        let since = self.gauge.busy_since();
        since.is_some_and(|since| now.saturating_duration_since(since) > STALLED_AFTER)
    }
}

/// Writes that become one transaction, and who waits for each.
struct Batch {
    writes: Vec<Write>,
    replies: Vec<Reply>,
}

impl Batch {
    fn of(items: impl ExactSizeIterator<Item = QueuedWrite>) -> Self {
        let (mut writes, mut replies) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for QueuedWrite { write, then, reply, .. } in items {
            writes.push(write);
            if let Some(then) = then {
                writes.push(*then);
                replies.push(Box::new(|_| {}) as Reply);
            }
            replies.push(reply);
        }
        Self { writes, replies }
    }

    /// Takes some writes out, and gives back who waits for them.
    fn take_out(&mut self, is_out: impl Fn(&Write) -> bool) -> Vec<Reply> {
        let all = std::mem::take(&mut self.writes).into_iter().zip(std::mem::take(&mut self.replies));
        let (out, stays): (Vec<_>, Vec<_>) = all.partition(|(write, _)| is_out(write));
        (self.writes, self.replies) = stays.into_iter().unzip();
        out.into_iter().map(|(_, reply)| reply).collect()
    }
}

/// Tells from the sizes of commits whether the writer has so much to do that the next one should wait for more.
#[derive(Default)]
struct Rush {
    /// The mean of some [`Self::OVER`] commits, times that.
    sum: usize,
    is_on: bool,
}

impl Rush {
    /// Commits over which the mean is taken: single ones are large by chance.
    const OVER: usize = 8;
    /// Writes in a commit, in the mean, with which it begins: at 5,000 writes a second there are three, and nobody is
    /// to wait for longer than for the disk.
    const BEGINS: usize = 6;
    /// Writes in one commit after a wait with fewer of which it ends: 6,000 a second.
    const GOES_ON: usize = 16;

    /// A commit had so many writes: how long to wait before the next one.
    fn after(&mut self, writes: usize) -> Option<Duration> {
        if self.is_on && writes < Self::GOES_ON {
            *self = Self::default();
        } else {
            self.sum = self.sum - self.sum / Self::OVER + writes;
            self.is_on |= self.sum >= Self::OVER * Self::BEGINS;
        }
        self.is_on.then_some(GATHER)
    }
}

/// The runtime's clock, which tests can stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Owns the only path by which anything is written.
pub(crate) struct WriterActor {
    store: Arc<dyn Store>,
    inbox: mpsc::Receiver<QueuedWrite>,
    gauge: Arc<Gauge>,
    finished: FinishedGames,
    on_commit: Box<dyn Fn(Duration) + Send + Sync>,
    on_failure: Box<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for WriterActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterActor").field("gauge", &self.gauge).finish_non_exhaustive()
    }
}

impl WriterActor {
    /// Calls this with the time that each commit takes, the wait for a full disk included.
    pub(crate) fn on_commit(self, observe: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self { on_commit: Box::new(observe), ..self }
    }

    /// Tells `observe` of every attempt to write that failed.
    pub(crate) fn on_failure(self, observe: impl Fn() + Send + Sync + 'static) -> Self {
        Self { on_failure: Box::new(observe), ..self }
    }

    /// Runs where the store wants it: on a thread of its own, named `writer`, if commits block, so that between a move
    /// and its place on the disk there is one change of threads and no more.
    ///
    /// Aborted or dropped with its runtime, it ends after the commit at hand.
    pub(crate) fn start(self) -> JoinHandle<Result<(), Arc<StoreError>>> {
        if !self.store.commits_block() {
            return tokio::spawn(self.run());
        }
        let (mut done, ended) = oneshot::channel();
        let runtime = Handle::current();
        let work = move || {
            runtime.block_on(async {
                let result = tokio::select! {
                    biased;
                    () = done.closed() => return,
                    result = self.run() => result,
                };
                // Nobody may care any more.
                let _ = done.send(result);
            });
        };
        let spawned = thread::Builder::new().name("writer".to_owned()).spawn(work);
        tokio::spawn(async move {
            spawned.map_err(|error| Arc::new(StoreError::Failed(Box::new(error))))?;
            ended.await.expect("the writer has not panicked")
        })
    }

    /// Runs until every [`Writer`] is dropped and all they sent is written.
    ///
    /// # Errors
    ///
    /// Ends at the first failure whose outcome is unknown: the daemon must then stop and recover at its next start. All
    /// who wait are told before.
    pub(crate) async fn run(mut self) -> Result<(), Arc<StoreError>> {
        let mut items = Vec::new();
        let mut rush = Rush::default();
        while self.inbox.recv_many(&mut items, BATCH_MAX).await > 0 {
            if let Some(oldest) = items.first() {
                self.gauge.set_busy_since(oldest.queued_at);
            }
            let mut batch = Batch::of(items.drain(..));
            let began = now();
            let result = self.commit(&mut batch).await;
            (self.on_commit)(now().saturating_duration_since(began));
            self.gauge.busy_since.store(0, Ordering::Relaxed);
            self.gauge.waiting.fetch_sub(batch.writes.len(), Ordering::Relaxed);
            let Batch { writes, replies } = batch;
            let wait = rush.after(writes.len());
            match result {
                Ok(answers) => {
                    // Before the replies: whoever has one finds the news.
                    self.finished.committed(&writes, &answers);
                    for (reply, answer) in replies.into_iter().zip(answers) {
                        reply(answer.map_err(WriteError::Refused));
                    }
                }
                Err(failure) => {
                    (self.on_failure)();
                    error!(writes = writes.len(), error = ?failure, "commit failed, its outcome is unknown");
                    return Err(self.fail(replies, failure));
                }
            }
            if let Some(wait) = wait.filter(|_| self.inbox.len() < BATCH_MAX) {
                tokio::time::sleep(wait).await;
            }
        }
        Ok(())
    }

    /// Commits, waiting until nothing is in the way. What a server may have written before it went out of reach is not
    /// refused: it comes again as it was, and is then found or written.
    async fn commit(&self, batch: &mut Batch) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        let mut result = self.store.commit(&batch.writes).await;
        while let Err(failure) = &result
            && let Some(obstacle) = Obstacle::of(failure)
        {
            if self.gauge.obstacle() != Some(obstacle) {
                warn!(writes = batch.writes.len(), error = ?failure, %obstacle, "nothing can be written, games wait");
            }
            self.gauge.set_obstacle(Some(obstacle));
            (self.on_failure)();
            if !matches!(failure, StoreError::Unreachable(_)) {
                self.refuse_what_can_wait_outside(batch, obstacle);
            }
            tokio::time::sleep(RETRY).await;
            result = self.try_again(&batch.writes).await;
        }
        if let Some(obstacle) = self.gauge.obstacle()
            && result.is_ok()
        {
            info!(writes = batch.writes.len(), was = %obstacle, "everything can be written again");
            self.gauge.set_obstacle(None);
        }
        result
    }

    /// Writes again. If nothing is left to be written, something is tried that changes nothing: nobody must be let in
    /// as long as it fails.
    async fn try_again(&self, writes: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        if writes.is_empty() {
            return self.store.probe().await.map(|()| Vec::new());
        }
        self.store.commit(writes).await
    }

    fn refuse_what_can_wait_outside(&self, batch: &mut Batch, obstacle: Obstacle) {
        for reply in batch.take_out(Write::can_wait_outside) {
            self.gauge.waiting.fetch_sub(1, Ordering::Relaxed);
            reply(Err(WriteError::Obstructed(obstacle)));
        }
    }

    /// Tells all who wait that the store failed, those in the queue too.
    fn fail(mut self, replies: Vec<Reply>, failure: StoreError) -> Arc<StoreError> {
        let failure = Arc::new(failure);
        for reply in replies {
            reply(Err(WriteError::Store(Arc::clone(&failure))));
        }
        self.inbox.close();
        while let Ok(item) = self.inbox.try_recv() {
            self.gauge.waiting.fetch_sub(1 + usize::from(item.then.is_some()), Ordering::Relaxed);
            (item.reply)(Err(WriteError::Store(Arc::clone(&failure))));
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;

    use super::*;
    use crate::model::player::PlayerKind;
    use crate::storage::conformance::{add, add_players, moves, player, spec};
    use crate::storage::forgetting::Forgetting;
    use crate::storage::memory::{CommitFault, MemoryStore};

    #[tokio::test]
    async fn two_that_belong_together_are_never_in_two_transactions() {
        let Setup { store, writer, actor } = set_up();
        add_players(&*store, &["Ada", "Bob"]).await;
        let nothing = Forgetting { lessons_before: None, notes_before: None, games: 1 };
        // As many as one transaction has, all but one.
        let others = (1..BATCH_MAX).map(|_| writer.write(Write::Forget(nothing)));
        let events = moves("44");
        let game = Write::StartGame(spec("g1", "Ada", "Bob"));
        let both = writer.write_both(game, Write::Append { game: "g1".parse().unwrap(), events });
        let (others, both) = tokio::join!(futures::future::join_all(others), both);
        assert!(others.into_iter().all(|other| other.is_ok()));
        assert_eq!(both.unwrap(), Written::Done);
        assert_eq!(store.commit_sizes().last(), Some(&(BATCH_MAX + 1)));
        assert_eq!(writer.waiting(), 0);
        let again = Write::Append { game: "none".parse().unwrap(), events: moves("44") };
        let refused = writer.write_both(Write::StartGame(spec("g1", "Ada", "Bob")), again).await;
        assert!(matches!(refused, Err(WriteError::Refused(Refused::NoSuchGame))), "{refused:?}");
        drop(writer);
        actor.await.unwrap().unwrap();
    }

    struct Setup {
        store: Arc<MemoryStore>,
        writer: Writer,
        actor: JoinHandle<Result<(), Arc<StoreError>>>,
    }

    fn set_up() -> Setup {
        let store = Arc::new(MemoryStore::new());
        let (writer, actor) = Writer::new(store.clone());
        Setup { store, writer, actor: tokio::spawn(actor.run()) }
    }

    fn add_player(name: &str) -> Write {
        add(player(name, PlayerKind::Human))
    }

    /// Queues a write now and hands out its answer.
    fn queue(writer: &Writer, write: Write) -> impl Future<Output = WriteResult> + use<> {
        let (reply, answer) = oneshot::channel();
        writer.submit(write, move |result| reply.send(result).unwrap());
        async { answer.await.expect("every write is answered") }
    }

    /// Lets the actor take up what is queued. Time is paused: it passes only when nothing else can be done.
    async fn settle() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn every_commit_says_how_long_it_took() {
        let store = Arc::new(MemoryStore::new());
        let (writer, actor) = Writer::new(store.clone());
        let (said, mut heard) = mpsc::unbounded_channel();
        let running = tokio::spawn(actor.on_commit(move |took| said.send(took).unwrap()).run());
        store.inject(CommitFault::Slow(Duration::from_secs(1)));
        queue(&writer, add_player("one")).await.unwrap();
        assert!(heard.recv().await.unwrap() >= Duration::from_secs(1));
        drop(writer);
        running.await.unwrap().unwrap();
        assert_eq!(heard.recv().await, None, "one commit, one word");
    }

    #[tokio::test(start_paused = true)]
    async fn what_queues_up_during_a_commit_becomes_the_next_one() {
        let Setup { store, writer, actor } = set_up();
        store.inject(CommitFault::Slow(Duration::from_secs(1)));
        let first = queue(&writer, add_player("one"));
        settle().await;
        let later = ["two", "three", "four"].map(|name| queue(&writer, add_player(name)));
        assert_eq!(writer.waiting(), 4);
        first.await.unwrap();
        for answer in later {
            answer.await.unwrap();
        }
        assert_eq!(store.commit_sizes(), [1, 3]);
        assert_eq!(writer.waiting(), 0);
        drop(writer);
        actor.await.unwrap().unwrap();
    }

    /// How long it would wait after each of these commits, in milliseconds.
    fn waits(commits: &[usize]) -> Vec<u128> {
        let mut rush = Rush::default();
        commits.iter().map(|writes| rush.after(*writes).map_or(0, |wait| wait.as_millis())).collect()
    }

    #[test]
    fn many_writes_in_the_mean_begin_a_rush_and_few_after_a_wait_end_it() {
        assert_eq!(waits(&[1, 40, 1, 2, 3]), [0; 5], "one large commit");
        assert_eq!(waits(&[3; 1_000]), [0; 1_000], "5,000 a second");
        let saturated: Vec<usize> = [1, 15].repeat(20);
        let begins = waits(&saturated).iter().position(|wait| *wait > 0).unwrap();
        assert!(begins < 12, "8 in the mean, however they alternate: {begins}");
        assert_eq!(waits(&[48, 80, 16, 15, 3, 3]), [2, 2, 2, 0, 0, 0]);
        assert_eq!(waits(&[usize::MAX / 2, 0]), [2, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn in_a_rush_more_writes_gather_before_the_next_commit() {
        let Setup { store, writer, .. } = set_up();
        let crowd = |from: usize| {
            let names = (from..from + Rush::GOES_ON).map(|number| format!("player-{number}"));
            names.map(|name| queue(&writer, add_player(&name))).collect::<Vec<_>>()
        };
        for round in 0..4 {
            for answer in crowd(100 * round) {
                answer.await.unwrap();
            }
        }
        let began = now();
        let first = queue(&writer, add_player("first"));
        settle().await;
        let second = queue(&writer, add_player("second"));
        first.await.unwrap();
        second.await.unwrap();
        assert!(now() - began <= GATHER + Duration::from_millis(1));
        let alone = now();
        queue(&writer, add_player("third")).await.unwrap();
        assert_eq!(now(), alone, "the rush is over");
        let sizes = store.commit_sizes();
        assert_eq!((&sizes[..4], &sizes[4..]), (&[Rush::GOES_ON; 4][..], &[2, 1][..]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_answers_one_write_only() {
        let Setup { writer, .. } = set_up();
        let answers = ["Ada", "ADA", "Bob"].map(|name| queue(&writer, add_player(name)));
        let [first, second, third] = answers;
        assert!(matches!(first.await, Ok(Written::Done)));
        assert!(matches!(second.await, Err(WriteError::Refused(Refused::NameTaken))));
        assert!(matches!(third.await, Ok(Written::Done)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_disk_is_waited_out() {
        let Setup { store, writer, .. } = set_up();
        add_players(&*store, &["Ada", "Bob"]).await;
        let game = spec("g1", "Ada", "Bob");
        writer.write(Write::StartGame(game.clone())).await.unwrap();
        store.inject(CommitFault::Full);
        store.inject(CommitFault::Full);
        let began = tokio::time::Instant::now();
        let answer = writer.write(Write::Append { game: game.id, events: moves("4") }).await;
        assert!(matches!(answer, Ok(Written::Done)), "{answer:?}");
        assert_eq!(began.elapsed(), 2 * RETRY);
        assert_eq!(store.commit_sizes().last(), Some(&1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_new_is_refused_at_once_while_nothing_can_be_written() {
        for (fault, obstacle) in
            [(CommitFault::Full, Obstacle::DiskFull), (CommitFault::Locked, Obstacle::Locked)]
        {
            let Setup { store, writer, .. } = set_up();
            let game = spec("g1", "Ada", "Bob");
            add_players(&*store, &["Ada", "Bob"]).await;
            writer.write(Write::StartGame(game.clone())).await.unwrap();
            (0..3).for_each(|_| store.inject(fault));
            let began = tokio::time::Instant::now();
            let of_the_game = queue(&writer, Write::Append { game: game.id, events: moves("4") });
            let with_it = queue(&writer, add_player("Eve")).await;
            let is_refused =
                |result: &WriteResult| matches!(result, Err(WriteError::Obstructed(why)) if *why == obstacle);
            assert!(is_refused(&with_it), "{with_it:?}");
            let later = writer.write(add_player("Eve")).await;
            assert!(is_refused(&later), "{later:?}");
            assert_eq!(began.elapsed(), Duration::ZERO, "nobody was kept waiting");
            assert!(writer.is_stalled(now() + STALLED_AFTER * 2), "the games stand still");
            assert_eq!(writer.obstacle(), Some(obstacle));
            of_the_game.await.unwrap();
            assert_eq!(began.elapsed(), 3 * RETRY);
            assert_eq!((writer.obstacle(), writer.waiting()), (None, 0));
            writer.write(add_player("Eve")).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_out_of_reach_is_waited_for_and_what_it_wrote_unheard_is_not_written_again() {
        use crate::storage::games::GameStore as _;
        use crate::storage::memory::Parting::{AfterCommit, BeforeCommit};
        for partings in [[BeforeCommit; 2], [AfterCommit; 2], [AfterCommit, BeforeCommit]] {
            let Setup { store, writer, .. } = set_up();
            add_players(&*store, &["Ada", "Bob"]).await;
            let game = spec("g1", "Ada", "Bob");
            writer.write(Write::StartGame(game.clone())).await.unwrap();
            for parting in partings {
                store.inject(CommitFault::Unreachable(parting));
            }
            let began = tokio::time::Instant::now();
            let of_the_game = queue(&writer, Write::Append { game: game.id.clone(), events: moves("4") });
            let with_it = queue(&writer, add_player("Eve"));
            // They may be written: nobody may be told that they are not.
            let answers = (with_it.await, of_the_game.await);
            assert!(matches!(answers, (Ok(Written::Done), Ok(Written::Done))), "{partings:?}: {answers:?}");
            assert_eq!(began.elapsed(), 2 * RETRY);
            assert_eq!((writer.obstacle(), writer.waiting()), (None, 0));
            assert_eq!(store.game(&game.id).await.unwrap().unwrap().moves(), "4", "{partings:?}: once");
            let next = Write::Append { game: game.id, events: moves("44").split_off(1) };
            writer.write(next).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn while_a_server_is_out_of_reach_what_comes_later_is_refused_and_the_games_stand_still() {
        use crate::storage::memory::Parting::AfterCommit;
        let Setup { store, writer, .. } = set_up();
        (0..3).for_each(|_| store.inject(CommitFault::Unreachable(AfterCommit)));
        let first = queue(&writer, add_player("Ada"));
        tokio::time::sleep(RETRY / 2).await;
        assert_eq!(writer.obstacle(), Some(Obstacle::Unreachable));
        assert!(writer.is_stalled(now() + STALLED_AFTER * 2), "the games stand still");
        let later = writer.write(add_player("Eve")).await;
        assert!(matches!(later, Err(WriteError::Obstructed(Obstacle::Unreachable))), "{later:?}");
        first.await.unwrap();
        assert_eq!((writer.obstacle(), writer.waiting()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_let_in_before_writing_works_again_even_if_nobody_waits() {
        let Setup { store, writer, .. } = set_up();
        (0..3).for_each(|_| store.inject(CommitFault::Full));
        let refused =
            || async { matches!(writer.write(add_player("Ada")).await, Err(WriteError::Obstructed(_))) };
        assert!(refused().await);
        tokio::time::sleep(2 * RETRY + RETRY / 2).await;
        assert!(refused().await, "two probes have failed");
        tokio::time::sleep(RETRY).await;
        assert!(!refused().await);
        assert_eq!((writer.obstacle(), writer.waiting()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_ends_the_writer_and_answers_everybody() {
        let Setup { store, writer, actor } = set_up();
        store.inject(CommitFault::Failed);
        let append = || Write::Append { game: spec("g1", "Ada", "Bob").id, events: moves("4") };
        let in_the_batch_and_behind: Vec<_> =
            std::iter::repeat_with(|| queue(&writer, append())).take(BATCH_MAX + 2).collect();
        for answer in in_the_batch_and_behind {
            let answer = answer.await;
            let Err(WriteError::Store(failure)) = answer else { panic!("{answer:?}") };
            assert!(matches!(*failure, StoreError::Failed(_)));
        }
        assert!(matches!(*actor.await.unwrap().unwrap_err(), StoreError::Failed(_)));
        assert!(matches!(writer.write(append()).await, Err(WriteError::Store(_))));
        assert_eq!((writer.waiting(), store.commit_sizes()), (0, vec![]));
    }

    #[tokio::test(start_paused = true)]
    async fn writes_of_dropped_writers_are_still_written() {
        let Setup { store, writer, actor } = set_up();
        let answer = queue(&writer, add_player("Ada"));
        drop(writer);
        actor.await.unwrap().unwrap();
        answer.await.unwrap();
        assert_eq!(store.commit_sizes(), [1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_commit_counts_as_stalled() {
        let Setup { store, writer, .. } = set_up();
        let in_time = || Instant::now() + STALLED_AFTER / 2;
        let too_late = || Instant::now() + STALLED_AFTER * 2;
        assert!(!writer.is_stalled(too_late()), "nothing waits");
        store.inject(CommitFault::Slow(Duration::from_secs(9)));
        let answer = queue(&writer, add_player("Ada"));
        settle().await;
        assert!(!writer.is_stalled(in_time()));
        assert!(writer.is_stalled(too_late()));
        answer.await.unwrap();
        assert!(!writer.is_stalled(too_late()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_and_a_quarter_is_congested() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let (writer, actor) = Writer::new(store.clone());
        let append = || Write::Append { game: spec("g1", "Ada", "Bob").id, events: moves("4") };
        for _ in 0..CONGESTED_AT - 1 {
            writer.submit(append(), |_| {});
        }
        assert!(!writer.is_congested());
        for _ in CONGESTED_AT - 1..QUEUE_MAX {
            writer.submit(append(), |_| {});
        }
        assert!(writer.is_congested());
        assert!(matches!(writer.write(append()).await, Err(WriteError::Busy)));
        assert_eq!(writer.waiting(), QUEUE_MAX);
        drop(actor);
        assert!(matches!(writer.write(append()).await, Err(WriteError::Store(_))));
    }
}
