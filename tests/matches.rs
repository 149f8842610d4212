//! Matches from the command line: killed at random moments, stopped, resumed, and refused what makes no sense.
//!
//! The long form of the kill test takes a minute: `cargo test --release --test matches -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fourfold_engine::rng;
use rand::RngExt;
use serde_json::Value;

/// Longer than a match of these tests takes on the slowest machine.
const LONGEST_MATCH: Duration = Duration::from_mins(1);

fn fourfold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourfold"));
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG");
    command
}

fn run(arguments: &[&str]) -> Output {
    fourfold(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Standard output of a run that must succeed.
#[track_caller]
fn output_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// One line on standard error that contains `message`.
#[track_caller]
fn check_refused(arguments: &[&str], code: i32, message: &str) {
    let output = run(arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(error.contains(message), "{error}");
}

/// The lines of a log without times and without the checksums, which cover the times.
fn without_times(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let strip = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for key in ["crc", "origin", "clocks", "spent_us", "started_at", "ended_at"] {
            line.as_object_mut().unwrap().remove(key);
        }
        line
    };
    text.lines().map(strip).collect()
}

/// A match of deterministic bots that takes a second or so.
fn flags<'a>(log: &'a Path, games: &'a str) -> Vec<&'a str> {
    let log = log.to_str().unwrap();
    let bots = ["match", "negamax:depth=5", "negamax:depth=4", "--games", games, "--seed", "7"];
    [&bots[..], &["--save", log, "--json", "--concurrency", "2"]].concat()
}

/// Kills a match again and again, resumes it, and compares it with one that nobody killed.
///
/// Each run is killed when its log has grown by a few games, so that kills come while games are played however fast the
/// machine is; a moment of chance is added, so that they come at all stages of a game and of a write. Every fourth is
/// killed after a moment alone: while it starts, or reads the log.
fn check_kills(games: &str, kills: u32, seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let (whole, killed) = (directory.path().join("whole.ndjson"), directory.path().join("killed.ndjson"));
    let expected = output_of(&flags(&whole, games));
    let resume = [&flags(&killed, games)[..], &["--resume"]].concat();
    let lines = || fs::read_to_string(&killed).map_or(0, |log| log.lines().count());
    let games: usize = games.parse().unwrap();
    // Half of the match is left for what is played between a look at the log and the kill.
    let most = (games / 2 / kills as usize).max(1);
    let mut rng = rng::seeded(seed);
    let mut midway = 0;
    for kill in 0..kills {
        let mut child = fourfold(&resume).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if kill % 4 > 0 {
            let enough = lines() + rng.random_range(1..=most);
            wait(&mut child, LONGEST_MATCH, || lines() >= enough);
        }
        wait(&mut child, Duration::from_millis(20).mul_f64(rng.random()), || false);
        child.kill().unwrap();
        child.wait().unwrap();
        midway += u32::from((2..games).contains(&lines()));
    }
    assert!(midway > 0, "no kill came while games were played");
    assert_eq!(output_of(&resume), expected, "the table");
    assert_eq!(without_times(&killed), without_times(&whole), "the log");
    assert!(!directory.path().join("killed.ndjson.ahead").exists());
}

/// Waits so long, or until the child ends or what is waited for has come.
fn wait(child: &mut Child, time: Duration, come: impl Fn() -> bool) {
    let until = Instant::now() + time;
    while Instant::now() < until && !come() && child.try_wait().unwrap().is_none() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_match_loses_and_doubles_nothing() {
    check_kills("200", 8, 1);
}

#[test]
#[ignore = "takes a minute: the long form of the test above"]
fn a_match_killed_a_hundred_times_loses_and_doubles_nothing() {
    check_kills("400", 100, 2);
}

#[test]
fn a_stopped_match_says_how_to_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, stopped) = (directory.path().join("whole.ndjson"), directory.path().join("stopped.ndjson"));
    let expected = output_of(&flags(&whole, "200"));
    let log = stopped.to_str().unwrap();
    let bots = ["match", "negamax:depth=5", "negamax:depth=4", "--games", "200", "--seed", "7"];
    let events = [&bots[..], &["--save", log, "--events", "--concurrency", "2"]].concat();
    let mut child = fourfold(&events).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["event"], "game");
    let told = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    let last: Value = serde_json::from_str(&lines.last().unwrap().unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "SIGTERM stops cleanly");
    let games = last["games"].as_u64().unwrap();
    if games < 200 {
        assert_eq!(last["ended"], Value::Null);
        assert!(text(&output.stderr).contains("--resume"), "{}", text(&output.stderr));
    }
    assert_eq!(output_of(&[&flags(&stopped, "200")[..], &["--resume"]].concat()), expected);
    assert_eq!(without_times(&stopped), without_times(&whole));
}

