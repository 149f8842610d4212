//! The classic bots from the command line: as their authors called them, how they learn, what they keep.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use super::{check_failure, check_refused, fourfold, run, text};

/// How long a command that is to end at once may take on a busy machine; the point it must not wait for takes hours.
const PATIENCE: Duration = Duration::from_mins(1);

fn in_dir(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = fourfold(arguments);
    command.current_dir(dir);
    command
}

#[track_caller]
fn run_in(dir: &Path, arguments: &[&str]) -> Output {
    let output = in_dir(dir, arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

// ---- as their authors called them ----

#[test]
fn the_69_line_scorer_writes_its_move_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    // Y has three on the floor, and both ends are open.
    let output = run_in(dir.path(), &["classic", "lines69", " YYY"]);
    let line = text(&output.stdout);
    assert!(["Move 1\n", "Move 5\n"].contains(&line), "{line}");
    assert_eq!(fs::read_to_string(dir.path().join("Move.txt")).unwrap(), line);
    for (board, message) in [
        ("YRYX", "character 4 of the board is `X`"),
        ("RRRR", "the game is over"),
        ("       Y", "the stone on a2 has nothing below it"),
        ("                                           ", "the board has 43 characters"),
    ] {
        check_failure(&mut in_dir(dir.path(), &["classic", "lines69", board]), 2, message);
    }
    assert_eq!(fs::read_to_string(dir.path().join("Move.txt")).unwrap(), line, "the old file stays");
}

#[test]
fn c4ai_plays_its_companions_as_its_readme_says() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("w.csv"), "29,-237,126,936,-21,-884\n").unwrap();
    let words = ["classic", "c4ai", "-p1", "C4AI", "w.csv", "-p2", "StupidAI", "-t", "1"];
    let output = run_in(dir.path(), &words);
    let printed = text(&output.stdout);
    assert!(printed.contains("(c4ai:weights=29,-237,126,936,-21,-884,ms=1) wins"), "{printed}");
    fs::write(dir.path().join("w.csv"), "29,-237,126\n").unwrap();
    check_failure(
        &mut in_dir(dir.path(), &words),
        65,
        "w.csv: `29,-237,126` is not 6 whole numbers from -1000 to 1000 with commas between",
    );
    check_refused(&["classic", "c4ai", "-p1", "DeepBlue"], 2, "nobody is called `DeepBlue`");
    check_refused(&["classic", "c4ai", "-t", "0"], 2, "`0` is no number of milliseconds");
}

// ---- learning ----

const TRAIN: [&str; 10] = [
    "train",
    "memory",
    "--teacher",
    "negamax:depth=2",
    "--probe-games",
    "10",
    "--against",
    "random",
    "--exact-positions",
    "5",
];

fn train(dir: &Path, more: &[&str]) -> String {
    let output = run_in(dir, &[&TRAIN[..], more].concat());
    text(&output.stdout).to_owned()
}

