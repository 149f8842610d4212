//! The disk is full for a while: games stand still, their clocks too, what is stored can be read; then they go on.

use std::time::Duration;

use fourfold::model::clock::TimeControl;
use fourfold::model::durability::Durability;

use super::lane::{Lane, LanePlan};
use super::shim::{self, Counted, Failure, Fault};
use super::{Bench, Outcome};

/// How long there is no space: more than a player has for a whole game.
const FULL_FOR: Duration = Duration::from_secs(8);

const TIME: TimeControl = TimeControl { bank_ms: Some(6_000), increment_ms: 0, move_ms: None };

/// The writes that succeed before; the first is in the midst of a move.
const WRITES: u32 = 75;

/// Moves afterwards.
const MOVES_AFTER: usize = 30;

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "full-disk".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let mut faults = Vec::new();
    let fault = Fault { failure: Failure::Full, counted: Counted::Writes, at: WRITES, seed: bench.seed };
    let started = lane.restart(Some(&fault));
    if started.is_err() || lane.struck().await.is_none() {
        faults.push(format!("the disk was never full: {started:?}"));
        return Outcome { figures: "full disk: not tested".to_owned(), faults };
    }
    tokio::time::sleep(FULL_FOR / 2).await;
    let acked = lane.acked();
    let answer = lane.daemon().get("/api/v1/games").await;
    if !answer.starts_with("HTTP/1.1 200") {
        faults.push(format!("on a full disk, reading was answered with {answer}"));
    }
    tokio::time::sleep(FULL_FOR / 2).await;
    if lane.acked() > acked {
        faults.push("moves were acknowledged on a full disk".to_owned());
    }
    shim::give_space(&lane.directory);
    let resumed = lane.play(1).await;
    if resumed.is_none() || lane.play(MOVES_AFTER).await.is_none() {
        faults.push("games do not go on when the disk has space again".to_owned());
    }
    faults.extend(lane.close().await.faults);
    let figures = format!(
        "full disk: for {} s no move was acknowledged and no clock ran, the next move came {} ms after there was space; \
         {} faults",
        FULL_FOR.as_secs(),
        resumed.unwrap_or_default().as_millis(),
        faults.len()
    );
    Outcome { figures, faults }
}
