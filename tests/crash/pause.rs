//! The daemon is suspended for longer than anybody's clock has left, and nobody loses on time for it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fourfold::client::Introduction;
use fourfold::client::load::{Ack, GamesPlan, LoadTrouble, PairPlan, Role, Witness, play_pair};
use fourfold::model::clock::TimeControl;
use fourfold::model::ids::GameId;
use fourfold::model::result::EndReason;
use fourfold::protocol::server::GameEnd;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::arguments::Round;
use crate::daemon::{Daemon, SETTINGS, fourfold};
use crate::players::run as run_command;

/// Less than each pause, and more than all moves of one side take, on a busy machine too.
const TIME: TimeControl = TimeControl { bank_ms: Some(4_000), increment_ms: 500, move_ms: None };
/// How long each player thinks, so that somebody's clock runs at any moment.
const THINK: Duration = Duration::from_millis(100);
/// How long the daemon stands still.
const PAUSE: Duration = Duration::from_secs(6);
/// How long it runs in between.
const LIFE: Duration = Duration::from_secs(1);
/// More pauses show nothing more.
const PAUSES_MAX: u32 = 3;

/// How games ended.
#[derive(Default)]
struct Ends {
    finished: u64,
    moves: u64,
    on_time: Vec<GameId>,
}

/// Counts what the players lived through. Poisoned only when the test has failed already.
#[derive(Default)]
struct Tally(Mutex<Ends>);

impl Witness for Tally {
    fn acked(&self, _: &Ack) {
        self.0.lock().expect("no player panics").moves += 1;
    }

    fn ended(&self, role: Role, end: &GameEnd) {
        let mut ends = self.0.lock().expect("no player panics");
        ends.finished += u64::from(role == Role::Challenger);
        if end.reason == EndReason::Time {
            ends.on_time.push(end.game.clone());
        }
    }

    fn trouble(&self, _: LoadTrouble) {}
}

/// Suspends the daemon while games go on; gives figures and faults.
pub(crate) async fn run(round: &Round, directory: &Path) -> (String, Vec<String>) {
    let daemon = Daemon::start(directory, None, SETTINGS);
    let (tally, stop) = (Arc::new(Tally::default()), CancellationToken::new());
    let mut playing = JoinSet::new();
    for index in 0..round.games {
        let guest = || Introduction { url: format!("ws://{}", daemon.address()), ..Introduction::default() };
        let plan = PairPlan {
            challenger: guest(),
            challenged: guest(),
            games: GamesPlan {
                think: THINK,
                ..GamesPlan::casual(TIME, round.seed.wrapping_add(index.into()))
            },
        };
        let witness: Arc<dyn Witness> = Arc::<Tally>::clone(&tally);
        playing.spawn(play_pair(plan, witness, stop.clone()));
    }
    let pauses = round.cycles.min(PAUSES_MAX);
    for _ in 0..pauses {
        tokio::time::sleep(LIFE).await;
        daemon.suspend(PAUSE).await;
    }
    tokio::time::sleep(LIFE).await;
    stop.cancel();
    while let Some(played) = playing.join_next().await {
        played.expect("a player does not panic").expect("a player can go on to the end");
    }
    daemon.stop();
    // The clocks in the store must agree with the times of the moves.
    print!("{}", run_command(directory, fourfold().args(["games", "verify"])));
    let ends = tally.0.lock().expect("no player panics");
    let figures = format!(
        "suspended: {pauses} times for {} s, banks of {} s: {} moves, {} games finished, {} of them on time",
        PAUSE.as_secs(),
        TIME.bank_ms.unwrap_or(0) / 1_000,
        ends.moves,
        ends.finished,
        ends.on_time.len(),
    );
    let mut faults: Vec<String> = ends
        .on_time
        .iter()
        .map(|game| format!("game {game}: lost on time while the daemon stood still"))
        .collect();
    if ends.moves == 0 {
        faults.push("no move was played around the pauses: nothing was tested".to_owned());
    }
    (figures, faults)
}