#[test]
fn training_repeats_and_goes_on_as_if_it_had_never_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let whole = train(dir.path(), &["--games", "40", "--out", "whole.xml"]);
    train(dir.path(), &["--games", "15", "--out", "parts.xml"]);
    let parts = train(dir.path(), &["--games", "40", "--out", "parts.xml", "--resume"]);
    assert_eq!(whole.lines().last(), parts.lines().last());
    assert_eq!(read("whole.xml"), read("parts.xml"));
    assert_eq!(read("whole.xml.run"), read("parts.xml.run"));
    let curve = ["--games", "3", "--out", "c.xml", "--curve", "c.csv", "--curve", "c.svg"];
    train(dir.path(), &curve);
    let table = fs::read_to_string(dir.path().join("c.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("bot,seed,options,games,cpu_seconds,decision,random"));
    let games: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(games, ["0", "1", "2", "3"], "{table}");
    assert!(fs::read_to_string(dir.path().join("c.svg")).unwrap().starts_with("<svg"));
    let other = train(dir.path(), &["--games", "40", "--seed", "2", "--out", "other.xml"]);
    assert_ne!((whole, read("whole.xml")), (other, read("other.xml")));
}

#[test]
fn training_refuses_what_does_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    train(dir.path(), &["--games", "3", "--out", "m.xml"]);
    let refuse = |arguments: &[&str], code, message| {
        check_failure(&mut in_dir(dir.path(), arguments), code, message);
    };
    refuse(&["train", "memory:rule=literal", "--out", "m.xml"], 2, "begun with the bot memory");
    refuse(&["train", "memory", "--seed", "9", "--out", "m.xml"], 2, "begun with --seed 1");
    refuse(&["train", "memory", "--teacher", "random", "--out", "m.xml"], 2, "begun with the options");
    refuse(&["train", "memory", "--out", "gone.xml", "--resume"], 66, "there is no run to go on from");
    refuse(&["train", "memory", "--curve", "c.png"], 2, "--curve c.png: the name must end in .csv or .svg");
    refuse(
        &["train", "memory", "--curve", "gone/c.csv"],
        2,
        "--curve gone/c.csv: there is no such directory",
    );
    refuse(&["train", "greedy"], 2, "greedy cannot be trained");
    refuse(&["train", "lines69", "--teacher", "random"], 2, "lines69 has no use for --teacher");
    refuse(&["train", "memory", "--from", "gone.ndjson"], 66, "cannot read gone.ndjson");
    fs::write(dir.path().join("m.xml"), "<ConnectFourPattern>").unwrap();
    refuse(&["train", "memory", "--out", "m.xml"], 1, "m.xml is not what the run in m.xml.run left");
}

#[test]
fn ctrl_c_keeps_what_was_learnt() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [&TRAIN[..], &["--games", "1000000000", "--out", "m.xml"]].concat();
    let mut child =
        in_dir(dir.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The head, no games, and one game: it is at work.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!((0..3).all(|_| lines.next().unwrap().is_ok()));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let last = lines.map(Result::unwrap).last();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let again =
        run_in(dir.path(), &["train", "memory", "--games", "1", "--out", "m.xml", "--probe-games", "0"]);
    let learnt = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    let kept = learnt(text(&again.stdout).lines().last().unwrap());
    assert!(kept >= 1 && last.is_none_or(|line| learnt(&line) <= kept), "{kept}");
}

#[test]
fn ctrl_c_does_not_wait_for_a_point_of_the_curve() {
    let dir = tempfile::tempdir().unwrap();
    let endless = ["--probe-games", "1000000000", "--against", "random", "--exact-positions", "0"];
    let arguments = [&["train", "memory", "--out", "m.xml"], &endless[..]].concat();
    let mut child = in_dir(dir.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut head = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut head).unwrap();
    assert!(head.ends_with("random  State\n"), "{head}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && child.try_wait().unwrap().is_none() {
        park_timeout(Duration::from_millis(20));
    }
    // Who goes on with the point is killed, and has no code.
    let _ = child.kill();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(dir.path().join("m.xml.run").exists(), "it is kept, though nothing was learnt yet");
}

#[test]
fn a_memory_learns_from_records() {
    let dir = tempfile::tempdir().unwrap();
    let games = "{\"moves\":\"3747576\",\"result\":\"first\"}\n{\"moves\":\"44\",\"result\":\"void\"}\n";
    fs::write(dir.path().join("games.ndjson"), games).unwrap();
    let arguments =
        ["train", "memory", "--from", "games.ndjson", "--out", "m.xml", "--probe-games", "0", "--json"];
    for _ in 0..2 {
        let output = run_in(dir.path(), &arguments);
        let point: serde_json::Value =
            serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap();
        // One game as both sides saw it; the second time it is passed over.
        assert_eq!((&point["games"], &point["summary"]), (&1.into(), &"11 patterns".into()));
    }
    let refuse = |arguments: &[&str], message| check_failure(&mut in_dir(dir.path(), arguments), 2, message);
    refuse(&["train", "memory", "--out", "m.xml"], "the run learns from games of others: say --from again");
    let other = "{\"moves\":\"1212121\",\"result\":\"first\"}\n";
    fs::write(dir.path().join("other.ndjson"), other).unwrap();
    refuse(
        &["train", "memory", "--from", "other.ndjson", "--out", "m.xml"],
        "--from other.ndjson: its first 1 games are not those that the run has learnt",
    );
    fs::write(dir.path().join("games.ndjson"), format!("{games}{other}")).unwrap();
    let grown = run_in(dir.path(), &arguments);
    assert!(text(&grown.stdout).contains("{\"games\":2,"), "{}", text(&grown.stdout));
    train(dir.path(), &["--games", "2", "--out", "own.xml"]);
    refuse(
        &["train", "memory", "--from", "games.ndjson", "--out", "own.xml"],
        "the run learns from games of its own: leave out --from",
    );
}

