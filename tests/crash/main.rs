//! The kill test: `kill -9` while games are played at full speed, again and again, and nothing acknowledged is lost.
//!
//! ```sh
//! cargo test --release --test crash -- --cycles 50 --games 200 --seed 7
//! ```
//!
//! The real binary is killed after 50 to 2,000 ms and started again on the same data. Clients, guests and rated bots,
//! keep their sessions and go on. A history of every acknowledged move is written; at the end it is compared with what
//! the store holds, and `fourfold games verify` must be content. Then the learners are killed while they learn, as
//! often, and must know what the records teach, byte for byte. Without arguments, as plain `cargo test` runs it, the
//! test takes a few seconds.

#![expect(clippy::print_stdout, reason = "the test is a command that reports its figures")]

mod arguments;
mod check;
mod daemon;
mod history;
mod learning;
mod players;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio_util::sync::CancellationToken;

use arguments::Arguments;
use daemon::{Daemon, SETTINGS};
use history::History;

/// Life of a daemon before it is killed, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 50..=2_000;

/// How long it may take until everybody plays.
const SEATING_MAX: Duration = Duration::from_mins(1);

/// Time after the last start in which all clients come back and play.
const LAST_LIFE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else { return ExitCode::SUCCESS };
    check::self_test();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let history = Arc::new(History::create(&directory.path().join("history.ndjson")));
    let run = runtime.block_on(run(&arguments, directory.path(), &history));
    let mut faults = runtime.block_on(check::compare(directory.path(), &history));
    println!("{}", report(&arguments, &history, &run));
    let learners = directory.path().join("learners");
    std::fs::create_dir(&learners).expect("a writable directory");
    let (figures, more) = runtime.block_on(learning::run(&arguments, &learners));
    println!("{figures}");
    faults.extend(more);
    if faults.is_empty() {
        return ExitCode::SUCCESS;
    }
    for fault in faults.iter().take(20) {
        println!("FAULT: {fault}");
    }
    println!("{} faults; data and history are kept in {}", faults.len(), directory.keep().display());
    ExitCode::FAILURE
}

/// What was done.
struct Run {
    /// From the start of a daemon to its readiness, in the order of the cycles.
    recoveries: Vec<Duration>,
}

async fn run(arguments: &Arguments, directory: &std::path::Path, history: &Arc<History>) -> Run {
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let bots = players::create_bots(directory, arguments.games);
    let mut daemon = Daemon::start(directory, None, SETTINGS);
    let stop = CancellationToken::new();
    let playing = players::start(arguments, &bots, daemon.address(), history, &stop);
    let seated = history.games_begun(arguments.games as usize);
    tokio::time::timeout(SEATING_MAX, seated).await.expect("everybody finds a game");
    let mut recoveries = Vec::new();
    for _ in 0..arguments.cycles {
        tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
        let address = daemon.address();
        daemon.kill();
        daemon = Daemon::start(directory, Some(address), SETTINGS);
        recoveries.push(daemon.started_in());
    }
    tokio::time::sleep(LAST_LIFE).await;
    stop.cancel();
    playing.finish().await;
    daemon.stop();
    Run { recoveries }
}

fn report(arguments: &Arguments, history: &History, run: &Run) -> String {
    let mut recoveries = run.recoveries.clone();
    recoveries.sort_unstable();
    let ms = |recovery: Option<&Duration>| recovery.map_or(0, Duration::as_millis);
    format!(
        "kill test: {} kills, {} games at a time, seed {}: {}; ready again after p50 {} ms, max {} ms",
        arguments.cycles,
        arguments.games,
        arguments.seed,
        history.summary(),
        ms(recoveries.get(recoveries.len() / 2)),
        ms(recoveries.last()),
    )
}
