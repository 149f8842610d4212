//! Work that somebody waits for, but no game: each job on a thread of its own, to which the system prefers all others.

use thiserror::Error;

use crate::model::world::{is_simulated, on_thread};

/// How much the system prefers other threads of ours, from 0 to 19: beside a thread of a game on the same core, a job
/// gets about a tenth of it, and all of it when no game needs it.
const NICENESS: i32 = 10;

/// A job came to no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum AsideError {
    /// It panicked. Only this job is lost.
    #[error("the job panicked")]
    Panicked,
    /// The daemon stops.
    #[error("the daemon stops")]
    Closed,
    /// The system refused a thread.
    #[error("there is no thread for the job")]
    NoThread,
}

/// Runs a job on a thread of its own. The job itself must end in time: give it a stop flag. Whoever calls sees to it
/// that there are few at a time.
///
/// # Errors
///
/// See [`AsideError`].
pub(crate) async fn run<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AsideError> {
    // A simulated world is that of one thread.
    let done = if is_simulated() {
        on_thread(|| Ok(job())).await
    } else {
        // A thread of the runtime waits for it, for whose priority could not be raised again after the job.
        on_thread(|| on_polite_thread(job)).await
    };
    done.unwrap_or_else(|end| Err(if end.is_panic() { AsideError::Panicked } else { AsideError::Closed }))
}

fn on_polite_thread<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Result<T, AsideError> {
    let work = || {
        // On Linux this is about the calling thread alone. Without it, the work is merely less polite.
        let _ = rustix::process::nice(NICENESS);
        job()
    };
    let thread = std::thread::Builder::new().name("aside".into()).spawn(work);
    thread.map_err(|_| AsideError::NoThread)?.join().map_err(|_| AsideError::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_runs_at_a_lower_priority_than_the_games() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let here = niceness();
        assert_eq!(run(niceness).await, Ok((here + NICENESS).min(19)));
        assert_eq!(niceness(), here, "only that thread");
    }

    #[tokio::test]
    async fn a_panic_is_told() {
        let lost: Result<(), _> = run(|| panic!("broken on purpose")).await;
        assert_eq!(lost, Err(AsideError::Panicked));
    }
}
