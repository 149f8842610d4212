//! How well bots play, by exact truth and against opponents that never change, from the command line.

use std::fs;

use serde_json::Value;

use super::{check_refused, run, text};

#[test]
fn a_bot_is_measured_in_both_forms_and_again_the_same() {
    let arguments = ["measure", "negamax:depth=2", "--positions", "20", "--games", "1", "--seed", "3"];
    let table = run(&arguments);
    let table = text(&table.stdout);
    assert!(table.starts_with("negamax:depth=2 in 20 positions of seed 3\n"), "{table}");
    assert!(table.contains("moving second: "), "{table}");
    let json = || figures(&[&arguments[..], &["--json"]].concat());
    let figures = json();
    assert_eq!(figures, json());
    assert_eq!((&figures["positions"], &figures["seed"]), (&20.into(), &3.into()));
    for rate in ["good", "decision", "optimal", "first_vs_perfect", "second_vs_perfect"] {
        let rate = figures[rate].as_f64();
        assert!(rate.is_some_and(|rate| (0.0..=1.0).contains(&rate)), "{figures}");
    }
}

#[test]
fn parts_of_a_measurement_joined_are_the_measurement() {
    fn join<'a>(parts: &[&'a str]) -> Vec<&'a str> {
        [&["measure", "--json", "--join"], parts].concat()
    }
    let bots =
        ["measure", "random", "mine=greedy", "--positions", "7", "--games", "2", "--seed", "3", "--ladder"];
    let whole = [&bots[..], &["--ladder-games", "2", "--traps", "--trap-games", "2"]].concat();
    let directory = tempfile::tempdir().unwrap();
    let parts: Vec<String> = ["1/3", "2/3", "3/3"]
        .map(|part| {
            let output = run(&[&whole[..], &["--shard", part]].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
            let path = directory.path().join(part.replace('/', "-"));
            fs::write(&path, output.stdout).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .to_vec();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(figures(&join(&parts)), figures(&[&whole[..], &["--json"]].concat()));
    check_refused(&join(&parts[..2]), 65, "part 3/3 is missing");
    let torn = fs::read_to_string(parts[1]).unwrap();
    for (text, message) in [
        (&torn[..torn.len() - 20], "line "),
        (torn.rsplit_once("{\"event\":\"end\"").unwrap().0, "the end is missing"),
        (torn.replacen("\"bot\":0", "\"bot\":9", 1).as_str(), "line 2: no such bot"),
        (torn.replacen("\"seed\":3", "\"seed\":4", 1).as_str(), "part of another measurement"),
    ] {
        fs::write(parts[1], text).unwrap();
        check_refused(&join(&parts), 65, message);
    }
}

#[test]
fn solved_positions_are_quick_and_tell_decisions_alone() {
    let figures = figures(&["measure", "greedy", "--solved", "--games", "0", "--seed", "3", "--json"]);
    assert_eq!((&figures["positions"], &figures["decision"]), (&1_075.into(), &0.685.into()), "{figures}");
    let seeds = (&figures["seed"], &figures["positions_seed"]);
    assert_eq!(seeds, (&3.into(), &2_004.into()), "that of games, and that of the positions");
    assert_eq!((&figures["good"], &figures["first_vs_perfect"]), (&Value::Null, &Value::Null));
    let both = run(&["measure", "greedy", "--solved", "--positions", "10"]);
    assert_eq!(both.status.code(), Some(2), "{}", text(&both.stderr));
}

#[test]
fn what_cannot_be_measured_is_refused_in_a_line() {
    check_refused(&["measure", "deep-blue"], 2, "deep-blue");
    check_refused(&["measure", "random", "deep-blue"], 2, "deep-blue");
    check_refused(&["measure", "negamax:depth=0"], 2, "depth");
    check_refused(
        &["measure", "random", "--log", "said.jsonl"],
        2,
        "--log writes down what is said with programs",
    );
    check_refused(&["match", "random", "greedy", "--sandbox"], 2, "--sandbox is for programs");
    let wrong: [&[&str]; 6] = [
        &["measure"],
        &["measure", "random", "--positions", "-1"],
        &["measure", "random", "--seed", "-1"],
        &["measure", "random", "--threads", "0"],
        &["measure", "random", "--ladder", "--ladder-games", "7"],
        &["measure", "random", "--ladder-games", "8"],
    ];
    for arguments in wrong {
        let output = run(arguments);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn a_broken_file_of_any_bot_is_named_before_any_work() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("net.bin");
    fs::write(&path, "no network").unwrap();
    let broken = format!("ntuple:file={}", path.display());
    check_refused(
        &["measure", "random", &broken, "--positions", "100000"],
        65,
        "net.bin: not an n-tuple network",
    );
}

#[test]
fn several_bots_answer_the_same_positions_and_have_a_mean_and_a_worst() {
    let arguments = ["measure", "random:seed=1", "negamax:depth=2", "--positions", "20", "--games", "0"];
    let output = run(&arguments);
    let table = text(&output.stdout);
    let last_words: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(last_words[2..], ["random:seed=1", "negamax:depth=2", "mean", "worst"], "{table}");
    let json = figures(&[&arguments[..], &["--json"]].concat());
    let alone = figures(&["measure", "negamax:depth=2", "--positions", "20", "--games", "0", "--json"]);
    assert_eq!(json["bots"][1], alone, "it answers as it does alone");
    let good = |of: &Value| of["good"].as_f64().unwrap();
    let (random, negamax) = (good(&json["bots"][0]), good(&json["bots"][1]));
    assert!((good(&json["mean"]) - f64::midpoint(random, negamax)).abs() < 1e-9, "{json}");
    assert!((good(&json["worst"]) - random.min(negamax)).abs() < 1e-9, "{json}");
}

#[test]
fn classes_and_the_ladder_are_told_when_asked_for() {
    let arguments =
        ["measure", "greedy", "--solved", "--games", "0", "--classes", "--ladder", "--ladder-games", "2"];
    let json = figures(&[&arguments[..], &["--json"]].concat());
    assert_eq!((&json["class_positions"], &json["ladder_games"]), (&500.into(), &2.into()), "{json}");
    let rate = |of: &str, name: &str| json[of][name].as_f64().unwrap();
    assert!(rate("mistakes", "end-easy") < rate("mistakes", "begin-hard"), "{json}");
    assert!(rate("ladder", "negamax:depth=8") <= 0.5, "{json}");
    let threads = figures(&[&arguments[..], &["--json", "--threads", "2"]].concat());
    assert_eq!(json, threads, "equal for any number of threads");
    let output = run(&arguments);
    let table = text(&output.stdout);
    assert!(table.contains("\nmistakes in 500 positions of each class\nbegin-easy  begin-medium"), "{table}");
    assert!(table.contains("\npoints of 2 games each\nnegamax:depth=2  "), "{table}");
}

/// The JSON of a measurement that works.
fn figures(arguments: &[&str]) -> Value {
    let output = run(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}