#[test]
fn what_a_run_would_ignore_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refuse = |arguments: &[&str], message| check_failure(&mut in_dir(dir.path(), arguments), 2, message);
    refuse(&["train", "memory:file=m.xml"], "say --out m.xml, not memory:file=m.xml");
    refuse(&["train", "ntuple:file=net.bin"], "say --out net.bin, not ntuple:file=net.bin");
    fs::write(dir.path().join("l.txt"), "lines69:v=1.5\n").unwrap();
    let more = ["--games", "1", "--probe-games", "0", "--out"];
    refuse(
        &[&["train", "lines69:v=2"], &more[..], &["l.txt"]].concat(),
        "the parameters in --out are others",
    );
    fs::write(dir.path().join("w.csv"), "1,2,3,4,5,6\n").unwrap();
    let other = [&["train", "c4ai:weights=6,5,4,3,2,1"], &more[..], &["w.csv"]].concat();
    refuse(&other, "the weights in --out are others");
    // A setting that was given counts, whatever else is left out.
    let exact = ["train", "memory", "--games", "1", "--probe-games", "0", "--exact-positions", "5", "--json"];
    let output = run_in(dir.path(), &exact);
    assert!(
        text(&output.stdout).lines().all(|line| line.contains("\"decision\":0.")),
        "{}",
        text(&output.stdout)
    );
}

// ---- what a memory knows ----

#[test]
fn a_memory_is_kept_after_a_game_and_carried_about() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    let bot = ["--bot", "memory:file=m.xml"];
    check_failure(
        &mut in_dir(dir.path(), &["memory", "show", bot[0], bot[1]]),
        66,
        "there is no memory in m.xml",
    );
    run_in(dir.path(), &["play", "--first", "memory:file=m.xml", "--second", "random:seed=1"]);
    let shown = run_in(dir.path(), &["memory", "show", "--json", bot[0], bot[1]]);
    let patterns: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let patterns = patterns["patterns"].as_array().unwrap();
    assert!(!patterns.is_empty() && patterns.iter().all(|pattern| pattern["seen"] == 1), "{patterns:?}");
    let silent = run_in(dir.path(), &["move", "--why", "--bot", "stupid", "4455"]);
    assert!(text(&silent.stdout).ends_with("\nstupid has no reasons to tell in this position\n"));
    run_in(dir.path(), &["memory", "export", "copy.xml", "--xml", bot[0], bot[1]]);
    assert_eq!(fs::read(file("m.xml")).unwrap(), fs::read(file("copy.xml")).unwrap());
    let imported = run_in(dir.path(), &["memory", "import", "copy.xml", "--xml", "--data", "data"]);
    assert!(text(&imported.stdout).starts_with("memory knows "), "{}", text(&imported.stdout));
    assert!(
        text(&imported.stdout).contains("plays by what its games taught it"),
        "as learning is on by default"
    );
    assert_eq!(fs::read(file("data/memory.xml")).unwrap(), fs::read(file("copy.xml")).unwrap());
    run_in(dir.path(), &["memory", "export", "again.xml", "--data", "data"]);
    assert_eq!(fs::read(file("again.xml")).unwrap(), fs::read(file("copy.xml")).unwrap());
}

