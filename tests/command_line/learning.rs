//! Learners from the command line: what the arena's learners know, and whether it is what the records teach.

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};

use super::{Daemon, check_failure, text};

/// Commands that are asked until something was learnt: each takes some tenths of a second.
const ATTEMPTS: u32 = 300;

#[test]
fn learners_are_checked_byte_for_byte_while_the_daemon_runs_and_after() {
    let mut daemon = Daemon::start_with(&[
        ("FOURFOLD_LEARNING_CPU_PERCENT", "100"),
        ("FOURFOLD_LEARNING_PRACTICE_PAUSE_MS", "10"),
        ("FOURFOLD_LEARNING_TEACHERS", "random,greedy"),
    ]);
    let asked = |arguments: &[&str]| {
        let output = daemon.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let learnt = || {
        let learners: Value = serde_json::from_str(&asked(&["memory", "verify", "--json"])).unwrap();
        let learners = learners.as_array().unwrap().clone();
        let is_sound = |learner: &Value| learner["findings"].as_array().unwrap().is_empty();
        assert!(learners.iter().all(is_sound), "{learners:?}");
        learners.len() == 4 && learners.iter().all(|learner| learner["games"].as_u64() > Some(0))
    };
    assert!((0..ATTEMPTS).any(|_| learnt()), "practice teaches all learners");
    let shown = asked(&["memory", "show", "--bot", "ntuple-live", "--limit", "3"]);
    assert!(shown.contains(" games learnt\nPattern ") && shown.lines().count() >= 4, "{shown}");
    assert!(!shown.contains("Seen"), "it does not keep how often it saw them: {shown}");
    let heaviest = shown.lines().last().and_then(|row| row.split_whitespace().last()).unwrap();
    assert!(heaviest.parse::<i64>().is_ok(), "a whole number, as in reasons: {shown}");
    let frozen = asked(&["memory", "show", "--bot", "MEMORY@0", "--json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&frozen).unwrap(),
        Value::Array(Vec::new()),
        "nothing was known"
    );
    // What a learner of the arena knows plays anywhere.
    let copy = daemon.data().join("copy.xml");
    asked(&["memory", "export", copy.to_str().unwrap(), "--bot", "memory-spectator"]);
    let spec = format!("memory:file={}", copy.display());
    let carried: Value = serde_json::from_str(&asked(&["memory", "show", "--bot", &spec, "--json"])).unwrap();
    assert!(!carried.as_array().unwrap().is_empty());
    let network = "ntuple-live has no pattern memory: only those have this form";
    check_failure(&mut daemon.command(&["memory", "export", "-", "--bot", "ntuple-live"]), 2, network);
    let unknown = "no learner of the house is called `memory@1`: there are memory, memory-spectator, ";
    check_failure(&mut daemon.command(&["memory", "show", "--bot", "memory@1"]), 1, unknown);

    daemon.signal("-TERM");
    assert!(daemon.process.wait().unwrap().success());
    let verify = || daemon.command(&["memory", "verify"]).output().unwrap();
    let sound = verify();
    assert_eq!(text(&sound.stdout).matches("made again byte for byte").count(), 4, "{}", text(&sound.stdout));
    forget_what_was_learnt(&daemon.data().join("fourfold.db"), "memory-windows");
    let damaged = verify();
    assert_eq!((damaged.status.code(), text(&damaged.stderr)), (Some(65), "fourfold: one disagreement\n"));
    let found = "memory-windows: its state is not what its lessons teach\n";
    assert!(text(&damaged.stdout).contains(found), "{}", text(&damaged.stdout));
}

/// Puts the learner's first version in place of what it knows.
fn forget_what_was_learnt(database: &std::path::Path, learner: &str) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let options = SqliteConnectOptions::new().filename(database);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let sql = "UPDATE learner SET state = \
                   (SELECT state FROM learner_version WHERE learner = learner.key AND mark = 0) WHERE name = ?";
        let updated = sqlx::query(sql).bind(learner).execute(&mut connection).await.unwrap();
        assert_eq!(updated.rows_affected(), 1);
        connection.close().await.unwrap();
    });
}
