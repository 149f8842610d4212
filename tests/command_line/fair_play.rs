//! `fourfold fair-play`: out of records, for operators.

use std::fs;

use tempfile::TempDir;

use crate::{Daemon, check_refused, run, text};

/// A record of a rated game between two people, as an export has it, with a key that this command does not read.
fn record(id: &str, kinds: [&str; 2], moves: &str) -> String {
    let player = |id: &str, kind: &str| format!(r#"{{"id":"{id}","name":"{id}","kind":"{kind}"}}"#);
    let rating = r#"{"before":900,"after":910,"delta":10}"#;
    format!(
        r#"{{"id":"{id}","rated":true,"variant":"7x6","moves":"{moves}","opening":{{"kind":"none","moves":""}},"#
    ) + &format!(
        r#""players":{{"first":{},"second":{}}},"ratings":{{"first":{rating},"second":{rating}}},"status":"over"}}"#,
        player("ada", kinds[0]),
        player("bob", kinds[1])
    ) + "\n"
}

#[test]
fn fair_play_reports_rated_games_between_people_and_says_that_it_is_no_verdict() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("games.ndjson");
    let path = file.to_str().unwrap();
    let moves = "557152711624545746362464762234657";
    let games = record("g1", ["human", "human"], moves) + "\n" + &record("g2", ["human", "bot"], moves);
    fs::write(&file, games).unwrap();
    let output = run(&["fair-play", path]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        printed.contains("ada") && printed.contains("bob") && printed.contains("This is no verdict."),
        "{printed}"
    );
    let output = run(&["fair-play", path, "--player", "ADA", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let players = report["players"].as_array().unwrap();
    assert_eq!((players.len(), &players[0]["player"], &players[0]["games"]), (1, &"ada".into(), &1.into()));
    assert_eq!(
        (&players[0]["hard"], &players[0]["look"]),
        (&0.into(), &false.into()),
        "two are too few to say anything"
    );
}

#[test]
fn fair_play_names_what_it_cannot_read() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("games.ndjson");
    let path = file.to_str().unwrap();
    check_refused(&["fair-play", path], 66, "cannot open");
    fs::write(&file, record("g1", ["human", "human"], "44") + "{\"id\":7}\n").unwrap();
    check_refused(&["fair-play", path], 65, "line 2");
    fs::write(&file, record("g1", ["human", "human"], "44")).unwrap();
    check_refused(
        &["fair-play", path, "--player", "eve"],
        2,
        "`eve` has no rated game against a person here",
    );
}

#[test]
fn operators_ask_a_running_daemon_for_the_same() {
    let daemon = Daemon::start_with(&[("FOURFOLD_LEARNING_ENABLED", "false")]);
    let output = daemon.command(&["admin", "fair-play"]).output().unwrap();
    let printed = text(&output.stdout);
    assert!(printed.starts_with("rated games between people: 0"), "{printed}");
    assert!(printed.contains("This is no verdict."), "{printed}");
    let output = daemon.command(&["admin", "fair-play", "--player", "nobody", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}
