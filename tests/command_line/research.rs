//! Data and reports for papers, from the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{check_failure, check_refused, check_usage, fourfold, run, text};

#[track_caller]
fn output_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// ---- datasets ----

#[test]
fn a_dataset_repeats_with_its_seed_and_says_what_the_solver_says() {
    let arguments = ["dataset", "--positions", "24", "--plies", "26-36", "--balance", "value", "--seed", "5"];
    let data = output_of(&[&arguments[..], &["--threads", "1"]].concat());
    assert_eq!(data, output_of(&[&arguments[..], &["--threads", "3"]].concat()));
    let labels = lines(&data);
    let mut values: BTreeMap<i64, usize> = BTreeMap::new();
    let mut command = fourfold(&["solve", "--columns"]);
    for label in &labels {
        *values.entry(label["value"].as_i64().unwrap()).or_default() += 1;
        command.arg(label["moves"].as_str().unwrap());
    }
    assert_eq!(values.into_iter().collect::<Vec<_>>(), [(-1, 8), (0, 8), (1, 8)]);
    let solved = command.output().unwrap();
    for (label, line) in labels.iter().zip(text(&solved.stdout).lines()) {
        let words: Vec<&str> = line.split(' ').collect();
        let said: Vec<String> = label["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|score| score.as_i64().map_or(".".to_owned(), |score| score.to_string()))
            .collect();
        assert_eq!(words[1..8], said, "{label}");
        let best = label["best"][0].as_u64().unwrap();
        assert_eq!(words[usize::try_from(best).unwrap()], label["score"].to_string(), "{label}");
        let stones = label["board"].as_str().unwrap().bytes().filter(|cell| *cell != b'0').count();
        assert_eq!(
            (stones, label["board"].as_str().unwrap().len()),
            (label["moves"].as_str().unwrap().len(), 42)
        );
    }
}

#[test]
fn a_second_dataset_shares_nothing_with_the_first_and_has_a_sheet() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (train, test, sheet) = (path("train.ndjson"), path("test.csv"), path("test.md"));
    // Of four stones there are some 560 positions: without --exclude the two would share a hundred.
    let small = ["dataset", "--plies", "4", "--positions", "250"];
    output_of(&[&small[..], &["--out", &train]].concat());
    let rest = [
        &small[..],
        &["--seed", "2", "--exclude", &train, "--format", "csv", "--out", &test, "--sheet", &sheet],
    ];
    output_of(&rest.concat());
    let first: BTreeSet<String> = lines(&fs::read_to_string(&train).unwrap())
        .iter()
        .map(|label| label["moves"].as_str().unwrap().to_owned())
        .collect();
    let table = fs::read_to_string(&test).unwrap();
    let second: Vec<&str> = table.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!((first.len(), second.len()), (250, 250));
    assert!(second.iter().all(|moves| !first.contains(*moves)));
    let sheet = fs::read_to_string(sheet).unwrap();
    for part in
        ["250 positions", "--seed 2", "SHA-256", "fourfold 0.", "| begin-", "| 4 | 250 |", "train.ndjson"]
    {
        assert!(sheet.contains(part), "{part} in\n{sheet}");
    }
}

#[test]
fn what_no_dataset_can_have_is_refused() {
    check_usage(&["dataset", "--plies", "30-12"], "two numbers of stones");
    check_refused(
        &["dataset", "--class", "begin-easy", "--plies", "20-30"],
        2,
        "no position of it has 20-30 stones",
    );
    check_usage(&["dataset", "--positions", "0"], "--positions");
    check_refused(&["dataset", "--exclude", "/no/such/file"], 66, "cannot open");
    // Of one stone there are four positions.
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("few").to_str().unwrap().to_owned();
    let too_many = ["dataset", "--plies", "1", "--positions", "5", "--threads", "1", "--out", &out];
    check_refused(&too_many, 1, "1 are missing of any value");
}

// ---- reports ----

/// A short tournament with its log.
fn log(directory: &Path) -> String {
    let log = directory.join("t.ndjson").to_str().unwrap().to_owned();
    let bots = ["tournament", "--format", "round-robin", "greedy", "a|b_1=random", "stupid"];
    let error = run(&[&bots[..], &["--seed", "7", "--games", "4", "--save", &log]].concat());
    assert_eq!(error.status.code(), Some(2), "a name that no table could show");
    let bots = ["tournament", "--format", "round-robin", "greedy", "my_bot=random", "stupid"];
    output_of(&[&bots[..], &["--seed", "7", "--games", "4", "--save", &log]].concat());
    log
}

