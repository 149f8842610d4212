//! What goes wrong by whose fault: files that are not there or no text, options that would do nothing, names that are
//! nobody's.

use std::fs;
use std::path::Path;

use super::{Daemon, check_failure, check_refused, check_usage, fourfold, run, text};

/// A path below a directory, as text.
fn below(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().unwrap().to_owned()
}

/// A file with this content.
fn file(directory: &Path, name: &str, content: &[u8]) -> String {
    let path = below(directory, name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn an_input_that_is_not_there_or_a_directory_is_66() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, out) = (directory.path().to_str().unwrap(), below(directory.path(), "out"));
    for arguments in [
        &["train", "memory", "--from", "nosuch"][..],
        &["review", "nosuch.ndjson"],
        &["book", "verify", "nosuch"],
        &["book", "join", "nosuch", "--out", &out],
        &["log", "nosuch.ndjson"],
        &["measure", "--join", "nosuch"],
        &["match", "random", "random", "--openings", "nosuch"],
        &["rate", "nosuch"],
        &["puzzles", "nosuch"],
    ] {
        let said = text(&run(arguments).stderr).to_owned();
        assert!(said.contains("No such file"), "{arguments:?}: {said}");
        check_refused(arguments, 66, "nosuch");
    }
    for arguments in [
        &["rate", folder][..],
        &["report", folder],
        &["dataset", "--exclude", folder],
        &["puzzles", folder],
        &["log", folder],
        &["book", "verify", folder],
    ] {
        check_refused(arguments, 66, "directory");
    }
}

#[test]
fn an_input_that_makes_no_sense_is_65() {
    let directory = tempfile::tempdir().unwrap();
    let malformed = file(directory.path(), "malformed", b"no checkpoint\n");
    let no_text = file(directory.path(), "no-text", b"\xff\xfe\n");
    let out = below(directory.path(), "out");
    check_refused(&["book", "join", &malformed, "--out", &out], 65, "line 1: moves and score");
    check_refused(&["book", "join", &no_text, "--out", &out], 65, "utf-8");
    check_refused(&["puzzles", &no_text], 65, "UTF-8");
    check_refused(&["puzzles", "--grade", &no_text], 65, "UTF-8");
    check_refused(&["measure", "--join", &no_text], 65, "UTF-8");
    check_refused(&["dataset", "--exclude", &no_text], 65, "UTF-8");
    check_refused(
        &["match", "random", "random", "--openings", "/dev/zero"],
        65,
        "longer than 67108864 bytes",
    );
    check_refused(&["cluster", "status", "--storage-url", "foo"], 2, "storage.url");
}

#[test]
fn what_would_do_nothing_is_refused() {
    for option in [
        &["--seed", "2"][..],
        &["--positions", "9"],
        &["--solved"],
        &["--classes"],
        &["--ladder"],
        &["--games", "2"],
    ] {
        check_usage(&[&["measure", "--join", "1.part"][..], option].concat(), "cannot be used with");
    }
    for format in ["round-robin", "knockout", "gauntlet", "ladder"] {
        let rounds = ["tournament", "--format", format, "random", "greedy", "--rounds", "3"];
        check_refused(&rounds, 2, "--rounds: only a Swiss tournament");
    }
    for format in ["round-robin", "knockout", "swiss", "ladder"] {
        let seeds = ["tournament", "--format", format, "random", "greedy", "--seeds", "1"];
        check_refused(&seeds, 2, "--seeds: only a gauntlet");
    }
    check_usage(&["rate", "--matrix", "--format", "latex", "x"], "--matrix");
    check_usage(&["rate", "--matrix", "x"], "--json");
    check_refused(&["solve", "4", "-"], 2, "`-`, for lines from standard input, stands alone");
    for depth in ["2", "7", "12", "x"] {
        let openings = format!("balanced:{depth}");
        let arguments = ["match", "random", "random", "--openings", &openings];
        check_refused(&arguments, 2, "there are balanced:4, balanced:6, balanced:8 and balanced:10");
    }
    check_usage(&["match", "random", "random", "--concurrency", "0"], "a whole number from 1 to 4096");
    let games = ["match", "random", "random", "--games", "99999999999999999999"];
    check_usage(&games, "an even number from 2 to 1000000000000");
    check_refused(&["move", "--bot", "random", "4x"], 2, "`x`, not a column from 1 to 7");
}

#[test]
fn a_dataset_writes_over_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let there = file(directory.path(), "there", b"hours of work\n");
    let new = below(directory.path(), "new");
    let small = ["dataset", "--positions", "2", "--plies", "30"];
    for rest in [&["--out", &there][..], &["--out", &new, "--sheet", &there]] {
        check_refused(&[&small[..], rest].concat(), 2, "is there already, name a new file");
    }
    assert_eq!(fs::read_to_string(&there).unwrap(), "hours of work\n");
    assert!(!Path::new(&new).exists(), "nothing was begun");
}

