//! The kill test itself: one daemon that is killed again and again while everybody plays.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold::client::load::Witness;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio_util::sync::CancellationToken;

use crate::arguments::Round;
use crate::check;
use crate::daemon::{Daemon, SETTINGS};
use crate::history::History;
use crate::players::{self, Playing, Seating, TIME};
use crate::server::Server;

/// Life of a daemon before it is killed, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 50..=2_000;

/// Of so many deaths one is that of the database server, if there is one.
const SERVER_EVERY: u32 = 3;

/// How long it may take until everybody plays.
pub(crate) const SEATING_MAX: Duration = Duration::from_mins(1);

/// How long it may take until somebody's move is acknowledged again.
const GOES_ON_MAX: Duration = Duration::from_mins(1);

/// How long it may take where the test is alone on its machine, which it is when restarts are asked for.
const GOES_ON_SOON: Duration = Duration::from_secs(3);

/// Time after the last start in which all clients come back and play.
const LAST_LIFE: Duration = Duration::from_secs(2);
/// Time for what ended in it to be on disk and told.
const LAST_NEWS: Duration = Duration::from_secs(1);

/// What all rounds came to.
#[derive(Debug, Default)]
pub(crate) struct Total {
    rounds: u32,
    kills: u32,
    acked: usize,
    ended: usize,
    waits: Waits,
}

/// How long everybody waited.
#[derive(Debug, Default)]
struct Waits {
    /// From the start of a daemon to its readiness.
    starts: Vec<Duration>,
    /// From the start of a database server to the next acknowledged move.
    restarts: Vec<Duration>,
}

/// Kills one daemon as often as the round says; gives a line of figures and everything that is wrong.
pub(crate) async fn run(
    round: &Round,
    directory: &Path,
    server: Option<&Server>,
    total: &mut Total,
) -> (String, Vec<String>) {
    let history = Arc::new(History::create(&directory.join("history.ndjson")));
    if let Some(server) = server {
        server.keep(directory);
    }
    let waits = play(round, directory, server, &history).await;
    let faults = check::compare(directory, &history).await;
    let figures = format!(
        "kill test: {} kills, {} games at a time, seed {}: {}; {}",
        round.cycles,
        round.games,
        round.seed,
        history.summary(),
        waits.report(),
    );
    total.rounds += 1;
    total.kills += round.cycles;
    total.acked += history.lock().acked.len();
    total.ended += history.lock().ended.len();
    total.waits.starts.extend(waits.starts);
    total.waits.restarts.extend(waits.restarts);
    (figures, faults)
}

async fn play(round: &Round, directory: &Path, server: Option<&Server>, history: &Arc<History>) -> Waits {
    let mut rng = ChaCha8Rng::seed_from_u64(round.seed);
    let bots = players::create_bots(directory, round.games);
    let mut daemon = Daemon::start(directory, None, SETTINGS);
    let stop = CancellationToken::new();
    let seating = Seating { games: round.games, time: TIME, think: Duration::ZERO, seed: round.seed };
    let witness: Arc<dyn Witness> = Arc::<History>::clone(history);
    let playing = players::start(&seating, &bots, [daemon.address(); 2], &witness, &stop);
    let seated = history.games_begun(round.games as usize);
    tokio::time::timeout(SEATING_MAX, seated).await.expect("everybody finds a game");
    let mut waits = Waits::default();
    for cycle in 1..=round.cycles {
        tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
        if let Some(server) = server
            && cycle.is_multiple_of(SERVER_EVERY)
        {
            server.kill().await;
            continue;
        }
        let address = daemon.address();
        daemon.kill();
        daemon = Daemon::start(directory, Some(address), SETTINGS);
        waits.starts.push(daemon.started_in());
    }
    if let Some(server) = server {
        for _ in 0..round.restarts {
            tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
            server.kill().await;
            let begun = Instant::now();
            let goes_on = tokio::time::timeout(GOES_ON_MAX, history.one_more_move()).await;
            goes_on.expect("games go on when their database is back");
            waits.restarts.push(begun.elapsed());
        }
    }
    end(history, &stop, playing).await;
    daemon.stop();
    waits
}

/// Lets everybody come back and play on, and then leave.
pub(crate) async fn end(history: &History, stop: &CancellationToken, playing: Playing) {
    tokio::time::sleep(LAST_LIFE).await;
    history.stopping();
    tokio::time::sleep(LAST_NEWS).await;
    stop.cancel();
    playing.finish().await;
}

/// How long a daemon takes to be ready after a death.
pub(crate) fn ready_again(starts: &[Duration]) -> String {
    format!("ready again after {}", median_and_longest(starts))
}

fn median_and_longest(waits: &[Duration]) -> String {
    let mut waits = waits.to_vec();
    waits.sort_unstable();
    let ms = |wait: Option<&Duration>| wait.map_or(0, Duration::as_millis);
    format!("p50 {} ms, max {} ms", ms(waits.get(waits.len() / 2)), ms(waits.last()))
}

impl Waits {
    fn report(&self) -> String {
        let starts = ready_again(&self.starts);
        if self.restarts.is_empty() {
            return starts;
        }
        let (count, restarts) = (self.restarts.len(), median_and_longest(&self.restarts));
        format!("{starts}; moves again after {count} restarts of the database, {restarts}")
    }
}

impl Total {
    /// Whether games stood still for too long after the database server was back.
    pub(crate) fn late_restart(&self) -> Option<String> {
        let longest = self.waits.restarts.iter().max().filter(|wait| **wait > GOES_ON_SOON)?;
        Some(format!("{longest:?} after the start of the database nobody had moved"))
    }

    /// Nothing if one round says it all.
    pub(crate) fn report(&self) -> Option<String> {
        let Self { rounds, kills, acked, ended, waits } = self;
        let report = format!(
            "kill test in all: {kills} kills in {rounds} data directories, {acked} moves acknowledged, {ended} games \
             finished; {}",
            waits.report(),
        );
        (*rounds > 1).then_some(report)
    }
}
