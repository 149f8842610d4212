//! Learners from the command line: what the arena's learners know, and whether it is what the records teach.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;

use super::{Daemon, check_failure, fourfold, text};

/// How long to ask until something was learnt: some seconds are enough on a machine that does nothing else.
const PATIENCE: Duration = Duration::from_mins(2);

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
    let began = Instant::now();
    while !learnt() {
        assert!(began.elapsed() < PATIENCE, "practice teaches all learners");
    }
    let shown = asked(&["memory", "show", "--bot", "ntuple-live", "--limit", "3"]);
    assert!(shown.starts_with("ntuple-live: ") && shown.contains("\nPattern  "), "{shown}");
    assert!(!shown.contains("Seen"), "it does not keep how often it saw them: {shown}");
    let heaviest = shown.lines().last().and_then(|row| row.split_whitespace().last()).unwrap();
    assert!(heaviest.parse::<i64>().is_ok(), "a whole number, as in reasons: {shown}");
    check_what_the_page_shows(&asked);
    // What a learner of the arena knows plays anywhere.
    let copy = daemon.data().join("copy.xml");
    asked(&["memory", "export", copy.to_str().unwrap(), "--bot", "memory-spectator"]);
    let spec = format!("memory:file={}", copy.display());
    let carried: Value = serde_json::from_str(&asked(&["memory", "show", "--bot", &spec, "--json"])).unwrap();
    assert!(!carried["patterns"].as_array().unwrap().is_empty());
    let network = daemon.data().join("live.bin");
    asked(&["memory", "export", network.to_str().unwrap(), "--bot", "ntuple-live"]);
    let spec = format!("ntuple:plies=0,file={}", network.display());
    let moved = fourfold(&["move", "--bot", &spec, "--why", "44"]).output().unwrap();
    assert!(text(&moved.stdout).contains("\nColumn  Weight  Pattern\n"), "{}", text(&moved.stderr));
    let as_xml = ["memory", "export", "-", "--xml", "--bot", "ntuple-live"];
    check_failure(&mut daemon.command(&as_xml), 2, "ntuple-live is a network: it has no XML");
    let unknown = "no learner of the house is called `memory@1`: there are memory, memory-spectator, ";
    check_failure(&mut daemon.command(&["memory", "show", "--bot", "memory@1"]), 1, unknown);
    check_where_files_are_taken(&daemon, &copy);

    daemon.signal("-TERM");
    assert!(daemon.process.wait().unwrap().success());
    let verify = || daemon.command(&["memory", "verify"]).output().unwrap();
    let sound = verify();
    assert_eq!(text(&sound.stdout).matches("made again byte for byte").count(), 4, "{}", text(&sound.stdout));
    forget_what_was_learnt(&daemon.data().join("fourfold.db"), "memory-windows");
    let damaged = verify();
    assert_eq!(
        (damaged.status.code(), text(&damaged.stderr)),
        (Some(65), "fourfold: one disagreement: `fourfold memory verify --repair` has learners made again\n")
    );
    let found = "memory-windows: its state is not what its lessons teach\n";
    assert!(text(&damaged.stdout).contains(found), "{}", text(&damaged.stdout));
    let repaired = daemon.command(&["memory", "verify", "--repair"]).output().unwrap();
    assert!(repaired.status.success(), "{}", text(&repaired.stderr));
    assert_eq!(text(&repaired.stdout).matches(", the daemon makes it again\n").count(), 1);
    let waiting =
        "memory-windows: it is to be made again from the lessons that are left: the daemon does so\n";
    let marked = verify();
    assert!(text(&marked.stdout).contains(waiting), "{}", text(&marked.stdout));
    let advice = "fourfold: one disagreement: a daemon with learning on makes learners again\n";
    assert_eq!((marked.status.code(), text(&marked.stderr)), (Some(65), advice));
}

