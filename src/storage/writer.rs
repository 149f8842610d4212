//! The one writer: groups writes into transactions and answers after the commit.
//!
//! Self-clocking group commit: everything that queued up during one commit becomes the next one. An idle daemon
//! waits for one fsync per move; a busy one makes batches grow by themselves, without a timer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tracing::{error, warn};

use super::store::{Refused, Store, StoreError, Write, Written};

/// Most writes in one transaction: 4,096 moves take some 20 ms to insert, about the time of a few fsyncs.
const BATCH_MAX: usize = 4_096;

/// Most writes that wait. A full queue means that the disk has stood still for seconds: see [`WriteError::Busy`].
const QUEUE_MAX: usize = 65_536;

/// From this share of the queue on, no new games begin.
const CONGESTED_AT: usize = QUEUE_MAX / 4;

/// How long to wait before writing again after the disk was full.
const FULL_RETRY: Duration = Duration::from_secs(1);

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
    /// The store failed: whether the write happened is unknown, and the daemon stops.
    #[error(transparent)]
    Store(Arc<StoreError>),
}

/// What a write came to.
pub type WriteResult = Result<Written, WriteError>;

type Reply = Box<dyn FnOnce(WriteResult) + Send>;

struct Item {
    write: Write,
    reply: Reply,
}

/// What the actor lets everybody see without asking it.
#[derive(Debug)]
struct Gauge {
    origin: Instant,
    waiting: AtomicUsize,
    /// When the commit that is now under way began, in milliseconds since `origin` plus one; 0 for none.
    busy_since: AtomicU64,
}

/// The cloneable address of the writer.
#[derive(Clone, Debug)]
pub struct Writer {
    items: mpsc::Sender<Item>,
    gauge: Arc<Gauge>,
}

impl Writer {
    /// Makes the writer and the actor behind it, which the caller runs.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> (Self, WriterActor) {
        let (items, inbox) = mpsc::channel(QUEUE_MAX);
        let gauge = Arc::new(Gauge {
            origin: Instant::now(),
            waiting: AtomicUsize::new(0),
            busy_since: AtomicU64::new(0),
        });
        let actor = WriterActor { store, inbox, gauge: Arc::clone(&gauge) };
        (Self { items, gauge }, actor)
    }

    /// Queues a write without waiting; `reply` is called after the commit, on the writer's task, and must be quick.
    pub fn submit(&self, write: Write, reply: impl FnOnce(WriteResult) + Send + 'static) {
        self.gauge.waiting.fetch_add(1, Ordering::Relaxed);
        let item = Item { write, reply: Box::new(reply) };
        if let Err(error) = self.items.try_send(item) {
            self.gauge.waiting.fetch_sub(1, Ordering::Relaxed);
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
    /// The write was refused, the queue is full, or the store failed.
    pub async fn write(&self, write: Write) -> WriteResult {
        let (reply, answer) = oneshot::channel();
        self.submit(write, move |result| {
            // The asker may have gone away; the write stands all the same.
            let _ = reply.send(result);
        });
        answer.await.unwrap_or_else(|_| Err(WriteError::Store(Arc::new(StoreError::Closed))))
    }

    /// Whether so much waits that no new game should begin.
    #[must_use]
    pub fn is_congested(&self) -> bool {
        self.waiting() >= CONGESTED_AT
    }

    /// Writes that wait, for metrics.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.gauge.waiting.load(Ordering::Relaxed)
    }

    /// Whether a commit has taken so long that flags must not fall because of it.
    #[must_use]
    pub fn is_stalled(&self, now: Instant) -> bool {
        match self.gauge.busy_since.load(Ordering::Relaxed).checked_sub(1) {
            None => false,
            Some(ms) => {
                let began = self.gauge.origin + Duration::from_millis(ms);
                now.saturating_duration_since(began) > STALLED_AFTER
            }
        }
    }
}

/// Owns the only path by which anything is written.
pub struct WriterActor {
    store: Arc<dyn Store>,
    inbox: mpsc::Receiver<Item>,
    gauge: Arc<Gauge>,
}

impl std::fmt::Debug for WriterActor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterActor").field("gauge", &self.gauge).finish_non_exhaustive()
    }
}

impl WriterActor {
    /// Runs until every [`Writer`] is dropped and all they sent is written.
    ///
    /// # Errors
    ///
    /// Ends at the first failure whose outcome is unknown: the daemon must then stop and recover at its next start.
    pub async fn run(mut self) -> Result<(), Arc<StoreError>> {
        let mut items = Vec::new();
        while self.inbox.recv_many(&mut items, BATCH_MAX).await > 0 {
            let (writes, replies): (Vec<Write>, Vec<Reply>) =
                items.drain(..).map(|item| (item.write, item.reply)).unzip();
            let result = self.commit(&writes).await;
            self.gauge.waiting.fetch_sub(writes.len(), Ordering::Relaxed);
            match result {
                Ok(answers) => {
                    for (reply, answer) in replies.into_iter().zip(answers) {
                        reply(answer.map_err(WriteError::Refused));
                    }
                }
                Err(failure) => {
                    error!(writes = writes.len(), error = ?failure, "commit failed, its outcome is unknown");
                    let failure = Arc::new(failure);
                    for reply in replies {
                        reply(Err(WriteError::Store(Arc::clone(&failure))));
                    }
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    /// Commits, waiting out a full disk.
    async fn commit(&self, writes: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        let since = u64::try_from(self.gauge.origin.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        self.gauge.busy_since.store(since, Ordering::Relaxed);
        let result = loop {
            match self.store.commit(writes).await {
                Err(StoreError::Full(cause)) => {
                    warn!(writes = writes.len(), error = ?cause, "disk is full, games wait");
                    tokio::time::sleep(FULL_RETRY).await;
                }
                result => break result,
            }
        };
        self.gauge.busy_since.store(0, Ordering::Relaxed);
        result
    }
}
