//! Where searching happens: on few threads of its own, never on a thread of the runtime.
//!
//! The threads of [`ComputePool`] are for those who sit at games. Whatever else is computed runs [`aside`], on threads
//! to which the system prefers them.

pub(crate) mod meter;
mod precedence;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::system::aside::{self, AsideError};
use crate::system::part::Part;
use crate::system::supervision::Supervision;
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;

use self::meter::ComputeMeter;
use self::precedence::Precedence;
pub(crate) use self::precedence::Priority;
use crate::model::world::on_thread;

/// Jobs that wait for a thread; from here on, no new games against house bots begin.
const WAITING_MAX: usize = 64;

/// A job came to no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum ComputeError {
    /// It panicked. Only this job is lost.
    #[error("the computation panicked")]
    Panicked,
    /// The daemon stops.
    #[error("the compute pool is closed")]
    Closed,
    /// The system refused a thread.
    #[error("there is no thread to compute on")]
    NoThread,
}

impl From<AsideError> for ComputeError {
    fn from(error: AsideError) -> Self {
        match error {
            AsideError::Panicked => Self::Panicked,
            AsideError::Closed => Self::Closed,
            AsideError::NoThread => Self::NoThread,
        }
    }
}

/// A bounded number of threads that think: people first, otherwise first come first served. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ComputePool {
    threads: Arc<Precedence>,
    size: usize,
    waiting: Arc<AtomicUsize>,
    meter: ComputeMeter,
    /// Who counts jobs that panic.
    supervision: Option<Supervision>,
}

impl ComputePool {
    /// A pool of at least one thread.
    pub(crate) fn new(threads: usize) -> Self {
        let size = threads.max(1);
        Self {
            threads: Arc::new(Precedence::new(size)),
            size,
            waiting: Arc::default(),
            meter: ComputeMeter::default(),
            supervision: None,
        }
    }

    /// The same, telling of jobs that panic. Whoever asked for one is told as well.
    pub(crate) fn supervised(self, supervision: Supervision) -> Self {
        Self { supervision: Some(supervision), ..self }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.size
    }

    /// What the bots' thinking has cost.
    pub(crate) fn meter(&self) -> &ComputeMeter {
        &self.meter
    }

    /// Whether so many jobs wait that nothing more should be begun.
    pub(crate) fn is_congested(&self) -> bool {
        self.waiting() >= WAITING_MAX
    }

    /// Jobs that wait for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A thread, if one is free and nobody waits for it.
    pub(crate) fn try_thread(&self) -> Option<ComputeThread> {
        self.threads.try_take().map(|permit| self.own(permit))
    }

    /// A thread when one's turn comes.
    ///
    /// # Errors
    ///
    /// The daemon stops.
    pub(crate) async fn thread(&self, priority: Priority) -> Result<ComputeThread, ComputeError> {
        let _waits = Waits::new(&self.waiting);
        let permit = self.threads.take(priority).await.ok_or(ComputeError::Closed)?;
        Ok(self.own(permit))
    }

    fn own(&self, permit: OwnedSemaphorePermit) -> ComputeThread {
        ComputeThread { _permit: permit, supervision: self.supervision.clone() }
    }
}

/// A thread of the pool that is one's own as long as this is kept.
#[derive(Debug)]
#[must_use = "others wait for it"]
pub(crate) struct ComputeThread {
    _permit: OwnedSemaphorePermit,
    /// Who counts jobs that panic.
    supervision: Option<Supervision>,
}

