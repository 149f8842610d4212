//! The kill test of the learners: `kill -9` while they learn and practise, and what they know at the end is what one
//! that was never interrupted would know, byte for byte.

use std::path::Path;
use std::time::Duration;

use fourfold::data_dir::DataDir;
use fourfold::protocol::server::EndReason;
use fourfold::storage::{Durability, SqliteStore, Store};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::arguments::Arguments;
use crate::daemon::{Daemon, data, fourfold};
use crate::players::run as command;

/// Learners that practise without a pause, against two quick bots. Nothing else happens.
const SETTINGS: &str = "\
[ladder]
enabled = false

[learning]
cpu_percent = 100
freeze_at = [0, 10, 30, 100]
practice_games = 1000000
practice_pause_ms = 0
teachers = [\"random\", \"greedy\"]

[metrics]
enabled = false

[log]
level = \"warn\"
";

/// Life of a daemon before it is killed, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 50..=1_000;

/// Life of the first one, in which there must be something to learn, and of the last.
const WHOLE_LIFE: Duration = Duration::from_secs(2);

/// Finished games read at a time.
const PAGE: u32 = 1_000;

/// Kills the daemon again and again; gives a line of figures and everything that is wrong.
pub(crate) async fn run(arguments: &Arguments, directory: &Path) -> (String, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut daemon = Daemon::start(directory, None, SETTINGS);
    tokio::time::sleep(WHOLE_LIFE).await;
    for _ in 0..arguments.cycles {
        daemon.kill();
        daemon = Daemon::start(directory, None, SETTINGS);
        tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
    }
    tokio::time::sleep(WHOLE_LIFE).await;
    daemon.kill();
    // It ends with an error if anything is not what the records teach.
    let verified = command(directory, fourfold().args(["memory", "verify"]));
    print!("{verified}");
    let (games, faults) = compare(directory).await;
    (
        format!("learners: {} kills while learning, {games} games, each learnt once", arguments.cycles + 1),
        faults,
    )
}

/// Whether the learner that watches all games has learnt each of them, and none twice.
async fn compare(directory: &Path) -> (usize, Vec<String>) {
    let data = DataDir::open(&data(directory)).expect("the daemon has left the directory");
    let store = SqliteStore::open(&data.database(), Durability::Strict).await.expect("a whole database");
    let name = "memory-spectator".parse().expect("a name");
    let learner = store.learner(&name).await.expect("readable").expect("it has begun to learn");
    let mut decided = Vec::new();
    let mut after = 0;
    loop {
        let page = store.audit_finished(after, PAGE).await.expect("readable");
        let Some(last) = page.last() else { break };
        after =
            last.as_ref().map_or(u64::MAX, |game| game.settlement.as_ref().map_or(u64::MAX, |it| it.number));
        for game in page.into_iter().flatten() {
            let number = game.settlement.as_ref().map_or(0, |settled| settled.number);
            let is_lesson =
                game.ending().is_some_and(|end| matches!(end.reason, EndReason::Four | EndReason::Full));
            if is_lesson && number <= learner.place.covered {
                decided.push(number);
            }
        }
    }
    let count = u32::try_from(decided.len()).unwrap_or(u32::MAX) + 1;
    let lessons = store.lessons(&name, 0, count).await.expect("readable");
    let learnt: Vec<u64> = lessons.into_iter().map(|lesson| lesson.number).collect();
    let mut faults = Vec::new();
    if learnt != decided {
        faults.push(format!("{} games are to be learnt, {} were", decided.len(), learnt.len()));
    }
    if learnt.is_empty() {
        faults.push("no game was learnt: nothing was tested".to_owned());
    }
    (learnt.len(), faults)
}
