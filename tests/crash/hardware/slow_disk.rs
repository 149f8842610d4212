//! Every sync takes long, up to two seconds: moves take so long too, and nobody's clock runs meanwhile.

use std::time::Duration;

use fourfold::model::clock::TimeControl;
use fourfold::model::durability::Durability;

use super::lane::{Lane, LanePlan};
use super::shim::{Counted, Failure, Fault};
use super::{Bench, Outcome};

/// What each sync takes, and for how long that goes on. At two seconds that is eight moves of a game, four a side.
const SLOW: [(Duration, Duration); 2] =
    [(Duration::from_millis(200), Duration::from_secs(4)), (Duration::from_secs(2), Duration::from_secs(17))];

/// A move waits for the commit that is under way and for its own. On a machine with much to do that takes longer, but
/// not as long as a third sync of two seconds.
const SYNCS_A_MOVE: u32 = 2;
const MARGIN: Duration = Duration::from_millis(1_500);

/// Of the first syncs, some are the daemon's start.
const SYNCS: u32 = 12;

/// Who was charged for four moves at two seconds would lose.
const TIME: TimeControl = TimeControl { bank_ms: Some(5_000), increment_ms: 0, move_ms: None };

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "slow-disk".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let (mut figures, mut faults) = (Vec::new(), Vec::new());
    for (sync, slow_for) in SLOW {
        let mut played = play_slowly(&mut lane, bench.seed, sync, slow_for).await;
        if let Err(why) = &played {
            // A machine that is busy may hold one move up; a move that waits for one sync too many does so each time.
            figures.push(format!("once more, since {why}"));
            played = play_slowly(&mut lane, bench.seed, sync, slow_for).await;
        }
        match played {
            Ok(said) => figures.push(said),
            Err(why) => faults.push(why),
        }
    }
    faults.extend(lane.close().await.faults);
    let figures = format!("slow disk: {}; no flag fell; {} faults", figures.join(", "), faults.len());
    Outcome { figures, faults }
}

async fn play_slowly(
    lane: &mut Lane<'_>,
    seed: u64,
    sync: Duration,
    slow_for: Duration,
) -> Result<String, String> {
    let fault = Fault { failure: Failure::Slow(sync), counted: Counted::Syncs, at: SYNCS, seed };
    let started = lane.restart(Some(&fault));
    if started.is_err() || lane.struck().await.is_none() {
        return Err(format!("the disk was never slow: {started:?}"));
    }
    let before = lane.history.lock().latencies.len();
    tokio::time::sleep(slow_for).await;
    let mut latencies = lane.history.lock().latencies.split_off(before);
    latencies.sort_unstable();
    let [Some(median), Some(slowest)] = [latencies.get(latencies.len() / 2), latencies.last()] else {
        return Err(format!("no move was acknowledged with syncs of {} ms", sync.as_millis()));
    };
    if is_too_slow(sync, *slowest) {
        return Err(format!("with syncs of {} ms a move took {} ms", sync.as_millis(), slowest.as_millis()));
    }
    Ok(format!(
        "with syncs of {} ms, {} moves took p50 {} ms, max {} ms",
        sync.as_millis(),
        latencies.len(),
        median.as_millis(),
        slowest.as_millis()
    ))
}

fn is_too_slow(sync: Duration, slowest: Duration) -> bool {
    slowest > sync * SYNCS_A_MOVE + MARGIN
}

/// The check can fail.
pub(super) fn self_test() {
    let sync = Duration::from_secs(2);
    assert!(is_too_slow(sync, sync * 3), "three syncs are one too many");
    assert!(!is_too_slow(sync, sync * 2 + MARGIN), "two are allowed");
}