impl ComputeThread {
    /// Runs a job on it. The job itself must end in time: give it a stop flag.
    ///
    /// # Errors
    ///
    /// The job panicked, or the daemon stops.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let supervision = self.supervision.clone();
        let run = move || {
            let result = job();
            // Given back when it has ended, even if whoever asked has gone.
            drop(self);
            result
        };
        let done = on_thread(run).await;
        let done = done
            .map_err(|error| if error.is_panic() { ComputeError::Panicked } else { ComputeError::Closed });
        done.inspect_err(|error| count(supervision.as_ref(), *error))
    }

    /// Runs a job on it, and sets the flag that the job looks at when `time` is over.
    ///
    /// # Errors
    ///
    /// As for [`ComputeThread::run`].
    pub(crate) async fn run_for<T: Send + 'static>(
        self,
        time: Duration,
        job: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let running = self.run(move || job(&seen));
        tokio::pin!(running);
        tokio::select! {
            biased;
            done = &mut running => done,
            () = tokio::time::sleep(time) => {
                stop.store(true, Ordering::Relaxed);
                running.await
            }
        }
    }
}

/// Runs a job beside the threads that think for games, telling of a panic: see [`aside::run`].
///
/// # Errors
///
/// The job panicked, or the system has no thread for it.
pub(crate) async fn run_aside<T: Send + 'static>(
    supervision: Option<&Supervision>,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    aside::run(job).await.map_err(ComputeError::from).inspect_err(|error| count(supervision, *error))
}

/// Counts a job that panicked, if anybody counts them.
fn count(supervision: Option<&Supervision>, error: ComputeError) {
    if let (ComputeError::Panicked, Some(supervision)) = (error, supervision) {
        supervision.panicked(Part::Compute);
    }
}

/// Counts one waiting job, also if whoever asked for it gives up.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a job for people when a thread is free.
    async fn run<T: Send + 'static>(
        pool: &ComputePool,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        pool.thread(Priority::People).await?.run(job).await
    }

    #[tokio::test]
    async fn a_panicking_job_does_not_take_its_thread_along() {
        let pool = ComputePool::new(1);
        let lost: Result<(), _> = run(&pool, || panic!("broken on purpose")).await;
        assert_eq!(lost, Err(ComputeError::Panicked));
        assert_eq!(run(&pool, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_free_thread_is_there_at_once_and_no_other() {
        let pool = ComputePool::new(1);
        let thread = pool.try_thread().unwrap();
        assert!(pool.try_thread().is_none());
        assert_eq!(thread.run(|| 7).await, Ok(7));
        assert!(pool.try_thread().is_some());
    }

    #[tokio::test]
    async fn people_go_first() {
        let pool = ComputePool::new(1);
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let job = |priority, name: &'static str| {
            let (pool, order) = (pool.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                pool.thread(priority).await?.run(move || order.lock().unwrap().push(name)).await
            })
        };
        let blocking = tokio::spawn({
            let pool = pool.clone();
            async move { run(&pool, move || finished.recv().is_ok()).await }
        });
        while pool.try_thread().is_some() {
            tokio::task::yield_now().await;
        }
        let mut jobs = Vec::new();
        for (count, (priority, name)) in
            [(Priority::Bots, "bot"), (Priority::Bots, "bot"), (Priority::People, "person")]
                .into_iter()
                .enumerate()
        {
            jobs.push(job(priority, name));
            while pool.waiting() <= count {
                tokio::task::yield_now().await;
            }
        }
        finish.send(()).unwrap();
        assert_eq!(blocking.await.unwrap(), Ok(true));
        for job in jobs {
            job.await.unwrap().unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["person", "bot", "bot"]);
    }

    #[tokio::test]
    async fn jobs_wait_for_a_thread_and_a_job_given_up_waits_no_longer() {
        let pool = ComputePool::new(1);
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn({
            let pool = pool.clone();
            async move {
                let job = move || {
                    let _ = begun.send(());
                    finished.recv().is_ok()
                };
                run(&pool, job).await
            }
        });
        has_begun.await.unwrap();
        let waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move { run(&pool, || ()).await })
            })
            .collect();
        while !pool.is_congested() {
            tokio::task::yield_now().await;
        }
        for job in &waiting {
            job.abort();
        }
        for job in waiting {
            assert!(job.await.unwrap_err().is_cancelled());
        }
        assert_eq!(pool.waiting.load(Ordering::Relaxed), 0);
        finish.send(()).unwrap();
        assert_eq!(long.await.unwrap(), Ok(true));
    }
}
