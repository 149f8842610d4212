//! Keeps the parts of the daemon going: whatever comes in, a panic ends what was being done and nothing else.
//!
//! Everything that runs is owned in one of three ways, and each of them counts panics by part:
//!
//! - A [`Part`] that is there as long as the daemon is a [`Kept`] one, run by [`Supervision::keep`]. When it panics,
//!   it makes itself again from what is stored and goes on; its inbox is its own and outlives the panic, so the handles
//!   that others hold stay good, what waits in it is done next, and only the request in hand is answered with an error.
//!   One that panics again and again pauses (see [`relapses`]), says so on `/readyz`, and turns requests away then.
//! - A task for one thing is spawned by [`super::tasks::Tasks`]: it ends, and its owner hears of it.
//! - A request, a command, a room and a job to compute are caught where they are made, each by its owner, who tells
//!   [`Supervision::panicked`].
//!
//! The writer is none of these. If it fails, nobody knows what is stored of the batch in hand, so nothing may be
//! acknowledged any more: the process ends with exit code 74, and the next start reads the truth.

mod relapses;

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

use self::relapses::{NextLife, Relapses};
use super::metrics::Metrics;
use super::part::Part;
use crate::model::clock::now;

/// Things set aside that are remembered for the operator; the counter has all of them.
const SET_ASIDE_SHOWN: usize = 16;

/// Why a part cannot be made again.
pub(crate) type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// A part that is there as long as the daemon.
pub(crate) trait Kept: Send {
    fn part(&self) -> Part;

    /// Works until the daemon stops.
    ///
    /// # Errors
    ///
    /// What it is made from cannot be read; that counts as a failure like a panic.
    fn run(&mut self, stop: &CancellationToken) -> impl Future<Output = Result<(), BoxedError>> + Send;

    /// Makes it again after a panic in the middle of [`Self::run`]: what it knew may be half true. Whoever waits for
    /// what is lost is told.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    fn renew(&mut self) -> impl Future<Output = Result<(), BoxedError>> + Send;

    /// Refuses what comes in while it pauses. It is dropped when the pause is over.
    fn turn_away(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// A part without an inbox of its own, of which nothing is left after a panic: `make` makes it and lets it run.
pub(crate) fn remade<M, F>(part: Part, make: M) -> impl Kept
where
    M: FnMut(CancellationToken) -> F + Send,
    F: Future<Output = Result<(), BoxedError>> + Send,
{
    Remade { part, make }
}

struct Remade<M> {
    part: Part,
    make: M,
}

impl<M, F> Kept for Remade<M>
where
    M: FnMut(CancellationToken) -> F + Send,
    F: Future<Output = Result<(), BoxedError>> + Send,
{
    fn part(&self) -> Part {
        self.part
    }

    fn run(&mut self, stop: &CancellationToken) -> impl Future<Output = Result<(), BoxedError>> + Send {
        (self.make)(stop.clone())
    }

    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

/// What keeps the parts going. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Supervision {
    metrics: Arc<Metrics>,
    standing: watch::Sender<Standing>,
    #[cfg(test)]
    faults: tokio::sync::broadcast::Sender<Part>,
    #[cfg(test)]
    stopped_at: Arc<std::sync::OnceLock<Instant>>,
}

/// Of a process that serves nobody.
impl Default for Supervision {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

/// What an operator should know.
#[derive(Debug, Default)]
struct Standing {
    paused: BTreeMap<Part, String>,
    set_aside: VecDeque<String>,
}

impl Supervision {
    /// Nothing has failed yet.
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            standing: watch::Sender::default(),
            #[cfg(test)]
            faults: tokio::sync::broadcast::Sender::new(64),
            #[cfg(test)]
            stopped_at: Arc::default(),
        }
    }

    /// What the parts count.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// A part panicked. What it was about has been logged by the panic hook.
    pub(crate) fn panicked(&self, part: Part) {
        self.metrics.panicked(part);
        error!(part = part.as_str(), "a part of the daemon panicked");
    }

    /// A part leaves out one thing for good that makes it panic, so that it can go on with all others.
    pub(crate) fn set_aside(&self, part: Part, what: &str) {
        self.metrics.set_aside(part);
        error!(part = part.as_str(), what, "set aside, for it makes this part panic");
        self.standing.send_modify(|standing| {
            standing.set_aside.truncate(SET_ASIDE_SHOWN - 1);
            standing.set_aside.push_front(format!("{}: {what}", part.as_str()));
        });
    }

    /// Why the daemon is not all there, one sentence a part that pauses.
    pub(crate) fn pauses(&self) -> Vec<String> {
        self.standing.borrow().paused.values().cloned().collect()
    }

    /// The last things that were set aside, the newest first.
    pub(crate) fn things_set_aside(&self) -> Vec<String> {
        self.standing.borrow().set_aside.iter().cloned().collect()
    }

    /// Runs a part until the daemon stops, from panic to panic.
    pub(crate) async fn keep(self, mut kept: impl Kept, stop: CancellationToken) {
        let part = kept.part();
        let mut relapses = Relapses::default();
        let mut failed = false;
        loop {
            let life = AssertUnwindSafe(self.live(&mut kept, failed, &stop)).catch_unwind();
            match life.await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error!(part = part.as_str(), error, "a part cannot be made again"),
                Err(_panic) => self.panicked(part),
            }
            failed = true;
            if let NextLife::After(pause) = relapses.failed(self.now()) {
                self.pause(part, &format!("{} has failed several times and pauses", part.as_str()));
                let turning_away = async {
                    // When that ends it has nothing more to refuse, or cannot even do that.
                    let _ = AssertUnwindSafe(kept.turn_away()).catch_unwind().await;
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.sleep(pause) => {}
                    () = turning_away => {}
                }
                self.standing.send_modify(|standing| drop(standing.paused.remove(&part)));
                info!(part = part.as_str(), "a part that paused tries again");
            }
        }
    }

