//! What lies under the store: how long commits take, which fail, and what is left after a crash.
//!
//! The store itself is in memory. What is durable is a journal of the batches; after a crash the store is made anew
//! from it, so all that was not in it is lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use fourfold::storage::memory::{Answers, CommitFault, Disk, Parting};
use fourfold::storage::store::Write;
use fourfold::storage::{MemoryStore, StoreError};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio::sync::Notify;

use crate::defect::Defect;

/// How long a commit takes on a good day, in milliseconds; half of it before it is durable.
const COMMIT_MS: std::ops::Range<u64> = 0..8;

/// How long a read takes, in milliseconds.
const READ_MS: std::ops::Range<u64> = 0..3;

/// When the process is to die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Death {
    /// When the next commit is about to become durable.
    BeforeCommit,
    /// When the next commit is durable and nobody knows.
    AfterCommit,
}

/// The disk of all processes of a run, one after the other.
#[derive(Debug)]
pub(crate) struct SimDisk {
    inner: Mutex<Inner>,
    /// The process is dead.
    died: Notify,
}

#[derive(Debug)]
struct Inner {
    chance: ChaCha8Rng,
    journal: Vec<Vec<Write>>,
    /// Acknowledged and not durable, which only a broken disk has.
    volatile: Option<Vec<Write>>,
    faults: VecDeque<CommitFault>,
    /// Written by a server that could not say so: written again, it comes to the same.
    unheard: Option<(Vec<Write>, Answers)>,
    /// Reads to come that fail.
    unreadable: u32,
    death: Option<Death>,
    defect: Option<Defect>,
}

impl Inner {
    fn heal(&mut self) {
        self.faults.clear();
        self.unreadable = 0;
        self.death = None;
    }
}

/// What happens to one commit.
struct Course {
    before: Duration,
    after: Duration,
    fault: Option<CommitFault>,
    /// What a failed commit leaves.
    is_written: bool,
}

impl SimDisk {
    pub(crate) fn new(seed: u64, defect: Option<Defect>) -> Arc<Self> {
        let inner = Inner {
            chance: ChaCha8Rng::seed_from_u64(seed),
            journal: Vec::new(),
            volatile: None,
            faults: VecDeque::new(),
            unheard: None,
            unreadable: 0,
            death: None,
            defect,
        };
        Arc::new(Self { inner: Mutex::new(inner), died: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while he holds the disk")
    }

    /// The process is gone, and with it all that was not durable.
    pub(crate) fn crash(&self) {
        let mut inner = self.lock();
        inner.volatile = None;
        inner.unheard = None;
        inner.heal();
        if let Some(defect) = inner.defect {
            defect.harm(&mut inner.journal);
        }
    }

    /// The store as it is after a start: all that is durable and nothing else.
    pub(crate) fn mount(self: &Arc<Self>) -> Arc<MemoryStore> {
        let inner = self.lock();
        let disk: Arc<dyn Disk> = Arc::<Self>::clone(self);
        let store = MemoryStore::on(disk);
        for batch in &inner.journal {
            store.apply(batch);
        }
        Arc::new(store)
    }

    /// All that is durable, batch by batch.
    pub(crate) fn journal(&self) -> Vec<Vec<Write>> {
        self.lock().journal.clone()
    }

    /// Lets commits to come fail or wait, in this order.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = CommitFault>) {
        self.lock().faults.extend(faults);
    }

    /// No more faults, until somebody asks for some.
    pub(crate) fn heal(&self) {
        self.lock().heal();
    }

    /// Lets reads to come fail.
    pub(crate) fn fail_reads(&self, reads: u32) {
        self.lock().unreadable += reads;
    }

    /// Lets the process die at the next commit.
    pub(crate) fn die(&self, death: Death) {
        self.lock().death = Some(death);
    }

    /// Waits until it has.
    pub(crate) async fn died(&self) {
        self.died.notified().await;
    }

    fn course(&self) -> Course {
        let mut inner = self.lock();
        let fault = inner.faults.pop_front();
        let took = inner.chance.random_range(COMMIT_MS);
        let slow = match fault {
            Some(CommitFault::Slow(slow)) => slow,
            Some(
                CommitFault::Full | CommitFault::Locked | CommitFault::Failed | CommitFault::Unreachable(_),
            )
            | None => Duration::ZERO,
        };
        let before = slow + Duration::from_millis(took / 2);
        let after = Duration::from_millis(took.div_ceil(2));
        Course { before, after, fault, is_written: inner.chance.random() }
    }

    async fn live_through(&self, moment: Death) {
        if self.lock().death == Some(moment) {
            self.died.notify_one();
            std::future::pending::<()>().await;
        }
    }

    fn keep(&self, batch: &[Write], apply: &(dyn Fn() -> Answers + Sync)) -> Answers {
        let mut inner = self.lock();
        if inner.defect == Some(Defect::EarlyAck) {
            let before = inner.volatile.replace(batch.to_vec());
            inner.journal.extend(before);
        } else {
            inner.journal.push(batch.to_vec());
        }
        drop(inner);
        apply()
    }
}

impl SimDisk {
    /// Keeps a batch, unless it is kept already and nobody heard of it.
    fn keep_once(&self, batch: &[Write], apply: &(dyn Fn() -> Answers + Sync)) -> Answers {
        let unheard = self.lock().unheard.take().filter(|(written, _)| written == batch);
        unheard.map_or_else(|| self.keep(batch, apply), |(_, answers)| answers)
    }
}

#[async_trait]
impl Disk for SimDisk {
    async fn commit(
        &self,
        batch: &[Write],
        apply: &(dyn Fn() -> Answers + Sync),
    ) -> Result<Answers, StoreError> {
        let Course { before, after, fault, is_written } = self.course();
        tokio::time::sleep(before).await;
        self.live_through(Death::BeforeCommit).await;
        match fault {
            Some(CommitFault::Full) => return Err(StoreError::Full("the simulated disk is full".into())),
            Some(CommitFault::Locked) => return Err(StoreError::Locked("somebody holds the disk".into())),
            Some(CommitFault::Failed) => {
                if is_written {
                    self.keep(batch, apply);
                }
                return Err(StoreError::Failed("the simulated disk failed".into()));
            }
            Some(CommitFault::Unreachable(parting)) => {
                if parting == Parting::AfterCommit {
                    let answers = self.keep_once(batch, apply);
                    self.lock().unheard = Some((batch.to_vec(), answers));
                }
                return Err(StoreError::Unreachable("the simulated server is away".into()));
            }
            Some(CommitFault::Slow(_)) | None => {}
        }
        let answers = self.keep_once(batch, apply);
        self.live_through(Death::AfterCommit).await;
        tokio::time::sleep(after).await;
        Ok(answers)
    }

    async fn read(&self) -> Result<(), StoreError> {
        let (took, fails) = {
            let mut inner = self.lock();
            let fails = inner.unreadable > 0;
            inner.unreadable -= u32::from(fails);
            (inner.chance.random_range(READ_MS), fails)
        };
        tokio::time::sleep(Duration::from_millis(took)).await;
        if fails { Err(StoreError::Failed("the simulated disk cannot be read".into())) } else { Ok(()) }
    }
}
