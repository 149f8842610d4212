//! Programs that behave and programs that do not, one small script each in `tests/bots`. Whatever they do, the game
//! ends, by the fault of whom it is, and the next one is played.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fourfold_arena::entrant::{Answer, DecidedBy, Entrant, EntrantFault, GameStart, Player, Turn};
use fourfold_arena::play::{GameTerms, Played, play};
use fourfold_arena::program::Program;
use fourfold_arena::program::limits::ProcessLimits;
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::program::transcript::Transcript;
use fourfold_arena::stop::Stop;
use fourfold_arena::time::TimeControl;
use fourfold_engine::openings::Opening;
use fourfold_engine::{BySide, Side, Variant};
use serde_json::Value;

/// Plays the first legal column from the left.
struct Leftmost;

impl Player for Leftmost {
    fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let column = turn.game.position().legal_columns().next().expect("the game goes on");
        Ok(Answer { column, spent: Duration::ZERO })
    }
}

/// Long enough for a busy machine, and short where a test waits for it to pass.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(200);

/// What holds a bot's token, as everywhere.
const SECRET_VARIABLE: &str = "FOURFOLD_TOKEN";

fn bot(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bots").join(name);
    path.to_str().unwrap().to_owned()
}

/// `words` begin with the name of a script.
fn program(dialect: &str, words: &[&str], limits: ProcessLimits) -> Program {
    let mut spec = ProgramSpec { dialect: dialect.parse().unwrap(), words: vec![bot(words[0])] };
    spec.words.extend(words[1..].iter().map(|&word| word.to_owned()));
    Program::new(words.join(" "), spec, Variant::STANDARD, limits).unwrap()
}

fn patient() -> ProcessLimits {
    ProcessLimits { warm_up: LONG, ..ProcessLimits::default() }
}

fn unwarmed() -> ProcessLimits {
    ProcessLimits { warm_up: Duration::ZERO, ..ProcessLimits::default() }
}

/// The program moves first.
fn play_one(player: &mut dyn Player, limit: Duration) -> Played {
    let terms = GameTerms {
        variant: Variant::STANDARD,
        opening: &Opening::empty(),
        limits: TimeControl::per_move(limit).into(),
        margin: Duration::from_millis(50),
        seeds: BySide { first: 1, second: 2 },
    };
    play(&terms, BySide { first: player, second: &mut Leftmost }, &Stop::default()).unwrap()
}

#[track_caller]
fn check_wins(program: &Program) {
    let mut player = program.player().unwrap();
    for _ in 0..2 {
        let result = play_one(&mut *player, LONG);
        assert_eq!(
            (result.end.winner, result.end.reason),
            (Some(Side::First), DecidedBy::Four),
            "{result:?}"
        );
    }
}

#[track_caller]
fn check_loses(program: &Program, limit: Duration, reason: DecidedBy, words: &str) {
    let result = play_one(&mut *program.player().unwrap(), limit);
    assert_eq!((result.end.winner, result.end.reason), (Some(Side::Second), reason), "{result:?}");
    let fault = result.end.fault.unwrap();
    assert!(fault.contains(words), "{fault}");
}

#[test]
fn programs_of_all_dialects_play() {
    check_wins(&program("simple", &["good.sh"], patient()));
    check_wins(&program("cfour", &["cfour.sh", "d"], patient()));
    check_wins(&program("board42", &["once.sh", "print"], patient()));
    check_wins(&program("board42,order=top", &["once.sh", "write"], patient()));
    check_wins(&program("kaggle", &["says.sh", "3", "3"], patient()));
    check_wins(&program("aigames", &["says_once_a_turn.sh"], patient()));
}

#[test]
fn a_program_that_dies_loses_and_its_last_words_are_kept() {
    let reason = DecidedBy::Left;
    check_loses(&program("simple", &["dies.sh"], patient()), LONG, reason, "code 3: cannot go on");
}

#[test]
fn a_program_that_ended_between_games_is_started_again() {
    let program = program("simple", &["answers_and_exits.sh"], patient());
    let mut player = program.player().unwrap();
    for _ in 0..2 {
        // It has answered its warm-up and is gone; without one it would have a move.
        let result = play_one(&mut *player, LONG);
        assert_eq!(result.end.reason, DecidedBy::Left);
    }
}

