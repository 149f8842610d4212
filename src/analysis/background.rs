//! A thread for work that nobody waits for, and how it leaves the machine to the games: learners and the judge each
//! have one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::analysis::compute::ComputePool;

/// Jobs that wait for the thread. There is one who gives it work, one job after the other; when the daemon stops, one
/// more may wait that nobody wants any longer.
const JOBS_MAX: usize = 2;

/// How much the system prefers other threads of ours to this one, from 0 to 19.
const NICENESS: i32 = 15;

/// How long to wait for the games' threads to become free before looking again.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// How often in a row it gives way to games that wait for a thread: a fifth of a second. Then it takes
/// a small job all the same, so that an arena that is always full learns and is judged too. On a fresh daemon games of
/// the ladder always wait, and four seconds for each job left 99 games of 100 unjudged; a core that both want is left
/// to the games by [`NICENESS`].
const BUSY_WAITS_MAX: u32 = 10;

/// Why a job came to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WorkerError {
    /// It panicked.
    #[error("the work panicked")]
    Panicked,
    /// The thread could not be started.
    #[error("there is no thread to work on")]
    Gone,
}

/// Whether to look again at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MoreWork {
    /// There is nothing more for now.
    No,
    /// There may be more.
    Perhaps,
}

type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs one after the other on a thread of low priority, resting in between.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: SyncSender<Job>,
    /// Part of one core that it takes at most, in percent.
    share: u32,
    /// Whose waiting jobs go first.
    games: Option<ComputePool>,
    /// Until when it rests from the last job.
    rests_until: Mutex<Option<tokio::time::Instant>>,
    /// There is no time to rest or to wait for anybody.
    haste: CancellationToken,
}

impl Worker {
    /// Starts the thread under a name; it ends with the worker.
    pub(crate) fn start(name: &str, share: u32, games: Option<ComputePool>) -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel::<Job>(JOBS_MAX);
        let work = move || {
            // On Linux this is about the calling thread alone. Without it, the work is merely less polite.
            let _ = rustix::process::nice(NICENESS);
            while let Ok(job) = queue.recv() {
                // Whoever waits for the job learns of the panic when its reply is dropped.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        std::thread::Builder::new().name(name.into()).spawn(work)?;
        Ok(Self {
            jobs,
            share: share.clamp(1, 100),
            games,
            rests_until: Mutex::default(),
            haste: CancellationToken::new(),
        })
    }

    /// Once this is cancelled, jobs are run at once and without rest: the daemon stops, and what they make is to be
    /// stored.
    pub(crate) fn haste(&self) -> CancellationToken {
        self.haste.clone()
    }

    /// Runs a job when it has rested from the one before and the games leave room for it. The rest comes before the
    /// next job, not after this one, so that whoever asked has the result at once.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkerError> {
        tokio::select! {
            () = self.haste.cancelled() => {}
            () = self.turn() => {}
        }
        let (reply, answer) = oneshot::channel();
        let job = move || {
            // By the thread's own clock: on a full machine the work waits for a core, which is no work to rest from.
            let began = thread_time();
            let result = job();
            // The asker may have gone away.
            let _ = reply.send((result, thread_time().saturating_sub(began)));
        };
        self.jobs.try_send(Box::new(job)).map_err(|_| WorkerError::Gone)?;
        let (result, took) = answer.await.map_err(|_| WorkerError::Panicked)?;
        let rested = tokio::time::Instant::now() + rest(took, self.share);
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(rested);
        Ok(result)
    }

    /// Waits until the next job may begin.
    async fn turn(&self) {
        let rested = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rested) = rested {
            tokio::time::sleep_until(rested).await;
        }
        for _ in 0..BUSY_WAITS_MAX {
            if self.games.as_ref().is_none_or(|games| games.waiting() == 0) {
                break;
            }
            tokio::time::sleep(BUSY_WAIT).await;
        }
    }
}

/// How long this thread has run.
pub(crate) fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// How long to do nothing after a job, so that jobs take no more than `share` percent of the time.
fn rest(took: Duration, share: u32) -> Duration {
    took * (100 - share) / share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_leaves_the_share() {
        let ms = Duration::from_millis;
        for (took, share, expected) in [(10, 25, 30), (10, 100, 0), (10, 50, 10), (330, 1, 32_670)] {
            assert_eq!(rest(ms(took), share), ms(expected), "{took} at {share}");
        }
    }

    /// Takes some time of the thread.
    fn work() -> usize {
        (0..200_000_u64).filter(|number| number.count_ones() == 3).count()
    }

    #[tokio::test(start_paused = true)]
    async fn it_rests_before_the_next_job_and_not_in_haste() {
        let worker = Worker::start("test", 1, None).unwrap();
        let begin = tokio::time::Instant::now();
        worker.run(work).await.unwrap();
        assert_eq!(begin.elapsed(), Duration::ZERO, "the result is there at once");
        worker.run(work).await.unwrap();
        let rested = begin.elapsed();
        assert!(rested > Duration::ZERO, "it rests a hundred times as long as it works");
        let haste = worker.haste();
        let (done, ()) = tokio::join!(worker.run(work), async { haste.cancel() });
        done.unwrap();
        worker.run(work).await.unwrap();
        assert_eq!(begin.elapsed(), rested);
    }

    #[tokio::test]
    async fn a_panic_does_not_take_the_thread_along() {
        let worker = Worker::start("test", 100, None).unwrap();
        let lost: Result<(), _> = worker.run(|| panic!("broken on purpose")).await;
        assert_eq!(lost, Err(WorkerError::Panicked));
        assert_eq!(worker.run(|| 7).await, Ok(7));
    }
}
