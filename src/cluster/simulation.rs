//! Three nodes in one process: everything that happens follows from a seed.
//!
//! ```sh
//! cargo test -p fourfold --lib cluster::simulation                          # 60 seeds, as plain `cargo test` runs it
//! FOURFOLD_SEEDS=5000 FOURFOLD_FROM=1000 cargo test --release -p fourfold --lib cluster::simulation -- --nocapture
//! FOURFOLD_SEED=17 cargo test -p fourfold --lib cluster::simulation::one_seed_aloud -- --nocapture
//! ```
//!
//! Rules of the nodes, rooms and the store are the real ones; tasks and sockets are left out. Nodes are killed and
//! suspended, the bus loses, doubles, delays and reorders, the database is out of reach, slow, or its answer is lost.
//! Then all faults stop, and every game must end. What must hold: nothing
//! acknowledged is lost (I1) and nothing is there that nobody sent (I2), each game and all ratings come out the same
//! when they are computed again (I3 to I5), nobody was shown what is not kept (I6), no flag fell (I7), nothing was
//! accepted of whoever was replaced (I8), nothing is left over (I9). Mistakes that are planted are found.

mod client;
mod database;
mod defect;
mod node;
mod plan;
mod run;
mod words;

use std::time::Instant;

use self::defect::Defect;
use self::plan::Plan;
use self::run::{Figures, Verdict, run};
use crate::testing::seeds::in_parallel;

/// Seeds that `cargo test` runs: a third of a second each where nothing is optimised.
const SEEDS: u64 = 60;

/// Seeds of which one must find a planted mistake; most are found by one of the first ten.
const SEEDS_OF_DEFECTS: u64 = 200;

/// Every so many of them are run twice, and must come to the same.
const REPEATED: u64 = 10;

fn number_of(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")))
}

fn checked(seed: u64) -> Verdict {
    let plan = Plan::new(seed);
    let mut verdict = run(&plan, None, false);
    if seed.is_multiple_of(REPEATED) && run(&plan, None, false).hash != verdict.hash {
        verdict.faults.push("the same seed came to something else".to_owned());
    }
    verdict
}

fn total(verdicts: &[Verdict]) -> Figures {
    let sum = |of: fn(&Figures) -> u64| verdicts.iter().map(|verdict| of(&verdict.figures)).sum();
    Figures {
        games: sum(|figures| figures.games),
        acked: sum(|figures| figures.acked),
        kills: sum(|figures| figures.kills),
        taken_over: sum(|figures| figures.taken_over),
        handed_over: sum(|figures| figures.handed_over),
        fenced: sum(|figures| figures.fenced),
        holes: sum(|figures| figures.holes),
        packets: sum(|figures| figures.packets),
        simulated_ms: sum(|figures| figures.simulated_ms),
    }
}

fn print_faults(seed: u64, verdict: &Verdict) {
    println!("{}", Plan::new(seed));
    for fault in verdict.faults.iter().take(10) {
        println!("  FAULT: {fault}");
    }
    println!(
        "  FOURFOLD_SEED={seed} cargo test -p fourfold --lib cluster::simulation::one_seed_aloud -- --nocapture"
    );
}

#[test]
fn three_nodes_lose_nothing_and_come_to_an_end_whatever_fails() {
    let (from, count) =
        (number_of("FOURFOLD_FROM").unwrap_or(1), number_of("FOURFOLD_SEEDS").unwrap_or(SEEDS));
    let began = Instant::now();
    let verdicts = in_parallel(from, count, checked);
    let failed: Vec<(u64, &Verdict)> =
        (from..).zip(&verdicts).filter(|(_, verdict)| !verdict.faults.is_empty()).collect();
    for (seed, verdict) in &failed {
        print_faults(*seed, verdict);
    }
    let figures = total(&verdicts);
    println!("{count} seeds from {from}, {} fail, in {:?}: {figures:?}", failed.len(), began.elapsed());
    assert!(failed.is_empty(), "{} of {count} seeds fail", failed.len());
    let Figures { games, kills, taken_over, handed_over, fenced, holes, .. } = figures;
    // A simulation in which nobody who was replaced tries to write shows nothing about fences.
    let happened = [games, kills, taken_over, handed_over, fenced * 5, holes];
    assert!(happened.iter().all(|figure| *figure >= count / 10), "too little happens: {figures:?}");
}

#[test]
fn each_planted_mistake_is_found_by_one_of_these_seeds() {
    let found = |defect: Defect| {
        let fails = |seed: &u64| !run(&Plan::new(*seed), Some(defect), false).faults.is_empty();
        (1..=SEEDS_OF_DEFECTS).find(fails)
    };
    let found = in_parallel(0, Defect::ALL.len() as u64, |number| {
        let defect = Defect::ALL[usize::try_from(number).unwrap()];
        (defect, found(defect))
    });
    for (defect, seed) in &found {
        println!("{defect:?} is found by seed {seed:?}");
    }
    let unnoticed: Vec<&Defect> =
        found.iter().filter(|(_, seed)| seed.is_none()).map(|(defect, _)| defect).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}

/// For whoever mends something: one seed with all that happens in it.
#[test]
fn one_seed_aloud() {
    let Some(seed) = number_of("FOURFOLD_SEED") else { return };
    println!("{}", Plan::new(seed));
    let verdict = run(&Plan::new(seed), None, true);
    println!("{:?}, hash {:016x}", verdict.figures, verdict.hash);
    print_faults(seed, &verdict);
    assert!(verdict.faults.is_empty(), "seed {seed} fails");
}