#[test]
fn an_export_that_fails_leaves_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let out = file(directory.path(), "games.ndjson", b"of yesterday\n");
    let data = below(directory.path(), "data");
    let digits = file(directory.path(), "games.txt", b"1212121\n44 1-0\n");
    let imported = run(&["games", "import", &digits, "--data", &data]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let export = ["games", "export", "--data", &data, "--out", &out];
    let nobody = [&export[..], &["--player", "nobody"]].concat();
    assert!(!run(&nobody).status.success());
    assert_eq!(fs::read_to_string(&out).unwrap(), "of yesterday\n");
    assert!(run(&export).status.success());
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 2);
    let files = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 3, "games.ndjson, games.txt and data: no draft");
}

/// The house that a daemon finds in a directory into which games of its bots have come before it was ever served.
#[test]
fn games_that_come_first_leave_the_house_its_bots() {
    let directory = tempfile::tempdir().unwrap();
    let log = below(directory.path(), "match.ndjson");
    let played = run(&["match", "random", "negamax:depth=2", "--games", "4", "--seed", "6", "--save", &log]);
    assert!(played.status.success(), "{}", text(&played.stderr));
    let data = below(directory.path(), "data");
    let import = ["games", "import", &log, "--data", &data];
    let nobody = [&import[..], &["--player", "nosuch=foo"]].concat();
    check_refused(&nobody, 2, "no entrant `nosuch`; the file has negamax:depth=2, random");
    let renamed = [&import[..], &["--player", "negamax:depth=2=four"]].concat();
    let output = run(&renamed);
    assert_eq!(text(&output.stdout), "games imported: 4, there already: 0\n", "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "negamax:depth=2 comes in as four\n");
    let output = run(&renamed);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("games imported: 0, there already: 4\n", ""));
    let daemon = Daemon::start_in(directory, &[], &[]);
    check_failure(&mut daemon.command(&["admin", "fair-play", "--player", "nosuch"]), 1, "no such player");
    daemon.signal("-TERM");
    let (code, _, errors) = daemon.wait();
    assert_eq!(code, Some(0), "{errors}");
    assert!(!errors.contains("belongs to a player"), "{errors}");
}

#[test]
fn formats_that_no_import_reads_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let data = below(directory.path(), "data");
    let digits = file(directory.path(), "games.txt", b"1212121\n");
    assert!(run(&["games", "import", &digits, "--data", &data]).status.success());
    for (format, name) in [("compact", "the compact format"), ("pgn", "(pgn)"), ("csv", "(csv)")] {
        let out = below(directory.path(), format);
        assert!(
            run(&["games", "export", "--data", &data, "--format", format, "--out", &out]).status.success()
        );
        check_refused(&["games", "import", &out, "--data", &data], 65, name);
        check_refused(&["games", "import", &out, "--data", &data], 65, "`games export --format ndjson`");
    }
}

#[test]
fn settings_that_have_no_end_or_no_effect_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = below(directory.path(), "data");
    let serve = |config: &str| {
        let mut command =
            fourfold(&["serve", "--listen", "127.0.0.1:0", "--data", &data, "--config", config]);
        command.env("FOURFOLD_METRICS_LISTEN", "127.0.0.1:0");
        command
    };
    check_failure(&mut serve("/dev/zero"), 2, "no regular file");
    let good = file(directory.path(), "good.toml", b"");
    check_failure(serve(&good).env("FOURFOLD_HOUSE_BOTS", "x"), 2, "[[house_bots]]");
    check_failure(serve(&good).env("FOURFOLD_SITE_PRIVACY", "/dev/zero"), 2, "no regular file");
    let mut same = fourfold(&["serve", "--listen", "127.0.0.1:4999", "--data", &data]);
    same.env("FOURFOLD_METRICS_LISTEN", "127.0.0.1:4999");
    check_failure(&mut same, 2, "metrics.listen and server.listen: 127.0.0.1:4999 is taken");
    let mut into_itself = serve(&good);
    into_itself.env("FOURFOLD_BACKUP_AT", "0 3 * * *").env("FOURFOLD_BACKUP_DIRECTORY", format!("{data}/."));
    check_failure(&mut into_itself, 2, "backup.directory and server.data");
}

#[test]
fn a_new_directory_knows_no_learner_yet() {
    let directory = tempfile::tempdir().unwrap();
    let data = below(directory.path(), "data");
    let digits = file(directory.path(), "games.txt", b"1212121\n");
    assert!(run(&["games", "import", &digits, "--data", &data]).status.success());
    let shown = run(&["memory", "show", "--data", &data]);
    let said = text(&shown.stderr);
    assert!(said.contains("the learner `memory` is not here yet") && !said.contains("there are"), "{said}");
}