#[test]
fn games_do_not_depend_on_how_many_run_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let log = |concurrency: &str| {
        let path = directory.path().join(concurrency);
        let name = path.to_str().unwrap();
        let shared =
            ["tournament", "--format", "swiss", "--games", "4", "--seed", "3", "--json", "--save", name];
        let bots = ["random", "stupid", "greedy", "negamax:depth=2", "montecarlo:playouts=20"];
        let table = output_of(&[&shared[..], &bots, &["--concurrency", concurrency]].concat());
        (table, without_times(&path))
    };
    let alone = log("1");
    assert_eq!(log("2"), alone);
    assert_eq!(log("9"), alone);
}

#[test]
fn a_match_is_told_in_the_shape_of_the_contract() {
    let json = output_of(&["match", "greedy", "random", "--games", "20", "--seed", "5", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    for key in [
        "entrants",
        "games",
        "pairs",
        "wins",
        "draws",
        "losses",
        "score",
        "elo",
        "elo_low",
        "elo_high",
        "los",
        "pentanomial",
        "distinct",
        "faults",
        "seed",
    ] {
        assert!(!report[key].is_null(), "{key} is missing: {json}");
    }
    assert_eq!((&report["games"], &report["pairs"], &report["seed"]), (&20.into(), &10.into(), &5.into()));
    let pairs: u64 = report["pentanomial"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(pairs, 10);
    assert!(report.get("sprt").is_none());
}

#[test]
fn a_sequential_test_decides_and_says_so() {
    let printed = output_of(&[
        "match",
        "negamax:depth=4",
        "greedy",
        "--games",
        "1000",
        "--seed",
        "1",
        "--sprt",
        "0,50",
    ]);
    assert!(printed.contains("SPRT    0 to 50: LLR"), "{printed}");
    assert!(printed.contains("H1 accepted"), "{printed}");
    assert!(printed.lines().last().unwrap().starts_with("The test accepts H1 after "), "{printed}");
}

#[test]
fn tournaments_print_their_table() {
    let printed = output_of(&["tournament", "--format", "round-robin", "greedy", "negamax:depth=1"]);
    let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["Rank", "Name", "Score", "Win", "WinX", "WinO"]);
    assert_eq!(rows[1], ["1", "greedy", "3", "1", "0", "1"]);
    assert_eq!(rows[2], ["2", "negamax:depth=1", "3", "1", "0", "1"]);
    for format in ["gauntlet", "swiss", "knockout", "ladder"] {
        let table = output_of(&[
            "tournament",
            "--format",
            format,
            "random",
            "greedy",
            "stupid",
            "--json",
            "--seed",
            "1",
        ]);
        let table: Value = serde_json::from_str(&table).unwrap();
        assert_eq!(table["players"].as_array().unwrap().len(), 3, "{format}");
        assert!(table["players"][0]["pm95"].as_f64().unwrap() > 0.0, "{format}");
    }
}

#[test]
fn saved_games_can_be_rated() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("games.ndjson");
    let log = log.to_str().unwrap();
    output_of(&["match", "greedy", "random", "--games", "60", "--seed", "2", "--save", log]);
    let table: Value =
        serde_json::from_str(&output_of(&["rate", log, "--anchor", "random=0", "--json"])).unwrap();
    let names: BTreeSet<&str> =
        table["players"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["greedy", "random"]));
    assert_eq!(table["players"][1]["elo"], 0.0);
    assert!(table["first_move_advantage"].is_number());
    assert!(output_of(&["rate", log]).starts_with("Name"));
    check_refused(&["rate", log, "--anchor", "nobody=0"], 2, "nobody is called nobody");
    check_refused(&["rate", "/no/such/file"], 66, "cannot open");
    fs::write(log, "{\"event\":\"start\"}\n").unwrap();
    check_refused(&["rate", log], 65, "no finished game");
}

#[test]
fn openings_of_a_file_are_played_as_they_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (list, log) = (path("list.txt"), path("log.ndjson"));
    fs::write(&list, "1122\n").unwrap();
    let openings = |log: &str| {
        let text = fs::read_to_string(log).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let moves = records.filter_map(|record| Some(record["opening"]["moves"].as_str()?.to_owned()));
        moves.collect::<BTreeSet<String>>()
    };
    let play = ["match", "greedy", "random", "--games", "40", "--seed", "2", "--openings", &list, "--save"];
    output_of(&[&play[..], &[&log]].concat());
    assert_eq!(openings(&log), BTreeSet::from(["1122".to_owned()]));
    let mirrored = path("mirrored.ndjson");
    output_of(&[&play[..], &[&mirrored, "--mirror"]].concat());
    assert_eq!(openings(&mirrored), BTreeSet::from(["1122".to_owned(), "7766".to_owned()]));
    // A log of before there was a choice has its openings mirrored, and goes on so.
    output_of(&[&play[..], &[&mirrored, "--resume"]].concat());
    check_refused(&[&play[..], &[&log, "--resume", "--mirror"]].concat(), 2, "use of --mirror differs");
    check_refused(&["match", "random", "greedy", "--openings", "empty", "--mirror"], 2, "of a file");
}