#[test]
fn a_memory_of_a_file_says_which_patterns_speak() {
    let dir = tempfile::tempdir().unwrap();
    let game = "{\"moves\":\"3747576\",\"result\":\"first\"}\n";
    fs::write(dir.path().join("games.ndjson"), game.repeat(3)).unwrap();
    run_in(
        dir.path(),
        &["train", "memory", "--from", "games.ndjson", "--out", "m.xml", "--probe-games", "0"],
    );
    let why =
        run_in(dir.path(), &["move", "--why", "--bot", "memory:file=m.xml", "--out", "Move.txt", "3747"]);
    let mut lines = text(&why.stdout).lines();
    assert!(lines.next().unwrap().starts_with("Move "));
    assert_eq!(lines.next().unwrap().split_whitespace().next(), Some("Column"));
    assert!(lines.any(|line| line.contains("own d1 c1")), "{}", text(&why.stdout));
    assert_eq!(fs::read_to_string(dir.path().join("Move.txt")).unwrap().lines().count(), 1, "the move alone");
}

#[test]
fn a_broken_memory_is_refused_with_line_and_reason_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("m.xml"), "<ConnectFourPattern>\n<BasicGame").unwrap();
    fs::write(dir.path().join("good.xml"), "<ConnectFourPattern>\n</ConnectFourPattern>\n").unwrap();
    for arguments in [
        &["play", "--first", "memory:file=m.xml", "--second", "random"][..],
        &["move", "--bot", "memory:file=m.xml"],
        &["memory", "show", "--bot", "memory:file=m.xml"],
        &["memory", "import", "m.xml", "--bot", "memory:file=good.xml"],
    ] {
        check_failure(&mut in_dir(dir.path(), arguments), 65, "m.xml: line 2: ");
    }
    fs::write(dir.path().join("huge.xml"), " ".repeat((16 << 20) + 1)).unwrap();
    check_failure(
        &mut in_dir(dir.path(), &["memory", "import", "huge.xml", "--bot", "memory:file=good.xml"]),
        74,
        "cannot read huge.xml: it is larger than 16777216 bytes",
    );
    let kept = fs::read_to_string(dir.path().join("good.xml")).unwrap();
    assert_eq!(kept, "<ConnectFourPattern>\n</ConnectFourPattern>\n");
}

// ---- the tournament post ----

/// The tables as they were published: engines without chance, one game with each side, three points a win.
#[test]
fn the_published_tournament_tables_come_out_exactly() {
    for (one, other, table) in [
        (
            "negamax:depth=1",
            "greedy",
            "\
Rank  Name             Score  Win  WinX  WinO
1     negamax:depth=1  3      1    0     1
2     greedy           3      1    0     1
",
        ),
        (
            "negamax:depth=2",
            "greedy",
            "\
Rank  Name             Score  Win  WinX  WinO
1     negamax:depth=2  6      2    1     1
2     greedy           0      0    0     0
",
        ),
        (
            "negamax:depth=3",
            "negamax:depth=2",
            "\
Rank  Name             Score  Win  WinX  WinO
1     negamax:depth=3  3      1    1     0
2     negamax:depth=2  3      1    1     0
",
        ),
    ] {
        let output = run(&[
            "tournament",
            "--format",
            "round-robin",
            "--openings",
            "empty",
            "--games",
            "2",
            one,
            other,
        ]);
        let printed = text(&output.stdout);
        assert!(printed.starts_with(table), "{printed}");
    }
}

// ---- in time ----

#[test]
fn the_bench_of_bots_has_a_form_for_programs() {
    let output = run(&[
        "bench",
        "bots",
        "--bot",
        "greedy",
        "--bot",
        "mcts",
        "--moves",
        "3",
        "--limit-ms",
        "2",
        "--json",
    ]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&rows[0]["bot"], &rows[1]["bot"], &rows[1]["moves"]),
        (&"greedy".into(), &"mcts".into(), &3.into())
    );
    assert!(rows[1]["p50_ms"].as_f64().unwrap() > 0.0);
}
