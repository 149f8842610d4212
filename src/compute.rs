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
        self.waiting.load(Ordering::Relaxed) >= WAITING_MAX
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
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let permit = Arc::clone(&self.threads).acquire_owned().await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
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
}