#[test]
fn a_silent_program_loses_on_time() {
    check_loses(&program("simple", &["hangs.sh"], patient()), SHORT, DecidedBy::Time, "too late");
    check_loses(&program("simple", &["silent.sh"], unwarmed()), SHORT, DecidedBy::Time, "too late");
}

#[test]
fn faults_of_a_first_answer_are_named_as_such() {
    let start = |words: &[&str]| {
        let waited_for = ProcessLimits { warm_up: SHORT, ..ProcessLimits::default() };
        program("simple", words, waited_for).player().err().unwrap().to_string()
    };
    let silent = start(&["silent.sh"]);
    assert!(silent.contains("within 200 ms") && silent.contains("--startup-ms"), "{silent}");
    let letter = start(&["says.sh", "d", "4"]);
    assert!(letter.contains(r#"first answer, "d" is no move"#), "{letter}");
    assert!(letter.contains("a column from 1, such as 4"), "{letter}");
}

/// What is written down while somebody plays with this program.
fn transcript_of(
    dialect: &str,
    words: &[&str],
    limits: ProcessLimits,
    play: impl FnOnce(&mut dyn Player),
) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.ndjson");
    let transcript = Transcript::create(&file).unwrap().into();
    let program = program(dialect, words, limits).with_transcript(transcript);
    play(&mut *program.player().unwrap());
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn all_that_is_said_can_be_written_down() {
    let lines = transcript_of("simple", &["dies.sh"], patient(), |player| drop(play_one(player, LONG)));
    let last = lines.last().unwrap();
    assert_eq!((&lines[0]["program"], &lines[0]["question"]), (&"dies.sh".into(), &"7x6 1000 -\n".into()));
    assert!(lines[0]["answer"].as_str().unwrap().ends_with('\n') && lines[0]["ms"].is_number());
    assert!(last["fault"].as_str().unwrap().contains("code 3"), "{last}");
    assert!(last["stderr"].as_str().unwrap().contains("cannot go on"), "{last}");
}

#[test]
fn greetings_are_written_down_too() {
    let lines = transcript_of("cfour", &["cfour.sh", "d"], patient(), |player| drop(play_one(player, LONG)));
    assert_eq!(lines[0]["question"], "uci\n");
    assert!(lines[0]["answer"].as_str().unwrap().ends_with("\nuciok\n"), "{}", lines[0]);
    assert_eq!(lines[1]["answer"], "readyok\n");
}

#[test]
fn of_a_bank_a_program_is_told_a_share() {
    let terms = GameTerms {
        variant: Variant::STANDARD,
        opening: &Opening::empty(),
        limits: "60+1".parse::<TimeControl>().unwrap().into(),
        margin: Duration::ZERO,
        seeds: BySide { first: 1, second: 2 },
    };
    let lines = transcript_of("simple", &["good.sh"], unwarmed(), |player| {
        play(&terms, BySide { first: player, second: &mut Leftmost }, &Stop::default()).unwrap();
    });
    // A twentieth of a minute and three quarters of a second.
    assert_eq!(lines[0]["question"], "7x6 3750 -\n");
}

#[test]
fn a_late_answer_loses_on_time() {
    check_loses(&program("simple", &["late.sh"], patient()), SHORT, DecidedBy::Time, "too late");
}

#[test]
fn an_illegal_move_loses() {
    let program = |answer| program("simple", &["says.sh", "4", answer], patient());
    check_loses(&program("9"), LONG, DecidedBy::Illegal, "column 9 is not on a board of 7 columns");
    // The sixth 4 of the first player finds the column full, unless four of them won before.
    let filled = Opening::from_notation(Variant::STANDARD, "444444").unwrap();
    let terms = GameTerms {
        variant: Variant::STANDARD,
        opening: &filled,
        limits: TimeControl::per_move(LONG).into(),
        margin: Duration::ZERO,
        seeds: BySide { first: 1, second: 2 },
    };
    let full = program("4");
    let mut player = full.player().unwrap();
    let result =
        play(&terms, BySide { first: &mut *player, second: &mut Leftmost }, &Stop::default()).unwrap();
    assert_eq!((result.end.winner, result.end.reason), (Some(Side::Second), DecidedBy::Illegal));
}

#[test]
fn an_answer_that_says_nothing_is_no_column() {
    let reason = DecidedBy::Illegal;
    check_loses(&program("simple", &["says.sh", "4", ""], patient()), LONG, reason, "no move in the dialect");
    check_loses(&program("simple", &["says.sh", "4", "I pass"], patient()), LONG, reason, "I pass");
    check_loses(&program("kaggle", &["says.sh", "3", "None"], patient()), LONG, reason, "None");
    check_loses(&program("kaggle", &["says.sh", "3", "null"], patient()), LONG, reason, "null");
    check_loses(&program("board42", &["once.sh", "nothing"], patient()), LONG, DecidedBy::Left, "code 0");
}

#[test]
fn floods_and_endless_lines_lose_in_bounded_memory() {
    let reason = DecidedBy::Illegal;
    check_loses(&program("simple", &["long_line.sh"], patient()), LONG, reason, "a line of more than 65536");
    check_loses(&program("cfour", &["junk.sh"], patient()), LONG, reason, "more than 1048576 bytes");
    // Its warm-up finds it out.
    let fault = program("simple", &["unasked.sh"], patient()).player().err();
    assert_eq!(fault, Some(EntrantFault::Illegal("more than 1048576 bytes for one move".to_owned())));
}

#[test]
fn standard_error_holds_nobody_up() {
    check_wins(&program("simple", &["complains.sh"], patient()));
}

#[test]
fn what_cannot_be_started_is_known_before_the_first_game() {
    let absent = program("simple", &["no_such_bot"], patient());
    let fault = absent.player().err().unwrap().to_string();
    assert!(fault.contains("cannot be started"), "{fault}");
    let failing = program("simple", &["fails_at_start.sh"], patient());
    assert_eq!(
        failing.player().err(),
        Some(EntrantFault::Gone("it exited with code 1: no weights".to_owned()))
    );
}

#[test]
fn the_children_of_a_program_end_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("child");
    let program = program("simple", &["leaves_children.sh", file.to_str().unwrap()], patient());
    check_loses(&program, SHORT, DecidedBy::Time, "too late");
    let child: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    let state =
        || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_else(|_| "gone) Z".to_owned());
    // An orphan that was killed stays a zombie until its new parent looks: that is the end too.
    let has_ended = |state: &str| state.contains(") Z") || state.contains(") X");
    // It dies of the signal when it is on a processor next, which on a busy machine is not at once.
    let begin = std::time::Instant::now();
    while !has_ended(&state()) && begin.elapsed() < Duration::from_secs(30) {
        std::thread::yield_now();
    }
    assert!(has_ended(&state()), "{}", state());
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_has_its_limits_and_not_our_secrets() {
    // In a process of its own, which has a secret to keep: a running one cannot change its variables safely.
    if std::env::var_os(SECRET_VARIABLE).is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again
            .args(["--exact", "a_program_has_its_limits_and_not_our_secrets"])
            .env(SECRET_VARIABLE, "a secret");
        let output = again.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let limits = ProcessLimits { memory_mib: Some(512), cpu_s: Some(30), ..patient() };
    let program = program("simple", &["tells_limits.sh"], limits);
    let result = play_one(&mut *program.player().unwrap(), LONG);
    let fault = result.end.fault.unwrap();
    assert!(fault.contains("data 524288 cpu 3"), "{fault}"); // 30 seconds after those that it has used
    assert!(fault.contains("token none"), "{fault}");
}

#[test]
fn a_stopped_run_does_not_wait_for_a_program() {
    let program = program("simple", &["hangs.sh"], patient());
    let mut player = program.player().unwrap();
    let stop = Stop::default();
    stop.set();
    let game = fourfold_engine::Game::new(Variant::STANDARD);
    let turn = Turn {
        game: &game,
        budget: None,
        allotment: None,
        margin: Duration::ZERO,
        remaining_ms: [0, 0],
        nodes: None,
        stop: &stop,
    };
    assert_eq!(player.choose(&turn), Err(EntrantFault::Late));
}