    async fn live(
        &self,
        kept: &mut impl Kept,
        failed: bool,
        stop: &CancellationToken,
    ) -> Result<(), BoxedError> {
        let part = kept.part();
        let life = async {
            if failed {
                kept.renew().await?;
                info!(part = part.as_str(), "a part that failed goes on");
            }
            kept.run(stop).await
        };
        #[cfg(test)]
        let life = self.may_be_struck(part, life);
        life.await
    }

    fn pause(&self, part: Part, reason: &str) {
        error!(part = part.as_str(), reason, "a part pauses");
        self.standing.send_modify(|standing| drop(standing.paused.insert(part, reason.to_owned())));
    }
}

#[cfg(not(test))]
impl Supervision {
    #[expect(clippy::unused_self, reason = "tests stop the time of one daemon")]
    fn now(&self) -> Instant {
        now()
    }

    #[expect(clippy::unused_self, reason = "likewise")]
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        tokio::time::sleep(time)
    }
}

/// Fault points: tests make a kept part panic, wherever it is.
#[cfg(test)]
impl Supervision {
    /// From here on no time passes for parts that fail: however slow the machine, failures count together, and who
    /// pauses does so for ever. For tests in real time.
    pub(crate) fn stop_time(&self) {
        self.stopped_at.get_or_init(now);
    }

    fn now(&self) -> Instant {
        self.stopped_at.get().copied().unwrap_or_else(now)
    }

    async fn sleep(&self, time: Duration) {
        match self.stopped_at.get() {
            Some(_) => std::future::pending().await,
            None => tokio::time::sleep(time).await,
        }
    }

    pub(crate) fn strike(&self, part: Part) {
        let _nobody_may_listen = self.faults.send(part);
    }

    async fn may_be_struck<T>(&self, part: Part, life: impl Future<Output = T>) -> T {
        let mut faults = self.faults.subscribe();
        let struck = async { while faults.recv().await != Ok(part) {} };
        tokio::select! {
            biased;
            () = struck => panic!("{} was struck", part.as_str()),
            ended = life => ended,
        }
    }
}

#[cfg(test)]
mod tests;
