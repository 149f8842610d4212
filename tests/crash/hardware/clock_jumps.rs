//! The wall clock jumps by up to ten years, both ways: no flag falls, sessions and tokens go on, what is stored agrees.

use fourfold::model::clock::TimeControl;
use fourfold::model::durability::Durability;

use super::lane::{Lane, LanePlan};
use super::{Bench, Outcome, shim};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const TEN_YEARS: i64 = 3_652 * DAY;

/// How far ahead the clock is, one after the other, and whether the daemon is killed and started there. It is where the
/// clock says a later time than when the sessions were opened, by less than a day: with a session that seems to be of
/// the future, or a guest's of the day before, nobody goes on, but gets a new one.
const AHEAD: [(i64, Then); 10] = [
    (HOUR, Then::Restart),
    (-HOUR, Then::PlayOn),
    (DAY, Then::PlayOn),
    (0, Then::Restart),
    (-DAY, Then::PlayOn),
    (TEN_YEARS, Then::PlayOn),
    (11 * HOUR, Then::Restart),
    (-TEN_YEARS, Then::PlayOn),
    (TEN_YEARS, Then::PlayOn),
    (0, Then::Restart),
];

enum Then {
    PlayOn,
    Restart,
}

/// Enough for everybody to answer at once, by far too little for any of the jumps.
const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

/// Moves after each jump.
const MOVES: usize = 30;

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "clock-jumps".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let mut faults = Vec::new();
    let mut restarts = 0;
    if let Err(status) = lane.restart(None) {
        faults.push(format!("the daemon was not ready: {status}"));
    }
    if !lane.everybody_back().await {
        faults.push("not everybody came back to the first start".to_owned());
    }
    for (ahead, then) in AHEAD {
        shim::set_clock(&lane.directory, ahead);
        if lane.play(MOVES).await.is_none() {
            faults.push(format!("games stand still with the clock {ahead} s ahead"));
        }
        if matches!(then, Then::PlayOn) {
            continue;
        }
        restarts += 1;
        if let Err(status) = lane.restart(None) {
            faults.push(format!("with the clock {ahead} s ahead the daemon was not ready: {status}"));
        }
        // Whoever were still on the way at the next jump would come with a session of another day.
        if !lane.everybody_back().await {
            faults.push(format!("with the clock {ahead} s ahead not everybody came back"));
        }
        if lane.play(MOVES).await.is_none() {
            faults.push(format!("games do not go on after a start with the clock {ahead} s ahead"));
        }
    }
    faults.extend(lane.close().await.faults);
    let figures = format!(
        "clock jumps: {} jumps of the wall clock, up to ten years, {restarts} restarts among them; no flag fell, no \
         session was lost; {} faults",
        AHEAD.len(),
        faults.len()
    );
    Outcome { figures, faults }
}
