//! Where searching happens: on few threads of its own, never on a thread of the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use thiserror::Error;
use tokio::sync::Semaphore;

/// Jobs that wait for a thread; from here on, no new games against house bots begin.
const WAITING_MAX: usize = 64;

/// A job came to no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ComputeError {
    /// It panicked. Only this job is lost.
    #[error("the computation panicked")]
    Panicked,
    /// The daemon stops.
    #[error("the compute pool is closed")]
    Closed,
}

/// A bounded number of threads that think, first come first served. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ComputePool {
    threads: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl ComputePool {
    /// A pool of at least one thread.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads: Arc::new(Semaphore::new(threads.max(1))), waiting: Arc::default() }
    }

    /// Whether so many jobs wait that nothing more should be begun.
    #[must_use]
    pub fn is_congested(&self) -> bool {
        self.waiting() >= WAITING_MAX
    }

    /// Jobs that wait for a thread.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs `job` as soon as a thread is free. The job itself must end in time: give it a stop flag.
    ///
    /// # Errors
    ///
    /// The job panicked, or the daemon stops.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let waits = Waits::new(&self.waiting);
        let permit = Arc::clone(&self.threads).acquire_owned().await;
        drop(waits);
        let permit = permit.map_err(|_| ComputeError::Closed)?;
        let run = move || {
            let result = job();
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(run)
            .await
            .map_err(|error| if error.is_panic() { ComputeError::Panicked } else { ComputeError::Closed })
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

    #[tokio::test]
    async fn a_panicking_job_does_not_take_its_thread_along() {
        let pool = ComputePool::new(1);
        let lost: Result<(), _> = pool.run(|| panic!("broken on purpose")).await;
        assert_eq!(lost, Err(ComputeError::Panicked));
        assert_eq!(pool.run(|| 7).await, Ok(7));
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
                pool.run(job).await
            }
        });
        has_begun.await.unwrap();
        let waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move { pool.run(|| ()).await })
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