/// Versions, curve, lessons and reasons, for people and for programs.
fn check_what_the_page_shows(asked: &dyn Fn(&[&str]) -> String) {
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let frozen = read(&asked(&["memory", "show", "--bot", "MEMORY@0", "--json"]));
    assert_eq!((&frozen["patterns"], &frozen["games"]), (&Value::Array(Vec::new()), &0.into()), "{frozen}");
    assert_eq!(frozen["versions"][0]["name"], "memory@0", "{frozen}");
    let frozen = asked(&["memory", "show", "--bot", "MEMORY@0"]);
    assert!(
        frozen.ends_with("Pattern  Seen  Won  Lost  Weighting\n"),
        "it counts, though nothing yet: {frozen}"
    );

    let shown = read(&asked(&["memory", "show", "--json"]));
    let versions = shown["versions"].as_array().unwrap();
    assert_eq!(
        (&versions[0]["name"], &versions.last().unwrap()["name"]),
        (&"memory@0".into(), &"memory".into())
    );
    let lesson = &shown["lessons"][0];
    let game = lesson["game"].as_str().unwrap();
    let table = asked(&["memory", "show", "--limit", "2"]);
    for head in ["Version   Games  Rating", "Lesson  Game", "Pattern"] {
        assert!(table.contains(&format!("\n{head}")), "{head}: {table}");
    }
    let moves = read(&asked(&["memory", "show", "--game", game, "--json"]));
    let is_told = |said: &Value| !said["reasons"].as_array().unwrap().is_empty();
    assert!(moves.as_array().unwrap().iter().all(is_told), "{moves}");
}

/// A file stands in for no learner that is there and cannot be asked, only for one that is not.
fn check_where_files_are_taken(daemon: &Daemon, memory: &std::path::Path) {
    let file = daemon.data().join("lines69.xml");
    std::fs::copy(memory, &file).unwrap();
    let of_nobody = ["memory", "export", "-", "--bot", "lines69"];
    check_failure(&mut daemon.command(&of_nobody), 2, "lines69 has no pattern memory");
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::copy(memory, elsewhere.path().join("memory.xml")).unwrap();
    let shown = fourfold(&["memory", "show", "--data"]).arg(elsewhere.path()).output().unwrap();
    assert!(text(&shown.stdout).starts_with("Pattern"), "{}", text(&shown.stderr));
    std::fs::write(elsewhere.path().join("fourfold.db"), "no database").unwrap();
    for what in [&["memory", "show", "--data"][..], &["memory", "export", "-", "--data"]] {
        let output = fourfold(what).arg(elsewhere.path()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{what:?}: {}", text(&output.stdout));
    }
}

/// Puts the learner's first version in place of what it knows.
fn forget_what_was_learnt(database: &std::path::Path, learner: &str) {
    let connection = Connection::open(database).unwrap();
    let sql = "UPDATE learner SET state = \
               (SELECT state FROM learner_version WHERE learner = learner.key AND mark = 0) WHERE name = ?";
    assert_eq!(connection.execute(sql, [learner]).unwrap(), 1);
    connection.close().unwrap();
}

#[test]
fn runs_are_trained_apart_as_they_are_together() {
    let directory = tempfile::tempdir().unwrap();
    let train = |name: &str, part: &[&str]| {
        let out = directory.path().join(format!("{name}-{{seed}}.xml"));
        let run = ["train", "memory", "--games", "6", "--probe-games", "0", "--runs", "3", "--seed", "5"];
        let output = fourfold(&run).args(["--out", out.to_str().unwrap()]).args(part).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
            .lines()
            .filter(|line| line.starts_with("seed "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let whole = train("whole", &[]);
    assert_eq!(whole, ["seed 5", "seed 6", "seed 7"]);
    assert_eq!([train("part", &["--shard", "1/2"]), train("part", &["--shard", "2/2"])].concat(), whole);
    for seed in 5..8 {
        let read = |name: &str| std::fs::read(directory.path().join(format!("{name}-{seed}.xml"))).unwrap();
        assert_eq!(read("part"), read("whole"), "{seed}");
    }
    check_failure(
        &mut fourfold(&["train", "memory", "--runs", "2", "--out", "same.xml"]),
        2,
        "put {seed} into its name",
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the games of a process are waited for")]
fn without_learners_house_bots_learn_into_files_beside_the_daemon_that_holds_them() {
    let daemon = Daemon::start_with(&[
        ("FOURFOLD_LEARNING_ENABLED", "false"),
        ("FOURFOLD_JUDGING_ENABLED", "false"),
        ("FOURFOLD_LADDER_ENABLED", "true"),
    ]);
    let file = daemon.data().join("memory.xml");
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < PATIENCE, "a game of the ladder is learnt");
        std::thread::sleep(Duration::from_millis(100));
    }
    daemon.signal("-TERM");
    let (code, _, errors) = daemon.wait();
    assert_eq!(code, Some(0), "{errors}");
    assert!(!errors.contains("did not end in time"), "{errors}");
}
