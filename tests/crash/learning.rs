//! The kill test of the learners: `kill -9` while they learn and practise, and what they know at the end is what
//! other learners know, byte for byte, that learn the same games in a run that nobody interrupts.

use std::path::Path;
use std::time::Duration;

use fourfold::model::durability::Durability;
use fourfold::model::ids::PlayerName;
use fourfold::model::result::EndReason;
use fourfold::storage::audit::AuditStore;
use fourfold::storage::lessons::LearnerStore;
use fourfold::storage::record::Ending;
use fourfold::study::learning::plans;
use fourfold::system::data_dir::DataDir;

use fourfold::storage::SqliteStore;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rusqlite::Connection;

use crate::arguments::Round;
use crate::daemon::{Daemon, copy_data, data, fourfold};
use crate::players::run as command;

/// Lessons to which learners practise: more than there is time for.
const PRACTICE: u32 = 1_000_000;

/// Life of a daemon before it is killed, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 50..=1_000;

/// Life of the first one, in which there must be something to learn, and of the last.
const WHOLE_LIFE: Duration = Duration::from_secs(2);

/// How long the learners may take to learn what is left.
const SETTLING_MAX: Duration = Duration::from_mins(2);

/// Finished games read at a time.
const PAGE: u32 = 1_000;

/// Learners that practise up to so many lessons, without a pause, against two quick bots. Nothing else happens.
fn settings(practice_games: u32) -> String {
    format!(
        "\
[ladder]
enabled = false

[learning]
cpu_percent = 100
freeze_at = [0, 10, 30, 100]
practice_games = {practice_games}
practice_pause_ms = 0
teachers = [\"random\", \"greedy\"]

[metrics]
enabled = false

[log]
level = \"warn\"
"
    )
}

/// Kills the daemon again and again; gives a line of figures and everything that is wrong.
pub(crate) async fn run(round: &Round, directory: &Path) -> (String, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(round.seed);
    let mut daemon = Daemon::start(directory, None, &settings(PRACTICE));
    tokio::time::sleep(WHOLE_LIFE).await;
    for _ in 0..round.learner_cycles() {
        daemon.kill();
        daemon = Daemon::start(directory, None, &settings(PRACTICE));
        tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
    }
    // On a full machine nobody may have had the time to learn anything so far.
    until_all(&daemon, "has learnt a game", |learner| learner["games"].as_u64() > Some(0)).await;
    tokio::time::sleep(WHOLE_LIFE).await;
    daemon.kill();
    let games = settle(directory).await;
    // It ends with an error if anything is not what the records teach.
    let verified = command(directory, fourfold().args(["memory", "verify"]));
    print!("{verified}");
    let mut faults = doubled_or_missed(directory).await;

    let other = directory.join("uninterrupted");
    std::fs::create_dir(&other).expect("a writable directory");
    copy_without_learners(directory, &other);
    settle(&other).await;
    let (killed, whole) = (learnt(directory).await, learnt(&other).await);
    faults.extend(differences(&killed, &whole));
    let bytes: usize = whole.iter().map(|learner| learner.state.len()).sum();
    let figures = format!(
        "learners: {} kills while learning, {games} games, each learnt once; {} learners with {} versions and {bytes} \
         bytes of state are those of a run that was never interrupted",
        round.learner_cycles() + 1,
        whole.len(),
        whole.iter().map(|learner| learner.versions.len()).sum::<usize>(),
    );
    (figures, faults)
}

/// Lets the learners learn whatever is left, and stops the daemon as planned. Gives the number of finished games.
async fn settle(directory: &Path) -> u64 {
    let last = last_finished(directory).await;
    let daemon = Daemon::start(directory, None, &settings(0));
    until_all(&daemon, "has looked at every game", |learner| learner["covered"].as_u64() == Some(last)).await;
    daemon.stop();
    last
}

/// Waits until this holds of every learner, on a machine that may be busy with other things.
async fn until_all(daemon: &Daemon, what: &str, holds: impl Fn(&serde_json::Value) -> bool) {
    let deadline = tokio::time::Instant::now() + SETTLING_MAX;
    loop {
        let answer = daemon.get("/api/v1/learners").await;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let learners: serde_json::Value = serde_json::from_str(body).expect("the endpoint answers JSON");
        let learners = learners["items"].as_array().expect("a list");
        if !learners.is_empty() && learners.iter().all(&holds) {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "not every learner {what}: {body}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// All that a learner is.
#[derive(PartialEq, Eq)]
struct Learnt {
    name: PlayerName,
    games: u64,
    covered: u64,
    state: Vec<u8>,
    lessons: Vec<u64>,
    /// Mark, games, covered and state of each.
    versions: Vec<(u64, u64, u64, Vec<u8>)>,
}

async fn learnt(directory: &Path) -> Vec<Learnt> {
    let store = open(directory).await;
    let mut all = Vec::new();
    for plan in plans() {
        let learner = store.learner(&plan.name).await.expect("readable").expect("it has begun to learn");
        let lessons = lessons(&store, &plan.name, learner.games).await;
        let versions = store.learner_versions(&plan.name).await.expect("readable").into_iter();
        all.push(Learnt {
            name: plan.name,
            games: learner.games,
            covered: learner.place.covered,
            state: learner.state,
            lessons,
            versions: versions.map(|it| (it.mark, it.games, it.covered, it.state)).collect(),
        });
    }
    close(store).await;
    all
}

fn differences(killed: &[Learnt], whole: &[Learnt]) -> Vec<String> {
    let differs = killed.iter().zip(whole).filter(|(killed, whole)| killed != whole);
    let line = |(killed, whole): (&Learnt, &Learnt)| {
        format!(
            "{}: {} games up to {}, {} versions; uninterrupted {} games up to {}, {} versions, and not the same bytes",
            whole.name,
            killed.games,
            killed.covered,
            killed.versions.len(),
            whole.games,
            whole.covered,
            whole.versions.len(),
        )
    };
    differs.map(line).collect()
}

/// The same games and players in another directory, where nothing was learnt yet.
fn copy_without_learners(from: &Path, to: &Path) {
    copy_data(from, to);
    let database = DataDir::open(&data(to)).expect("nobody else is in the directory").database();
    let connection = Connection::open(database).expect("a whole database");
    for table in ["lesson", "learner_version", "learner_point", "learner"] {
        connection.execute(&format!("DELETE FROM {table}"), []).expect("a writable database");
    }
    connection.close().expect("the database closes");
}

async fn open(directory: &Path) -> SqliteStore {
    let data = DataDir::open(&data(directory)).expect("the daemon has left the directory");
    SqliteStore::open(&data.database(), Durability::Strict).await.expect("a whole database")
}

/// A store that is dropped closes its files some time later, while they are copied, say.
async fn close(store: SqliteStore) {
    store.close().await.expect("the database closes");
}

async fn lessons(store: &SqliteStore, name: &PlayerName, games: u64) -> Vec<u64> {
    let count = u32::try_from(games).unwrap_or(u32::MAX).saturating_add(1);
    let lessons = store.lessons(name, 0, count).await.expect("readable");
    lessons.into_iter().map(|lesson| lesson.number).collect()
}

/// All finished games with their numbers, and whether each is a lesson.
async fn finished(store: &SqliteStore) -> Vec<(u64, bool)> {
    let mut all: Vec<(u64, bool)> = Vec::new();
    loop {
        let after = all.last().map_or(0, |(number, _)| *number);
        let page = store.audit_finished(after, PAGE).await.expect("readable");
        if page.is_empty() {
            return all;
        }
        all.extend(page.into_iter().map(|game| {
            let game = game.expect("a whole game");
            let number = game.settlement.as_ref().map_or(0, |settled| settled.number);
            let decided = |end: &Ending| matches!(end.reason, EndReason::Four | EndReason::Full);
            (number, game.ending().is_some_and(decided))
        }));
    }
}

async fn last_finished(directory: &Path) -> u64 {
    let store = open(directory).await;
    let last = finished(&store).await.last().map_or(0, |(number, _)| *number);
    close(store).await;
    last
}

/// Whether a learner that watches all games has learnt each of them, and none twice.
async fn doubled_or_missed(directory: &Path) -> Vec<String> {
    let store = open(directory).await;
    let decided = finished(&store).await.into_iter().filter(|(_, is_lesson)| *is_lesson);
    let decided: Vec<u64> = decided.map(|(number, _)| number).collect();
    let name = "memory-spectator".parse().expect("a name");
    let learnt = lessons(&store, &name, decided.len() as u64).await;
    close(store).await;
    let mut faults = Vec::new();
    if learnt != decided {
        faults.push(format!("{} games are to be learnt, {} were", decided.len(), learnt.len()));
    }
    if learnt.is_empty() {
        faults.push("no game was learnt: nothing was tested".to_owned());
    }
    faults
}
