//! Many runs of a simulation at once. Tests outside of the library take this file as it is, so that it uses nothing of
//! the library.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `job` with all seeds, on as many threads as there are cores; what they come to is in the order of the seeds.
pub(crate) fn in_parallel<T: Send>(from: u64, count: u64, job: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(0);
    let done: Mutex<Vec<(u64, T)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = job(from + number);
                    done.lock().expect("no thread panics while it holds it").push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("all threads are done");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