#[test]
fn a_log_becomes_a_page_and_tables() {
    let directory = tempfile::tempdir().unwrap();
    let log = log(directory.path());
    let page = directory.path().join("page.html");
    output_of(&["report", &log, "--out", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    for part in [
        "<!doctype html>",
        "Standings",
        "Cross-table",
        "<svg",
        "my_bot",
        "SHA-256",
        "<dt>seed</dt><dd>7</dd>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(
        page.contains("<dd>fourfold tournament --format round-robin greedy"),
        "what made the log: {page}"
    );
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    let latex = output_of(&["report", &log, "--format", "latex"]);
    assert!(latex.contains("\\toprule") && latex.contains("my\\_bot"), "{latex}");
    let csv = output_of(&["report", &log, "--format", "csv"]);
    let rows: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!((rows.len(), rows[0].split(',').next()), (4, Some("Name")), "{csv}");
    assert!(rows.iter().all(|row| row.split(',').count() == rows[0].split(',').count()), "{csv}");
    fs::write(directory.path().join("none"), "nonsense\n").unwrap();
    check_refused(&["report", directory.path().join("none").to_str().unwrap()], 65, "line 1");
    check_refused(&["report", "/no/such/log"], 66, "cannot open");
}

#[test]
fn runs_print_tables_for_papers() {
    let played =
        output_of(&["match", "greedy", "random", "--games", "4", "--seed", "7", "--format", "markdown"]);
    for part in [
        "## greedy v random",
        "| greedy | 4 |",
        "- seed: 7",
        "- command: fourfold match greedy",
        "- machine: ",
    ] {
        assert!(played.contains(part), "{part} in {played}");
    }
    let measured = ["measure", "greedy", "random", "--positions", "4", "--games", "0", "--format", "latex"];
    assert!(output_of(&measured).contains("greedy & "));
    let directory = tempfile::tempdir().unwrap();
    let log = log(directory.path());
    let rated = output_of(&["rate", &log, "--format", "csv"]);
    assert!(rated.contains("\nName,Elo,") && rated.contains("# games: t.ndjson, SHA-256 "), "{rated}");
    let table =
        ["tournament", "--format", "gauntlet", "greedy", "random", "--games", "2", "--table-format", "csv"];
    assert!(output_of(&[&table[..], &["--seed", "1"]].concat()).contains("\nName,Rank,"));
    assert_eq!(run(&["match", "greedy", "random", "--format", "csv", "--json"]).status.code(), Some(2));
}

// ---- games of others, and labels ----

#[test]
fn games_of_others_come_in_and_go_out_labelled() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let import = |file: &str, more: &[&str]| {
        fourfold(&["games", "import", file, "--data", data]).args(more).output().unwrap()
    };
    let log = log(directory.path());
    let imported = import(&log, &["--player", "my_bot=Random7"]);
    assert_eq!(
        text(&imported.stdout),
        "games imported: 12, there already: 0\n",
        "{}",
        text(&imported.stderr)
    );
    assert!(text(&imported.stderr).contains("my_bot comes in as Random7"));
    let digits = directory.path().join("digits.txt");
    fs::write(&digits, "1212121\n44 0-1 ada bob\n").unwrap();
    let digits = digits.to_str().unwrap();
    assert_eq!(text(&import(digits, &[]).stdout), "games imported: 2, there already: 0\n");
    assert_eq!(text(&import(digits, &[]).stdout), "games imported: 0, there already: 2\n");
    let changed =
        fs::read_to_string(&log).unwrap().replacen("\"result\":\"first\"", "\"result\":\"second\"", 1);
    let broken = directory.path().join("broken.ndjson");
    fs::write(&broken, changed).unwrap();
    let broken = ["games", "import", broken.to_str().unwrap(), "--data", data];
    check_failure(&mut fourfold(&broken), 65, "its checksum is wrong");
    let verified = output_of(&["games", "verify", "--data", data]);
    assert!(verified.contains("everything agrees"), "{verified}");
    let labelled = lines(&output_of(&["games", "export", "--labels", "--after", "12", "--data", data]));
    let labels = labelled[0]["labels"].as_array().unwrap();
    assert_eq!((labels.len(), &labels[6]["score"], &labels[6]["best"][0]), (7, &18.into(), &1.into()));
    assert_eq!(labels[0]["mistake"], "win_to_loss");
    let rows =
        output_of(&["games", "export", "--labels", "--format", "csv", "--after", "13", "--data", data]);
    assert!(
        rows.starts_with("id,ply,column,score,after,best,mistake\ni") && rows.lines().count() == 3,
        "{rows}"
    );
    let of_ada =
        ["games", "export", "--player", "ADA", "--opening", "44", "--until", "2100-01-01", "--data", data];
    assert_eq!(lines(&output_of(&of_ada)).len(), 1);
    let labelled =
        output_of(&["games", "export", "--labels", "--result", "draw", "--opponent", "ada", "--data", data]);
    assert_eq!(labelled, "", "there is none");
    let since = ["games", "export", "--since", "yesterday", "--data", data];
    check_usage(&since, "`yesterday` is no time of RFC 3339");
    let nobody = ["games", "export", "--player", "nobody", "--data", data];
    check_failure(&mut fourfold(&nobody), 1, "player: there is no player `nobody`");
    check_refused(
        &["games", "export", "--labels", "--format", "pgn", "--data", data],
        2,
        "the others have none",
    );
}

// ---- the daemon measured ----

#[test]
fn a_move_of_the_whole_daemon_has_its_cost() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["bench", "server", "--games", "4", "--connections", "4", "--json", "--directory"];
    let figures: Value =
        serde_json::from_str(&output_of(&[&arguments[..], &[directory.path().to_str().unwrap()]].concat()))
            .unwrap();
    assert_eq!((&figures["games"], &figures["errors"]), (&4.into(), &serde_json::json!({})));
    assert!(figures["moves"].as_u64() >= Some(4 * 7), "{figures}");
    if cfg!(target_os = "linux") {
        assert!(figures["server_cpu_us_per_move"].as_f64() > Some(0.0), "{figures}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing stays behind");
}
