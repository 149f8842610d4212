//! The process dies, or the power is cut, at the n-th call, for n from 1 on; nothing acknowledged is lost.

use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use fourfold::model::durability::Durability;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::lane::{Lane, LanePlan};
use super::shim::{Counted, Failure, Fault, Strike};
use super::{Bench, Outcome, block_on};
use crate::kill::ready_again;
use crate::players::TIME;

/// Daemons at once: two for each of two cores, as each waits while the other starts.
const LANES: u32 = 4;

/// Points up to this are all tried, those beyond are drawn.
const EACH_UP_TO: u32 = 200;

/// The last call that is drawn: a second or two of play.
const DRAWN_MAX: u32 = 1_500;

/// One in so many points is at a planned stop, when the log is moved into the database.
const STOP_EVERY: u32 = 8;

/// The last call on the database, and the last about names of files, at which the power is cut at a stop: it has some
/// more or fewer, which depends on what there is to move.
const DATABASE_CALLS: u32 = 30;
const NAMES: u32 = 10;

/// Moves before such a stop, so that there is a log to move.
const MOVES_BEFORE_STOP: usize = 20;

const SIGKILL: i32 = 9;

/// While what the daemon dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    Playing,
    Stopping,
}

/// A death of the daemon.
#[derive(Clone, Copy, Debug)]
struct Point {
    when: When,
    fault: Fault,
}

/// What lanes did.
#[derive(Default)]
struct Tally {
    deaths: u64,
    cuts: u64,
    /// Planned stops that were over before the call that was meant.
    unreached: u64,
    /// In the words of the shim.
    unsynced: u64,
    whole: u64,
    dropped: u64,
    torn: u64,
    unnamed: u64,
    acked: usize,
    ended: usize,
    recoveries: Vec<Duration>,
    faults: Vec<String>,
}

pub(super) fn run(bench: &Bench, count: u32) -> Outcome {
    let points = points(count, bench.seed);
    let share = points.len().div_ceil(LANES as usize).max(1);
    let tally = thread::scope(|scope| {
        let lanes = points.chunks(share).zip(1..);
        let lanes: Vec<_> =
            lanes.map(|(share, number)| scope.spawn(move || block_on(lane(bench, number, share)))).collect();
        let tallies = lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic"));
        tallies.fold(Tally::default(), Tally::and)
    });
    tally.outcome(count, bench.seed)
}

/// In an order drawn by chance, so that deaths before the daemon is ready are not all in a row.
fn points(count: u32, seed: u64) -> Vec<Point> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut points: Vec<Point> = (1..=count).map(|number| point(number, &mut rng)).collect();
    points.shuffle(&mut rng);
    points
}

fn point(number: u32, rng: &mut ChaCha8Rng) -> Point {
    let failure = if number.is_multiple_of(4) { Failure::Death } else { Failure::PowerCut };
    let at = if number <= EACH_UP_TO { number } else { rng.random_range(1..=DRAWN_MAX) };
    let seed = rng.random();
    if number % STOP_EVERY == STOP_EVERY - 1 {
        let stop = number / STOP_EVERY;
        let (counted, at) = match stop % 2 {
            0 => (Counted::OnDatabase, 1 + stop / 2 % DATABASE_CALLS),
            _ => (Counted::Names, 1 + stop / 2 % NAMES),
        };
        return Point { when: When::Stopping, fault: Fault { failure, counted, at, seed } };
    }
    let counted = match number / 4 % 4 {
        0 | 1 => Counted::Any,
        2 => Counted::Writes,
        _ => Counted::Syncs,
    };
    Point { when: When::Playing, fault: Fault { failure, counted, at, seed } }
}

async fn lane(bench: &Bench, number: u32, points: &[Point]) -> Tally {
    let plan = LanePlan { name: format!("points-{number}"), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let mut tally = Tally::default();
    for point in points {
        live(&mut lane, point, &mut tally).await;
    }
    let closed = lane.close().await;
    let history = closed.history.lock();
    tally.acked = history.acked.len();
    tally.ended = history.ended.len();
    tally.recoveries = closed.recoveries;
    tally.faults.extend(closed.faults);
    tally
}

/// One life of the daemon, up to the point.
async fn live(lane: &mut Lane<'_>, point: &Point, tally: &mut Tally) {
    let status = if let Err(status) = lane.restart(Some(&point.fault)) {
        Some(status)
    } else {
        if point.when == When::Stopping && lane.play(MOVES_BEFORE_STOP).await.is_some() {
            lane.daemon().ask_to_stop();
        }
        lane.ended().await
    };
    match (lane.strike(), status) {
        (Some(strike), Some(status)) if status.signal() == Some(SIGKILL) => tally.count(point, &strike),
        (None, Some(status)) if point.when == When::Stopping && status.success() => tally.unreached += 1,
        (strike, status) => tally.faults.push(format!("{point:?} came to {status:?}, {strike:?}")),
    }
}

impl Tally {
    fn count(&mut self, point: &Point, strike: &Strike) {
        match point.fault.failure {
            Failure::PowerCut => self.cuts += 1,
            _ => self.deaths += 1,
        }
        self.unsynced += strike.number("unsynced");
        self.whole += strike.number("whole");
        self.dropped += strike.number("dropped");
        self.torn += strike.number("torn");
        self.unnamed += strike.number("unnamed");
    }

    fn and(mut self, other: Self) -> Self {
        self.deaths += other.deaths;
        self.cuts += other.cuts;
        self.unreached += other.unreached;
        self.unsynced += other.unsynced;
        self.whole += other.whole;
        self.dropped += other.dropped;
        self.torn += other.torn;
        self.unnamed += other.unnamed;
        self.acked += other.acked;
        self.ended += other.ended;
        self.recoveries.extend(other.recoveries);
        self.faults.extend(other.faults);
        self
    }

    fn outcome(mut self, count: u32, seed: u64) -> Outcome {
        if count >= EACH_UP_TO && (self.cuts == 0 || self.deaths == 0 || self.dropped == 0 || self.torn == 0)
        {
            self.faults.push("no power cut took anything away: nothing was tested".to_owned());
        }
        let figures = format!(
            "power cuts: {} cuts and {} deaths at the n-th call, {} stops before it, seed {seed}: of {} unsynced \
             changes {} kept, {} dropped, {} torn, {} names taken back; {} moves acknowledged, {} games finished, {} \
             faults; {}",
            self.cuts,
            self.deaths,
            self.unreached,
            self.unsynced,
            self.whole,
            self.dropped,
            self.torn,
            self.unnamed,
            self.acked,
            self.ended,
            self.faults.len(),
            ready_again(&self.recoveries),
        );
        Outcome { figures, faults: self.faults }
    }
}
