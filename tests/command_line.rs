//! The binary as people and scripts use it: output, exit codes, one clear line on standard error.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "command_line/classic.rs"]
mod classic;
#[path = "command_line/fair_play.rs"]
mod fair_play;
#[path = "command_line/learning.rs"]
mod learning;
#[path = "command_line/measure.rs"]
mod measure;
#[path = "command_line/mistakes.rs"]
mod mistakes;
#[path = "command_line/ntuple.rs"]
mod ntuple;
#[path = "command_line/postgres.rs"]
mod postgres;
#[path = "command_line/research.rs"]
mod research;
#[path = "command_line/serving.rs"]
mod serving;
#[path = "command_line/signals.rs"]
mod signals;
#[path = "command_line/storage.rs"]
mod storage;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// The binary without what the environment of the test may set.
fn fourfold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourfold"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FOURFOLD_") || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    fourfold(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn check_output(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    assert_eq!((text(&output.stdout), output.status.code()), (expected, Some(0)), "{}", text(&output.stderr));
}

/// One line on standard error that contains `message`, nothing on standard output.
#[track_caller]
fn check_failure(command: &mut Command, code: i32, message: &str) {
    let output = command.output().unwrap();
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(line.starts_with("fourfold: ") && line.lines().count() == 1 && line.contains(message), "{line}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[track_caller]
fn check_refused(arguments: &[&str], code: i32, message: &str) {
    check_failure(&mut fourfold(arguments), code, message);
}

/// What the parser of the command line refuses: it shows the usage too.
#[track_caller]
fn check_usage(arguments: &[&str], message: &str) {
    let output = run(arguments);
    let error = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{error}");
    assert!(error.contains(message), "{error}");
}

// ---- single moves and games in the terminal ----

#[test]
fn one_move_is_one_line() {
    // Columns 3 and 6 both make an open three; of equal moves the last one is played.
    check_output(&["move", "--bot", "negamax:depth=4", "4455"], "Move 6\n");
    let output = run(&["move", "--bot", "random:seed=7", "-"]);
    assert!(text(&output.stdout).starts_with("Move "));
}

#[test]
fn a_board_of_42_characters_is_answered_in_the_file_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("Move.txt");
    // Own stones on columns 1 to 3: the fourth wins.
    check_output(
        &["move", "--bot", "negamax:depth=2", "--board42", "YYY RR", "--out", file.to_str().unwrap()],
        "Move 4\n",
    );
    assert_eq!(fs::read_to_string(file).unwrap(), "Move 4\n");
    let top_first = format!("{:35}{}", "", "YYY RR");
    check_output(
        &["move", "--bot", "negamax:depth=2", "--board42", &top_first, "--order", "top"],
        "Move 4\n",
    );
}

#[test]
fn wrong_positions_and_bots_are_wrong_use() {
    for (rest, message) in [
        (&["8"][..], "move 1 is illegal"),
        (&["44x"], "move 3 is `x`"),
        (&["1212121"], "over after move 7"),
        (&["--board42", "RRRR"], "the game is over"),
        (&["--board42", "       Y"], "nothing below it"),
        (&["--board42", &"x".repeat(43)], "43 characters"),
    ] {
        check_failure(fourfold(&["move", "--bot", "random"]).args(rest), 2, message);
    }
    check_refused(&["move", "--bot", "randon"], 2, "did you mean `random`?");
    check_refused(&["move", "--bot", "negamax:depth=0"], 2, "depth cannot be `0`");
    check_refused(&["move", "--bot", "random", "--out", "/no/such/dir/Move.txt"], 74, "cannot write");
}

#[test]
fn wrong_flags_get_a_usage_line_and_a_suggestion() {
    for arguments in
        [&["serve", "--lisen", "x"][..], &["mvoe"], &["move"], &["play", "--port", "x"], &["bench"]]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("sage"), "{arguments:?}: {}", text(&output.stderr));
    }
    assert!(text(&run(&["mvoe"]).stderr).contains("'move'"));
    assert!(text(&run(&["serve", "--lisen", "x"]).stderr).contains("'--listen'"));
}

