//! What fails under the daemon: power, disk and clock, each at a chosen call, under the real binary on real files.
//!
//! A library in C, preloaded into the daemon, stands between it and its data directory: `hardware/shim.c` says what it
//! does. Players go on over every death, and afterwards the kill test's check compares what they were told with what is
//! stored. Each row has a data directory of its own, and all run at once: mostly they wait.

mod clock_jumps;
mod drawn;
mod failing_disk;
mod first_start;
mod full_disk;
mod lane;
mod planted;
mod points;
mod relaxed;
mod shim;
mod slow_disk;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use crate::below;
use crate::players::{self, RatedPair};
use shim::Shim;

/// What all rows start from.
pub(super) struct Bench {
    /// Each row has its data directory in here.
    directory: PathBuf,
    shim: Shim,
    bots: Vec<RatedPair>,
    seed: u64,
}

/// What a row came to.
pub(super) struct Outcome {
    /// What was done, for people.
    figures: String,
    faults: Vec<String>,
}

impl Outcome {
    /// The panic itself has been said already.
    fn of_panic() -> Self {
        let figures = "a row of the hardware tests panicked".to_owned();
        Self { faults: vec![figures.clone()], figures }
    }
}

impl Bench {
    fn set_up(directory: &Path, seed: u64) -> Result<Self, String> {
        let shim = Shim::build(directory)?;
        let bots = players::create_bots(&below(directory, "template"), 1);
        Ok(Self { directory: directory.to_owned(), shim, bots, seed })
    }

    /// A directory whose data has the bots' accounts.
    fn template(&self) -> PathBuf {
        self.directory.join("template")
    }
}

/// Lets everything fail, `cuts` times where there is a choice; prints the figures and gives all that is wrong.
pub(crate) fn run(cuts: u32, seed: u64, directory: &Path) -> Vec<String> {
    if !cfg!(target_os = "linux") {
        println!(
            "SKIPPED: power cuts, failing disks and clock jumps need Linux, whose way to preload a library they use"
        );
        return Vec::new();
    }
    slow_disk::self_test();
    let bench = match Bench::set_up(directory, seed) {
        Ok(bench) => bench,
        Err(missing) => return vec![missing],
    };
    let bench = &bench;
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let running: Vec<ScopedJoinHandle<'_, Outcome>> = vec![
            scope.spawn(move || points::run(bench, cuts)),
            scope.spawn(move || first_start::run(bench, cuts)),
            scope.spawn(move || block_on(relaxed::run(bench))),
            scope.spawn(move || block_on(failing_disk::run(bench))),
            scope.spawn(move || block_on(full_disk::run(bench))),
            scope.spawn(move || block_on(drawn::run(bench, cuts))),
            scope.spawn(move || block_on(slow_disk::run(bench))),
            scope.spawn(move || block_on(clock_jumps::run(bench))),
            scope.spawn(move || block_on(planted::run(bench))),
        ];
        running.into_iter().map(|row| row.join().unwrap_or_else(|_| Outcome::of_panic())).collect()
    });
    for outcome in &outcomes {
        println!("{}", outcome.figures);
    }
    outcomes.into_iter().flat_map(|outcome| outcome.faults).collect()
}

/// Runs a row, its players on a thread of their own: the row itself also waits for processes.
fn block_on<T>(row: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(row)
}