#[test]
fn what_makes_no_sense_is_refused() {
    check_refused(&["match", "random", "randon"], 2, "did you mean `random`?");
    check_refused(&["match", "random", "greedy", "--games", "5"], 2, "even number");
    check_refused(&["match", "random", "greedy", "--sprt", "5,0"], 2, "the smaller one first");
    check_refused(&["match", "random", "greedy", "--time", "0+1"], 2, "60+1");
    check_refused(
        &["match", "random", "greedy", "--openings", "/no/such/file"],
        66,
        "--openings: cannot open /no/such/file",
    );
    check_refused(
        &["match", "random", "greedy", "--openings", "balanced", "--variant", "8x7"],
        2,
        "only for 7x6",
    );
    check_refused(&["match", "random", "greedy", "--resume"], 2, "--save");
    check_refused(&["tournament", "--format", "swiss", "random"], 2, "two entrants");
    check_refused(
        &["tournament", "--format", "gauntlet", "random", "greedy", "--seeds", "2"],
        2,
        "leaves nobody",
    );
}

#[test]
fn a_log_is_not_overwritten_nor_mixed_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.ndjson");
    let log = path.to_str().unwrap();
    let play = ["match", "greedy", "random", "--games", "10", "--seed", "2", "--save", log];
    output_of(&play);
    check_refused(&play, 2, "is there already");
    check_refused(&["match", "greedy", "stupid", "--save", log, "--resume"], 2, "entrants differ");
    check_refused(&[&play[..], &["--resume", "--nodes", "5"]].concat(), 2, "time control differs");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replacen("\"result\":\"first\"", "\"result\":\"draw!\"", 1)).unwrap();
    check_refused(&[&play[..], &["--resume"]].concat(), 65, "its checksum is wrong");
}

/// All parts of a run, each with its log.
fn play_parts(run: &[&str], parts: u32, directory: &Path) -> Vec<String> {
    let log = |number: u32| directory.join(format!("{number}.ndjson")).to_str().unwrap().to_owned();
    for number in 1..=parts {
        let part = format!("{number}/{parts}");
        output_of(&[run, &["--shard", &part, "--save", &log(number)]].concat());
    }
    (1..=parts).map(log).collect()
}

#[test]
fn parts_of_a_run_joined_are_the_run() {
    let bots = ["negamax:depth=2,ties=random", "random", "greedy"];
    let tournament =
        [&["tournament", "--format", "round-robin"], &bots[..], &["--games", "6", "--seed", "7"]].concat();
    // In one go this one ends after some twenty pairs.
    let tested = ["match", bots[0], bots[1], "--games", "60", "--seed", "7", "--sprt", "0,50"];
    for run in [&tournament[..], &tested] {
        let directory = tempfile::tempdir().unwrap();
        let (whole, joined) = (directory.path().join("whole"), directory.path().join("joined"));
        output_of(&[run, &["--save", whole.to_str().unwrap()]].concat());
        let parts = play_parts(run, 4, directory.path());
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let join = |parts: &[&str], out: &Path| -> Vec<String> {
            let words = [&["games", "join"], parts, &["--out", out.to_str().unwrap()]].concat();
            words.into_iter().map(str::to_owned).collect()
        };
        let words = |words: &[String]| {
            fourfold(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap()
        };
        let in_any_order = [parts[2], parts[0], parts[3], parts[1]];
        let output = words(&join(&in_any_order, &joined));
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(without_times(&joined), without_times(&whole));
        let table = |log: &Path| output_of(&["log", log.to_str().unwrap(), "--json"]);
        assert_eq!(table(&joined), table(&whole));
        output_of(&["log", joined.to_str().unwrap(), "--verify"]);
        let rated = |logs: &[&str]| output_of(&[&["rate", "--json"], logs].concat());
        if run[0] == "tournament" {
            assert_eq!(rated(&parts), rated(&[whole.to_str().unwrap()]));
        }
        let missing = words(&join(&parts[..3], &directory.path().join("x")));
        assert_eq!(
            (missing.status.code(), text(&missing.stderr).contains("part 4/4 is missing")),
            (Some(65), true)
        );
        let there = words(&join(&parts, &joined));
        assert_eq!(there.status.code(), Some(2), "{}", text(&there.stderr));
    }
}

#[test]
fn what_has_no_parts_says_so() {
    let swiss = ["tournament", "--format", "swiss", "random", "greedy", "--seed", "1", "--shard", "1/2"];
    check_refused(&swiss, 2, "who meets whom follows from what was played");
    check_refused(&["match", "random", "greedy", "--shard", "1/2"], 2, "all parts need the same --seed");
    check_refused(&["match", "random", "greedy", "--seed", "1", "--shard", "3/2"], 2, "no part such as 3/8");
    // Of one pair there is nothing for the second machine to do.
    output_of(&["match", "random", "greedy", "--games", "2", "--seed", "1", "--shard", "2/2"]);
}