#[test]
fn flags_that_there_are_not_and_broken_files_are_no_success() {
    let output = run(&["solve", "--foo"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    check_refused(
        &["classic", "c4ai", "-p1", "C4AI", "-p2", "StupidAI"],
        2,
        "C4AI is followed by a weights file, or -d says",
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.ndjson");
    for broken in ["nonsense\n", "{}\nnonsense\n{}\n"] {
        fs::write(&path, broken).unwrap();
        check_refused(&["puzzles", path.to_str().unwrap()], 65, "not a record");
    }
    fs::write(&path, "{}\n{\"torn").unwrap();
    assert_eq!(run(&["puzzles", path.to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn puzzles_that_bots_grade_again_stay_as_they_ship() {
    let shipped = include_str!("../src/study/puzzles/shipped.txt");
    let puzzles = shipped.lines().filter(|line| !line.starts_with('#')).step_by(900);
    let lines: Vec<&str> = ["# a comment"].into_iter().chain(puzzles).collect();
    let file = lines.join("\n") + "\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("puzzles.txt");
    fs::write(&path, &file).unwrap();
    let output = run(&["puzzles", "--grade", path.to_str().unwrap(), "--seed", "1", "--threads", "2"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), file.as_str()));
    let figures = text(&output.stderr);
    for figure in ["by the grades", "random ", "ntuple ", "only defence", "plies of the win"] {
        assert!(figures.contains(figure), "{figure}: {figures}");
    }
    fs::write(&path, "# a comment\nwin 1 2 44\n").unwrap();
    check_refused(&["puzzles", "--grade", path.to_str().unwrap()], 65, "line 2: not a puzzle");
    check_usage(&["puzzles", "x", "--seed", "7"], "--grade");
}

#[test]
fn a_game_can_be_played_through_a_pipe() {
    let mut child = fourfold(&["play", "--second", "greedy"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"4\n9\nu\n3\nq\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = text(&output.stdout);
    assert!(output.status.success());
    assert!(printed.contains("`9` is not on the board") || printed.contains("column 9"), "{printed}");
    assert!(printed.contains("left unfinished; go on with --moves 3"), "{printed}");
}

#[test]
fn two_bots_play_to_the_end() {
    let output = run(&["play", "--first", "greedy", "--second", "negamax:depth=2"]);
    let printed = text(&output.stdout);
    assert!(printed.contains(" wins with ") || printed.contains("draw"), "{printed}");
    assert!(printed.lines().last().unwrap().starts_with("moves: "));
}

#[test]
fn solving_ends_with_bounds_when_its_limits_run_out() {
    for limit in [["--nodes", "5000"], ["--time", "50ms"]] {
        let output = run(&["solve", "--variant", "9x6x5", limit[0], limit[1], "5", "5a"]);
        let printed = text(&output.stdout);
        let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split(' ').collect()).collect();
        assert_eq!((lines.len(), lines[0][0], lines[0][1], lines[0][3]), (2, "5", ">=", "<="), "{printed}");
        let [lower, upper] = [2, 4].map(|word: usize| lines[0][word].parse::<i32>().unwrap());
        assert!(lower < upper, "{printed}");
        assert_eq!(lines[1][1], "error:", "{printed}");
    }
    for (wrong, message) in
        [("--nodes=0", "0 is not in 1.."), ("--time=0", "more than 0"), ("--time=x", "500ms")]
    {
        check_usage(&["solve", wrong, "4"], message);
    }
}

#[test]
fn boards_that_cannot_be_played_are_solved() {
    // Three in a row, open to both sides: the fourth stone of 32, or of 48, wins. The time differs from run to run.
    let solved = |arguments: &[&str]| {
        let output = run(&[&["solve"], arguments].concat());
        let lines: Vec<String> = text(&output.stdout)
            .lines()
            .map(|line| line.rsplit_once(' ').map_or(line, |(answer, _)| answer).to_owned())
            .collect();
        (lines, output.status.code())
    };
    let one = |line: &str| (vec![line.to_owned()], Some(0));
    assert_eq!(solved(&["--variant", "8x8", "384858"]), one("384858 29 0"));
    assert_eq!(solved(&["--variant", "12x8", "--weak", "ccbcac"]), one("ccbcac 1 0"));
    assert_eq!(solved(&["--variant", "8x8", "--shard", "2/2", "1212121", "384858"]), one("384858 29 0"));
    let (lines, _) = solved(&["--variant", "8x8", "--columns", NEARLY_FULL]);
    let scores = lines[0].rsplit_once(' ').unwrap().0; // without the nodes
    assert_eq!(scores, format!("{NEARLY_FULL} 1 3 . . . . 1 ."));
    let (lines, _) = solved(&["--variant", "10x8", "--nodes", "2000", "--threads", "2", "5", "5b"]);
    assert!(
        lines[0].starts_with("5 >= -") && lines[0].contains(" <= ") && lines[0].ends_with(" 2000"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("5b error: move 2 is illegal: column 11 is not on a board"), "{lines:?}");
    let mut command = fourfold(&["solve", "--variant", "8x8", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"384858\n111111111\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = text(&output.stdout);
    assert!(
        printed.starts_with("384858 29 0 ") && printed.contains("\n111111111 error: move 9"),
        "{printed}"
    );
}

/// A game on 8x8 in which five cells are left. The scores are those of a plain minimax in another language.
const NEARLY_FULL: &str = "38646478337386863358428486185366256352124451571557447712117";

#[test]
fn boards_that_cannot_be_solved_or_played_are_refused() {
    let solvable = "board is too large to solve: at most 12 columns, 15 rows and 96 cells";
    for variant in ["20x20", "13x4", "12x9", "4x16"] {
        check_usage(&["solve", "--variant", variant, "4"], &format!("a {variant} {solvable}"));
    }
    check_usage(
        &["solve", "--variant", "8x8x9", "4"],
        "lines of 9 are not allowed on this board: 3 to 8 are",
    );
    check_usage(&["solve", "--variant", "8by8", "4"], "`8by8` is not a board size such as 7x6 or 9x6x5");
    for command in ["play", "match", "review"] {
        let playable = "a 8x8 board is too large: width x (height + 1) is at most 64";
        check_usage(&[command, "--variant", "8x8"], playable);
    }
}

#[test]
fn parts_of_positions_make_the_whole() {
    let positions: Vec<String> = (1..=7).flat_map(|a| (1..=7).map(move |b| format!("44{a}{b}"))).collect();
    // The time differs from run to run; the nodes are 0, as the book knows.
    let solved = |part: &[&str]| -> Vec<String> {
        let output = fourfold(&["solve"]).args(part).args(&positions).output().unwrap();
        let lines = text(&output.stdout);
        lines.lines().map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    let parts = ["1/4", "2/4", "3/4", "4/4"].map(|part| solved(&["--shard", part]));
    assert!(parts.iter().all(|part| part.len() >= 12), "{parts:?}");
    assert_eq!(parts.concat(), solved(&[]));
    for wrong in ["0/4", "5/4", "4", "1/0", "a/b", "1/99999999"] {
        check_usage(&["solve", "--shard", wrong, "4"], "no part such as 3/8");
    }
}

#[test]
fn a_move_has_a_form_for_programs() {
    let report = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&run(&[&["move", "--json", "--bot"], arguments].concat()).stdout).unwrap()
    };
    // The first side has three in a column, and is to move; then three in a row, which has two ends.
    let won = report(&["cutoff", "121213"]);
    assert_eq!((&won["column"], &won["line"], &won["score"]), (&1.into(), &"1".into(), &1_000_000.into()));
    let lost_in_two = report(&["cutoff", "44553"]);
    assert!(lost_in_two["line"].as_str().unwrap().len() >= 2, "{lost_in_two}");
    let thoughtless = report(&["random", "44"]);
    assert!(thoughtless["score"].is_null() && thoughtless["line"].is_null(), "{thoughtless}");
    assert!(thoughtless.get("reasons").is_none());
    assert!(report(&["greedy", "--why", "44"])["reasons"].is_array());
}

#[test]
fn bots_draw_anew_in_each_game_and_again_as_before_with_its_seed() {
    let game = |arguments: &[&str]| {
        let bots = ["play", "--first", "random", "--second", "random"];
        let output = fourfold(&bots).args(arguments).output().unwrap();
        let moves = text(&output.stdout).lines().last().unwrap().to_owned();
        (moves, text(&output.stderr).to_owned())
    };
    let (moves, told) = game(&[]);
    let seed = told.split_once("--seed ").and_then(|(_, rest)| rest.split(' ').next()).unwrap().to_owned();
    assert_eq!(game(&["--seed", &seed]).0, moves);
    assert!((0..5).any(|_| game(&[]).0 != moves), "{moves}");
    let output = run(&["play", "--first", "greedy", "--second", "random:seed=7"]);
    assert_eq!(text(&output.stderr), "", "nobody draws that has no seed");
}

#[test]
fn lists_have_a_form_for_programs() {
    let bots: serde_json::Value = serde_json::from_slice(&run(&["bots", "--json"]).stdout).unwrap();
    assert!(bots.as_array().unwrap().iter().any(|bot| bot["name"] == "negamax"));
    let bench = run(&["bench", "playouts", "--games", "1000", "--json"]);
    let figures: serde_json::Value = serde_json::from_slice(&bench.stdout).unwrap();
    assert_eq!(figures["games"], 1000);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = fourfold(&["man"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn completions_and_manual_know_all_commands() {
    let completions = run(&["completions", "bash"]);
    let manual = run(&["man"]);
    for command in ["serve", "play", "move", "bots", "account", "bot", "games", "bench", "load"] {
        assert!(text(&completions.stdout).contains(&format!("fourfold,{command})")), "{command}");
        assert!(text(&manual.stdout).contains(&format!("fourfold\\-{command}")), "{command}");
    }
}

// ---- the daemon ----

/// A daemon on a free port and fresh data.
struct Daemon {
    directory: TempDir,
    process: Child,
    url: String,
    output: BufReader<std::process::ChildStdout>,
}

impl Daemon {
    fn start() -> Self {
        Self::start_with(&[("FOURFOLD_LEARNING_ENABLED", "false")])
    }

    /// With more in its environment.
    fn start_with(environment: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &[], environment)
    }

    /// In a directory that may have been used before, with more arguments.
    fn start_in(directory: TempDir, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut process = fourfold(&["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .arg("--data")
            .arg(directory.path().join("data"))
            .env("FOURFOLD_METRICS_ENABLED", "false")
            .env("FOURFOLD_LADDER_ENABLED", "false")
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Self { directory, process, url, output }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fourfold(arguments);
        command.arg("--data").arg(self.data());
        command
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.process.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// `kill -9`; what it leaves is the caller's.
    fn kill(mut self) -> TempDir {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap())
    }

    /// Waits for the end; gives exit code, the rest of standard output, and standard error.
    fn wait(mut self) -> (Option<i32>, String, String) {
        let status = self.process.wait().unwrap();
        let (mut rest, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (status.code(), rest, errors)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}

/// Writes settings to a file; the directory must live as long as it is used.
fn settings(text: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.toml");
    fs::write(&path, text).unwrap();
    (directory, path)
}

#[track_caller]
fn check_settings(text: &[u8], message: &str) {
    let (_directory, path) = settings(text);
    check_refused(&["serve", "--config", path.to_str().unwrap()], 2, message);
}

#[test]
fn wrong_settings_end_the_start_with_place_and_key() {
    check_settings(
        b"[server]\nlisen = 1\n",
        "x.toml:2: server.lisen: there is no such key, did you mean `listen`?",
    );
    check_settings(b"[server]\nlisten = \"127.0.0.1:70000\"\n", "x.toml:2: server.listen: port `70000`");
    check_settings(b"[server]\nlisten = \"a:1\"\nlisten = \"b:1\"\n", "x.toml:3: ");
    check_settings(b"hello", "x.toml:1: ");
    check_settings(b"\xff", "x.toml: not UTF-8");
    check_settings(b"[metrics]\nlisten = \"0.0.0.0:9\"\n", "metrics.enabled and metrics.listen");
    check_refused(&["serve", "--config", "/no/such.toml"], 2, "/no/such.toml: cannot be read");
    check_failure(fourfold(&["serve"]).env("FOURFOLD_HEARTBEAT_MS", "soon"), 2, "FOURFOLD_HEARTBEAT_MS");
    check_failure(fourfold(&["serve"]).env("RUST_LOG", "lots"), 2, "RUST_LOG");
}

#[test]
fn what_the_system_refuses_has_codes_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |listen: &str, data: &Path| {
        let mut command = fourfold(&["serve", "--log", "off", "--listen", listen]);
        command.arg("--data").arg(data).env("FOURFOLD_METRICS_ENABLED", "false");
        command
    };
    check_failure(&mut serve(&address, &data), 71, &format!("cannot listen on {address}"));
    check_failure(&mut serve("127.0.0.1:0", &data.join("no/parent")), 73, "cannot create");
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    check_failure(&mut serve("127.0.0.1:0", &file), 66, "not a directory");
    fs::write(
        data.join("fourfold.db"),
        "not a database, though it is long enough to have a header".repeat(9),
    )
    .unwrap();
    check_failure(&mut serve("127.0.0.1:0", &data), 65, "not a Fourfold database");
    check_refused(&["games", "verify", "--data", "/no/such/dir"], 66, "there is no database");
}

#[test]
fn a_second_daemon_names_the_first() {
    let daemon = Daemon::start();
    let message = format!("process {}", daemon.process.id());
    check_failure(&mut daemon.command(&["serve", "--log", "off", "--listen", "127.0.0.1:0"]), 75, &message);
}

/// Does the same with and without a daemon.
#[track_caller]
fn check_operator(command: &dyn Fn(&[&str]) -> Command) {
    let mut create = command(&["account", "create", "ada", "--json"]);
    let created = create.env("FOURFOLD_PASSWORD", "tea and biscuits").output().unwrap();
    let created: serde_json::Value = serde_json::from_slice(&created.stdout).unwrap();
    assert_eq!(created["name"], "ada");

    let mut again = command(&["account", "create", "ADA"]);
    check_failure(again.env("FOURFOLD_PASSWORD", "tea and biscuits"), 1, "taken");
    check_failure(&mut command(&["account", "create", "bob"]), 2, "no password");
    check_failure(&mut command(&["bot", "create", "six", "--owner", "eve"]), 1, "no account `eve`");

    let bot = command(&["bot", "create", "six", "--owner", "ada"]).output().unwrap();
    let token = text(&bot.stdout).lines().last().unwrap().strip_prefix("token: c4b_");
    assert!(token.is_some(), "{}", text(&bot.stdout));
    let another = command(&["bot", "token", "six", "--json"]).output().unwrap();
    let another: serde_json::Value = serde_json::from_slice(&another.stdout).unwrap();
    assert!(another["token"].as_str().unwrap().starts_with("c4b_"));
    let revoked = command(&["bot", "token", "six", "--revoke"]).output().unwrap();
    assert_eq!(text(&revoked.stdout), "six: 2 tokens revoked\n");
    check_failure(&mut command(&["bot", "token", "ada"]), 1, "is no bot");

    let bots = command(&["bots"]).output().unwrap();
    assert!(bots.status.success() && text(&bots.stdout).contains("negamax"), "{}", text(&bots.stderr));
    let verified = command(&["games", "verify"]).output().unwrap();
    assert!(verified.status.success() && text(&verified.stdout).contains("everything agrees"));
    check_class(command);
    let void = ["admin", "void", "nothing", "--reason"];
    check_failure(&mut command(&[&void[..], &["a test"]].concat()), 1, "there is no finished game nothing");
    check_failure(&mut command(&[&void[..], &[" "]].concat()), 2, "a reason is needed");
    let all_of = ["admin", "void", "--reason", "a test", "--player"];
    let voided = command(&[&all_of[..], &["six"]].concat()).output().unwrap();
    assert_eq!(text(&voided.stdout), "six: 0 games voided, no rating moved\n");
    check_failure(&mut command(&[&all_of[..], &["nobody"]].concat()), 1, "no player `nobody`");
    let game_too = command(&[&all_of[..], &["six", "7kQ2mXy9Ab"]].concat()).output().unwrap();
    assert_eq!(game_too.status.code(), Some(2), "{}", text(&game_too.stderr));
    let admin = |arguments: &[&str]| {
        let output = command(&[&["admin"], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let because = ["--reason", "it was rude", "--by", "grace"];
    let banned = admin(&[&["ban", "six", "--days", "7"][..], &because].concat());
    assert!(banned.starts_with("six is banned until 2"), "{banned}");
    assert!(admin(&["list", "bots"]).contains(", of ada, banned until 2"), "{}", admin(&["list", "bots"]));
    assert_eq!(admin(&[&["unban", "six"][..], &because].concat()), "six may come in again\n");
    let renamed = admin(&[&["rename", "six", "seven"][..], &because].concat());
    assert_eq!(renamed, "six is seven from now on\n");
    let reset = admin(&[&["reset-password", "ada"][..], &because].concat());
    assert!(reset.lines().last().unwrap().starts_with("password: "), "{reset}");
    assert_eq!(admin(&["sessions", "ada", "--end", "--reason", "stolen"]), "ada: 0 ended\n");
    let log = admin(&["log", "--limit", "5"]);
    assert!(
        log.lines().count() == 5 && log.contains("rename seven from six to seven: it was rude (grace)"),
        "{log}"
    );
    check_failure(&mut command(&["admin", "ban", "nobody", "--reason", "rude"]), 1, "no player `nobody`");
    check_orders(&admin, &because);
    check_failure(&mut command(&["admin", "ban", "10.0.0.0/99", "--reason", "x"]), 2, "is not an IP address");
    let unexplained = command(&["admin", "sessions", "ada", "--end"]).output().unwrap();
    let explained = text(&unexplained.stderr).contains("--reason <TEXT>");
    assert_eq!((unexplained.status.code(), explained), (Some(2), true), "{}", text(&unexplained.stderr));
    let exported = command(&["games", "export", "--format", "csv"]).output().unwrap();
    assert!(text(&exported.stdout).starts_with("id,") && text(&exported.stdout).lines().count() == 1);
}

/// Accounts of a whole list.
fn check_class(command: &dyn Fn(&[&str]) -> Command) {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (list, slips) = (file("class.csv"), file("slips.html"));
    std::fs::write(&list, "name,class\nfinn,7b\nADA,7b\nlily,7b\n").unwrap();
    let create = ["account", "create-many", &list, "--slips", &slips, "--site", "http://10.0.0.5:4444"];
    let made = command(&create).output().unwrap();
    assert_eq!(made.status.code(), Some(1), "{}", text(&made.stderr));
    let errors = text(&made.stderr);
    assert!(errors.contains("ADA: ") && errors.contains("1 of 3 accounts were not made"), "{errors}");
    let lines: Vec<&str> = text(&made.stdout).lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "name,password"), "{lines:?}");
    let page = std::fs::read_to_string(&slips).unwrap();
    for (line, name) in lines[1..].iter().zip(["finn", "lily"]) {
        let password = line.strip_prefix(&format!("{name},")).unwrap();
        assert!(page.contains(&format!("<b>{name}</b></p><p><code>{password}</code>")), "{page}");
    }
    check_failure(&mut command(&create), 2, "is there already");
    std::fs::write(&list, "oscar\n\nx y\n").unwrap();
    check_failure(&mut command(&["account", "create-many", &list]), 2, "class.csv:3: ");
    check_failure(&mut command(&["account", "create-many", &file("gone.csv")]), 66, "gone.csv");
    std::fs::write(&list, "oscar\n").unwrap();
    let told = command(&["account", "create-many", &list, "--json"]).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&told[0]["name"], told[0]["password"].is_string()), (&"oscar".into(), true), "{told}");
}

/// The same once more, with its sum beside it as `sha256sum --check` reads it.
fn check_checksum(daemon: &Daemon, exported: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games.ndjson");
    let out = ["games", "export", "--checksum", "--out", path.to_str().unwrap()];
    assert!(daemon.command(&out).status().unwrap().success());
    assert_eq!(fs::read(&path).unwrap(), exported);
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "games.ndjson.sha256"]).current_dir(dir.path());
    let checked = check.output().unwrap();
    assert_eq!(text(&checked.stdout), "games.ndjson: OK\n", "{}", text(&checked.stderr));
    let said = daemon.command(&["games", "export", "--checksum", "--format", "compact"]).output().unwrap();
    assert!(text(&said.stderr).ends_with("  -\n") && said.stdout.len() * 2 < exported.len(), "{said:?}");
}

/// Orders for the whole arena.
fn check_orders(admin: &dyn Fn(&[&str]) -> String, because: &[&str]) {
    let order = |words: &[&str]| admin(&[words, because].concat());
    assert!(order(&["mute", "seven", "--days", "2"]).starts_with("seven is muted until 2"));
    assert_eq!(order(&["unmute", "seven"]), "seven may ask others again\n");
    assert!(
        order(&["ban", "203.0.113.0/24"]).starts_with("203.0.113.0/24 is banned until `fourfold admin unban")
    );
    assert!(admin(&["list", "networks"]).contains(": it was rude (grace)"));
    assert_eq!(order(&["unban", "203.0.113.0/24"]), "whoever comes from 203.0.113.0/24 may come in again\n");
    let invited = order(&["invite", "--code", "class-7b", "--uses", "30", "--days", "7"]);
    assert!(invited.starts_with("CLASS-7B: lets 30 people register until 2"), "{invited}");
    assert!(admin(&["list", "invitations"]).starts_with("CLASS-7B, 0 of 30 used, since 2"));
    assert_eq!(order(&["uninvite", "class-7b"]), "nobody registers by CLASS-7B any more; 0 of 30 have\n");
    assert_eq!(order(&["announce", "we move"]), "every page says: we move\n");
    assert_eq!(order(&["announce", ""]), "pages say nothing of their own\n");
    assert!(order(&["pause"]).starts_with("no game begins until `fourfold admin resume`"));
    assert_eq!(order(&["resume"]), "games begin again\n");
    assert_eq!(order(&["delete", "seven"]), "seven is deleted; the games stay, without the name\n");
}

#[test]
fn a_daemon_that_drains_leaves_by_itself_and_complains_of_nothing() {
    let daemon = Daemon::start();
    let drain = ["admin", "drain", "--seconds", "20", "--reason", "a new version"];
    let told = daemon.command(&drain).output().unwrap();
    let said = text(&told.stdout);
    assert!(said.starts_with("the daemon stops when its games are over"), "{said}{}", text(&told.stderr));
    let (status, _, log) = daemon.wait();
    assert_eq!(status, Some(0), "{log}");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn the_operator_needs_no_daemon() {
    let directory = tempfile::tempdir().unwrap();
    check_operator(&|arguments| {
        let mut command = fourfold(arguments);
        command.arg("--data").arg(directory.path().join("data"));
        command
    });
    let mode = fs::metadata(directory.path().join("data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn the_operator_reaches_a_running_daemon() {
    let daemon = Daemon::start();
    check_operator(&|arguments| daemon.command(arguments));
}

#[test]
fn the_password_may_come_from_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut child =
        fourfold(&["account", "create", "ada", "--password-stdin", "--data", data.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
    child.stdin.take().unwrap().write_all(b"tea and biscuits\n").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

/// What one arena exported comes into another once, and nothing of a file that is broken.
fn check_import(exported: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let (whole, broken) = (directory.path().join("games.ndjson"), directory.path().join("broken.ndjson"));
    fs::write(&whole, exported).unwrap();
    fs::write(&broken, [exported, b"{}\n"].concat()).unwrap();
    let import = |file: &Path| {
        let mut command = fourfold(&["games", "import"]);
        command.arg(file).arg("--data").arg(directory.path().join("other"));
        command
    };
    check_failure(&mut import(&broken), 65, "broken.ndjson: line 8");
    check_failure(&mut import(&directory.path().join("none")), 66, "cannot read");
    let imported = import(&whole).output().unwrap();
    assert_eq!(text(&imported.stdout), "games imported: 7, there already: 0\n", "{}", text(&imported.stderr));
    assert_eq!(text(&import(&whole).output().unwrap().stdout), "games imported: 0, there already: 7\n");
    let mut verify = fourfold(&["games", "verify", "--data"]);
    let verified = verify.arg(directory.path().join("other")).output().unwrap();
    assert!(text(&verified.stdout).contains("everything agrees"), "{}", text(&verified.stdout));

    let daemon = Daemon::start();
    let said = |arguments: &[&str]| {
        let output = daemon.command(arguments).output().unwrap();
        (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    let import = ["games", "import", whole.to_str().unwrap()];
    for imported in ["games imported: 7, there already: 0\n", "games imported: 0, there already: 7\n"] {
        assert_eq!(said(&import), (imported.to_owned(), String::new()), "a daemon runs");
    }
    let (verified, _) = said(&["games", "verify"]);
    assert!(verified.contains("everything agrees"), "{verified}");
}

#[test]
fn load_plays_the_games_it_was_asked_for() {
    let daemon = Daemon::start();
    let output = run(&[
        "load",
        "--url",
        &daemon.url,
        "--games",
        "7",
        "--connections",
        "4",
        "--spectators",
        "1",
        "--json",
    ]);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_eq!(report["games"], 7);
    assert!(report["moves"].as_u64().unwrap() >= 7 * 7);
    assert_eq!(report["errors"], serde_json::json!({}));
    let exported = daemon.command(&["games", "export"]).output().unwrap();
    assert_eq!(text(&exported.stdout).lines().count(), 7);
    check_checksum(&daemon, &exported.stdout);
    check_import(&exported.stdout);
    let status = daemon.command(&["admin", "status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["games"], &status["online"]), (&0.into(), &0.into()));
    check_failure(&mut daemon.command(&["games", "import", "Cargo.toml"]), 65, "Cargo.toml: line 1");
    check_refused(&["load", "--url", "http://127.0.0.1:1"], 69, "http://127.0.0.1:1");
    check_refused(&["load", "--url", "nonsense"], 2, "not the address of a server");
}

#[test]
fn load_against_a_bot_of_the_house_is_played_by_each_player_alone() {
    let daemon = Daemon::start();
    let against = |bot: &str| {
        let load =
            ["load", "--url", &daemon.url, "--games", "2", "--connections", "2", "--json", "--against"];
        let mut command = fourfold(&load);
        command.arg(bot);
        command
    };
    let output = against("random").output().unwrap();
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_eq!((&report["games"], &report["errors"]), (&2.into(), &serde_json::json!({})), "{report}");
    let exported = daemon.command(&["games", "export"]).output().unwrap();
    let with_the_bot = text(&exported.stdout).lines().filter(|line| line.contains("\"random\"")).count();
    assert_eq!(with_the_bot, 2, "{}", text(&exported.stdout));
    check_failure(&mut against("nobody-here"), 1, "nobody is called nobody-here");
}

// ---- the n-tuple network ----

#[test]
fn a_network_that_was_trained_in_two_runs_is_the_one_of_a_single_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let train = |games: &str, out: &str| {
        let arguments = ["train", "ntuple", "--tuples", "5", "--threads", "1", "--probe-games", "0"];
        let output = run(&[&arguments[..], &["--games", games, "--out", out]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let (whole, parts) = (file("whole.bin"), file("parts.bin"));
    train("3000", &whole);
    train("1000", &parts);
    train("3000", &parts);
    assert!(fs::read(&whole).unwrap() == fs::read(&parts).unwrap(), "equal to the byte");
    check_output(&["move", "--bot", &format!("ntuple:plies=1,file={whole}"), "121213"], "Move 1\n");
    check_output(&["move", "--bot", "ntuple:plies=0", "-"], "Move 4\n");
    let learnt = format!("ntuple:plies=0,file={whole}");
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = run(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let played = json(&["match", &learnt, "stupid", "--games", "20", "--seed", "1", "--json"]);
    assert!(played["wins"].as_u64().unwrap() > 10, "3,000 games teach more than nothing: {played}");
    let measured = json(&["measure", &learnt, "--positions", "20", "--games", "1", "--json"]);
    assert!(measured["good"].as_f64().unwrap() > 0.5, "{measured}");
    fs::write(&parts, "no network").unwrap();
    let broken = format!("ntuple:file={parts}");
    for arguments in [
        &["move", "--bot", &broken, "44"][..],
        &["match", &broken, "random", "--games", "2"],
        &["measure", &broken, "--positions", "1"],
    ] {
        check_refused(arguments, 65, "not an n-tuple network");
    }
}
