//! A whole arena in one process, simulated: everything that happens follows from a seed.
//!
//! ```sh
//! cargo test --test simulation                                   # as plain `cargo test` runs it
//! cargo test --release --test simulation -- --seeds 10000 --from 1000
//! cargo test --test simulation -- --seed 17 --keep 3,8,21        # one seed, some of its deeds, aloud
//! ```
//!
//! The daemon is the real one, from the socket behind its upgrade to the store's contract. Time, chance, threads, the
//! network and the disk are simulated: [`run`] says how. A run does what its [`plan`] says, then all faults stop, and
//! every game must end; [`judge`] compares what clients were told with what is kept. A failing plan is made shorter and
//! printed with the command that repeats it. That faults would be found is shown with planted ones ([`defect`]).

#![expect(clippy::print_stdout, reason = "the test is a command that reports its figures")]

mod arguments;
mod backends;
mod client;
mod defect;
mod disk;
mod judge;
mod kept;
mod net;
mod panics;
mod plan;
mod run;
#[path = "../../src/testing/seeds.rs"]
mod seeds;
mod shrink;
#[path = "../crash/told.rs"]
mod told;
mod witness;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use arguments::Arguments;
use backends::BackEnds;
use defect::Defect;
use kept::KEPT;
use plan::Plan;
use run::{Verdict, run, run_aloud};
use seeds::in_parallel;
use shrink::shrink;
use witness::Figures;

/// Seeds that `cargo test` runs.
const SEEDS: u64 = 200;

/// Every so many of them are run twice, and must come to the same.
const REPEATED: u64 = 10;

/// Seeds whose writes are carried out by SQLite and PostgreSQL too.
const COMPARED: u64 = 5;

/// What clients meet in some of these runs.
const REACHED: &[&str] = &[
    "challenge_end how accepted",
    "challenge_end how canceled",
    "challenge_end how declined",
    "challenge_end how expired",
    "closed 1000",
    "closed 1012",
    "closed 4409",
    "closed 4429",
    "closed lost",
    "error code game_over",
    "error code illegal_move",
    "error code internal",
    "error code not_your_turn",
    "error code paused",
    "error code rate_limited",
    "error code stale_ply",
    "game_end reason aborted",
    "game_end reason four",
    "game_end reason resign",
    "game_end reason time",
    "heard opponent_gone",
    "heard reaction",
    "heard rematch_offer",
    "heard takeback_offer",
    "kept game of the ladder",
    "notice code restarting",
    "welcome afresh",
    "welcome back",
];

/// Failing seeds that are made short: whoever mends one runs the others again.
const SHRUNK_MAX: usize = 3;

