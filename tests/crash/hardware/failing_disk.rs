//! A write or a sync fails once: the daemon cannot know what is stored, ends with 74 at once, and recovers later.

use std::fs;
use std::time::{Duration, SystemTime};

use fourfold::model::durability::Durability;

use super::lane::{Lane, LanePlan};
use super::shim::{self, Counted, Failure, Fault};
use super::{Bench, Outcome};
use crate::players::TIME;

/// The calls that fail: from the start of the daemon on, and while everybody plays.
const POINTS: [(Counted, u32); 12] = [
    (Counted::Syncs, 1),
    (Counted::Syncs, 2),
    (Counted::Syncs, 5),
    (Counted::Syncs, 8),
    (Counted::Syncs, 20),
    (Counted::Syncs, 60),
    (Counted::Writes, 1),
    (Counted::Writes, 2),
    (Counted::Writes, 5),
    (Counted::Writes, 12),
    (Counted::Writes, 41),
    (Counted::Writes, 150),
];

/// `EX_IOERR` of `sysexits.h`.
pub(super) const IO_ERROR: i32 = 74;

/// No move depends on the marker beside the database: if it cannot be written while everybody plays, the daemon may try
/// again later.
const MARKER: &str = "file=fourfold.db-running";

/// Moves after which the daemon is taken to go on.
const MOVES: usize = 20;

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "failing-disk".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let (mut faults, mut slowest, mut unharmed) = (Vec::new(), Duration::ZERO, 0);
    for (counted, at) in POINTS {
        let fault = Fault { failure: Failure::IoError, counted, at, seed: bench.seed ^ u64::from(at) };
        match fail_once(&mut lane, &fault).await {
            Ok(Some(took)) => slowest = slowest.max(took),
            Ok(None) => unharmed += 1,
            Err(why) => faults.push(format!("{fault:?} {why}")),
        }
    }
    faults.extend(lane.close().await.faults);
    let figures = format!(
        "failing disk: {} failures of a sync or a write ended the daemon with {IO_ERROR}, after {} ms at most, {unharmed} \
         of the marker did no harm; {} faults",
        POINTS.len() - unharmed,
        slowest.as_millis(),
        faults.len()
    );
    Outcome { figures, faults }
}

/// Lets one call fail, and says how soon the daemon ended with the code for it; nothing if it was the marker's.
pub(super) async fn fail_once(lane: &mut Lane<'_>, fault: &Fault) -> Result<Option<Duration>, String> {
    let status = if let Err(status) = lane.restart(Some(fault)) {
        Some(status)
    } else {
        let strike = lane.struck().await.unwrap_or_default();
        if strike.line.contains(MARKER) && lane.play(MOVES).await.is_some() {
            return Ok(None);
        }
        lane.ended().await
    };
    if status.and_then(|status| status.code()) != Some(IO_ERROR) || lane.strike().is_none() {
        return Err(format!("came to {status:?}, {:?}", lane.strike()));
    }
    let failed_at = fs::metadata(shim::report(&lane.directory)).and_then(|report| report.modified());
    let took = failed_at.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    Ok(Some(took.unwrap_or_default()))
}
