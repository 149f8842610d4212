//! Work that somebody waits for, but no game: each job on a thread of its own, beside the threads that think for games.

use super::{ComputeError, count};
use crate::model::world::on_thread;
use crate::system::supervision::Supervision;

/// How much the system prefers other threads of ours, from 0 to 19: beside a thread of a game on the same core, a job
/// gets about a tenth of it, and all of it when no game needs it.
const NICENESS: i32 = 10;

/// Runs a job on a thread of its own, telling of a panic. The job itself must end in time: give it a stop flag. Whoever
/// calls sees to it that there are few at a time.
///
/// # Errors
///
/// The job panicked, or the system has no thread for it.
pub(crate) async fn run<T: Send + 'static>(
    supervision: Option<&Supervision>,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let work = || {
        // On Linux this is about the calling thread alone. Without it, the work is merely less polite.
        let _ = rustix::process::nice(NICENESS);
        job()
    };
    // A thread of the runtime waits for it, for whose priority could not be raised again after the job.
    let wait = move || {
        let thread = std::thread::Builder::new().name("aside".into()).spawn(work);
        thread.map_err(|_| ComputeError::NoThread)?.join().map_err(|_| ComputeError::Panicked)
    };
    let done = on_thread(wait).await.unwrap_or(Err(ComputeError::Closed));
    done.inspect_err(|error| count(supervision, *error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_runs_at_a_lower_priority_than_the_games() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let here = niceness();
        assert_eq!(run(None, niceness).await, Ok((here + NICENESS).min(19)));
        assert_eq!(niceness(), here, "only that thread");
    }

    #[tokio::test]
    async fn a_panic_is_told() {
        let lost: Result<(), _> = run(None, || panic!("broken on purpose")).await;
        assert_eq!(lost, Err(ComputeError::Panicked));
    }
}