fn main() -> ExitCode {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else { return ExitCode::SUCCESS };
    panics::keep_in_mind();
    let is_well = match arguments {
        Arguments::All => {
            told::self_test();
            let seeds = run_seeds(1, SEEDS);
            let well =
                [run_kept(), seeds.is_well(), seeds.reach_enough(), find_defects(), compare_back_ends()];
            well.into_iter().all(|well| well)
        }
        Arguments::Seeds { from, count } => run_seeds(from, count).is_well(),
        Arguments::One { seed, keep, defect } => run_one(seed, keep.as_deref(), defect),
    };
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs what failed once.
fn run_kept() -> bool {
    let mut is_well = true;
    for kept in KEPT {
        let verdict = run(&kept.plan(), None);
        if !verdict.faults.is_empty() {
            is_well = false;
            println!("it fails again: {}", kept.found);
            print_faults(&verdict);
        }
    }
    println!("{} runs that failed once: {}", KEPT.len(), if is_well { "well" } else { "some fail again" });
    is_well
}

/// What many seeds came to.
struct Seeds {
    failed: Vec<u64>,
    seen: BTreeSet<String>,
}

impl Seeds {
    fn is_well(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether what is to be tested did happen: a simulation in which nobody flags shows nothing about flags.
    fn reach_enough(&self) -> bool {
        let missing: Vec<&&str> = REACHED.iter().filter(|what| !self.seen.contains(**what)).collect();
        for what in &missing {
            println!("`{what}` was met in no run");
        }
        missing.is_empty()
    }
}

fn run_seeds(from: u64, count: u64) -> Seeds {
    let began = Instant::now();
    let mut figures = Figures::default();
    let mut failed = Vec::new();
    let mut seen = BTreeSet::new();
    for (seed, verdict) in in_parallel(from, count, |seed| (seed, run_checked(seed))) {
        figures.add(&verdict.figures);
        seen.extend(verdict.seen.iter().cloned());
        if !verdict.faults.is_empty() {
            println!("seed {seed}:");
            print_faults(&verdict);
            failed.push(seed);
        }
    }
    for seed in failed.iter().take(SHRUNK_MAX) {
        print_short(*seed, None);
    }
    let Figures { messages, acked, games, kills, resumed, simulated_ms } = figures;
    println!(
        "{count} seeds from {from}, {} fail: {} hours simulated in {:?}; {kills} kills, {resumed} sessions resumed, \
         {acked} moves acknowledged, {games} games ended, {messages} messages",
        failed.len(),
        simulated_ms / 3_600_000,
        began.elapsed(),
    );
    Seeds { failed, seen }
}

/// Runs a seed, some twice: a run that cannot be repeated shows nothing.
fn run_checked(seed: u64) -> Verdict {
    let plan = Plan::new(seed);
    let mut verdict = run(&plan, None);
    if seed.is_multiple_of(REPEATED) && run(&plan, None).hash != verdict.hash {
        verdict.faults.push("the same seed came to something else".to_owned());
    }
    verdict
}

/// Each planted defect is found by one of the seeds that `cargo test` runs.
fn find_defects() -> bool {
    let mut is_well = true;
    for defect in Defect::ALL {
        let found = (1..=SEEDS).find(|seed| !run(&Plan::new(*seed), Some(defect)).faults.is_empty());
        is_well &= found.is_some();
        match found {
            Some(seed) => println!("{defect:?} is found by seed {seed}"),
            None => println!("{defect:?} goes unnoticed"),
        }
    }
    is_well
}

/// What runs have written comes to the same in SQLite and in PostgreSQL.
fn compare_back_ends() -> bool {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let back_ends = BackEnds::start();
    let mut is_well = true;
    for seed in 1..=COMPARED {
        let journal = run(&Plan::new(seed), None).journal;
        if let Some(difference) = runtime.block_on(back_ends.first_difference(&journal)) {
            println!("seed {seed}: {difference}");
            is_well = false;
        }
    }
    is_well
}

fn run_one(seed: u64, keep: Option<&[usize]>, defect: Option<Defect>) -> bool {
    let plan = Plan::new(seed);
    let plan = keep.map_or_else(|| plan.clone(), |keep| plan.keeping(keep));
    println!("{plan}");
    let verdict = run_aloud(&plan, defect);
    println!("seed {seed}: {:?}, hash {:016x}", verdict.figures, verdict.hash);
    print_faults(&verdict);
    if !verdict.faults.is_empty() && keep.is_none() {
        print_short(seed, defect);
    }
    verdict.faults.is_empty()
}

fn print_short(seed: u64, defect: Option<Defect>) {
    let plan = Plan::new(seed);
    let kept = shrink(&plan, defect);
    let short = plan.keeping(&kept);
    println!("seed {seed}, made short:\n{short}");
    print_faults(&run(&short, defect));
    let numbers: Vec<String> = kept.iter().map(ToString::to_string).collect();
    let defect = defect.map(|defect| format!(" --defect {defect:?}")).unwrap_or_default();
    println!("  cargo test --test simulation -- --seed {seed} --keep {}{defect}", numbers.join(","));
    println!("  For kept.rs:\n{}", kept::printed(&short, "what was wrong"));
}

fn print_faults(verdict: &Verdict) {
    for fault in verdict.faults.iter().take(10) {
        println!("  FAULT: {fault}");
    }
}
