//! The disk fails, is full or slow at calls that are drawn; the rows of each have only some that were chosen.

use std::time::Duration;

use fourfold::model::durability::Durability;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::lane::{Lane, LanePlan};
use super::shim::{self, Counted, Failure, Fault};
use super::{Bench, Outcome, failing_disk};
use crate::players::TIME;

/// Of so many power cuts there is one trouble here: one lane does them while four lanes are cut.
const CUTS_A_TROUBLE: u32 = 16;

/// The last call that is drawn: start, recovery, and some moves.
const AT_MAX: u32 = 200;

/// How long there is no space, and what a slow sync takes: long beside a fast one, short for whoever waits.
const FULL_FOR: Duration = Duration::from_millis(500);
const SYNC: Duration = Duration::from_millis(50);

/// Moves after which games are taken to go on.
const MOVES: usize = 10;

pub(super) async fn run(bench: &Bench, cuts: u32) -> Outcome {
    let plan = LanePlan { name: "drawn".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let mut rng = ChaCha8Rng::seed_from_u64(bench.seed);
    let (mut unstarted, mut faults) = (0, Vec::new());
    let troubles = cuts.div_ceil(CUTS_A_TROUBLE).max(1);
    for number in 0..troubles {
        let (failure, counted) = match number % 4 {
            0 => (Failure::IoError, Counted::Writes),
            1 => (Failure::Full, Counted::Writes),
            2 => (Failure::IoError, Counted::Syncs),
            _ => (Failure::Slow(SYNC), Counted::Syncs),
        };
        let fault = Fault { failure, counted, at: rng.random_range(1..=AT_MAX), seed: rng.random() };
        let came_to = match failure {
            Failure::IoError => failing_disk::fail_once(&mut lane, &fault).await.map(|_| true),
            Failure::Full => fill(&mut lane, &fault).await,
            _ => go_on(&mut lane, &fault).await.map(|()| true),
        };
        match came_to {
            Ok(true) => {}
            Ok(false) => unstarted += 1,
            Err(why) => faults.push(format!("{fault:?}: {why}")),
        }
    }
    faults.extend(lane.close().await.faults);
    let figures = format!(
        "drawn: {troubles} times the disk failed, was full or slow at one of the first {AT_MAX} calls, {unstarted} of \
         them before the daemon was ready; {} faults",
        faults.len()
    );
    Outcome { figures, faults }
}

/// From a write on there is no space for a while. Whether the daemon had started: if not, it ended.
async fn fill(lane: &mut Lane<'_>, fault: &Fault) -> Result<bool, String> {
    lane.kill();
    shim::forget(&lane.directory);
    let directory = lane.directory.clone();
    // While this waits for the daemon to be ready, which it may never be on a full disk.
    let space = tokio::spawn(async move {
        if shim::struck(&directory).await.is_some() {
            tokio::time::sleep(FULL_FOR).await;
        }
        shim::give_space(&directory);
    });
    let started = lane.restart(Some(fault));
    space.await.map_err(|error| error.to_string())?;
    match started {
        Ok(()) => goes_on(lane).await.map(|()| true),
        Err(status) if status.code() == Some(failing_disk::IO_ERROR) => Ok(false),
        Err(status) => Err(format!("the start on a full disk ended with {status:?}")),
    }
}

/// From a sync on each is slow.
async fn go_on(lane: &mut Lane<'_>, fault: &Fault) -> Result<(), String> {
    lane.restart(Some(fault)).map_err(|status| format!("it does not start: {status:?}"))?;
    lane.struck().await.ok_or("it was never slow")?;
    goes_on(lane).await
}

async fn goes_on(lane: &mut Lane<'_>) -> Result<(), String> {
    lane.play(MOVES).await.map(drop).ok_or_else(|| format!("games do not go on after {:?}", lane.strike()))
}
