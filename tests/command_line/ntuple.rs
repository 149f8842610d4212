//! How an n-tuple network learns, chosen on the command line.

use std::fs;

use super::{check_refused, run, text};

/// All flags that change how it learns.
const METHOD: [&str; 22] = [
    "--play-by",
    "current",
    "--average-over",
    "5000",
    "--targets-by",
    "average",
    "--restarts",
    "50",
    "--random-openings",
    "90",
    "--opening-plies",
    "10",
    "--late-search",
    "100",
    "--lambda",
    "90",
    "--exploration",
    "5",
    "--first-step",
    "60",
    "--last-step",
    "30",
];

#[test]
fn a_run_keeps_to_the_way_it_learns() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let [whole, parts, other] = ["whole.bin", "parts.bin", "other.bin"].map(file);
    let train = ["train", "ntuple", "--tuples", "5", "--threads", "1", "--probe-games", "0", "--games"];
    let learn = |games, out: &str, method: &[&str]| {
        let output = run(&[&train[..], &[games, "--out", out], method].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        fs::read(out).unwrap()
    };
    let learnt = learn("3000", &whole, &METHOD);
    learn("1000", &parts, &METHOD);
    let resumed = ["train", "ntuple", "--threads", "1", "--probe-games", "0", "--games", "3000"];
    let output = run(&[&resumed[..], &["--out", &parts, "--resume"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read(&parts).unwrap() == learnt, "equal to the byte, though the flags were not said again");
    assert!(learn("3000", &other, &[]) != learnt);
    let terms = fs::read(format!("{whole}.run")).unwrap();
    let options = format!("options = --tuples 5 {}\n", METHOD.join(" "));
    assert!(terms.windows(options.len()).any(|line| line == options.as_bytes()), "the terms name the flags");
    let changed = [&resumed[..], &["--out", &parts, "--lambda", "80"]].concat();
    check_refused(&changed, 2, "the run was begun with the options `--tuples 5 --play-by current");
}

#[test]
fn several_members_make_one_network_and_a_run_of_them_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let [whole, parts, alone] = ["whole.bin", "parts.bin", "alone.bin"].map(file);
    let learn = |more: &[&str]| {
        let train = ["train", "ntuple", "--threads", "1", "--probe-games", "0"];
        let output = run(&[&train[..], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    learn(&["--tuples", "5", "--members", "2", "--games", "4000", "--out", &whole]);
    learn(&["--tuples", "5", "--members", "2", "--games", "1000", "--out", &parts]);
    learn(&["--games", "4000", "--out", &parts, "--resume"]);
    let [learnt, resumed] = [&whole, &parts].map(|name| fs::read(name).unwrap());
    assert!(resumed == learnt, "equal to the byte, though --members was not said again");
    assert_eq!(learnt[10..12], [10, 0], "tuples of both");
    let bot = format!("ntuple:file={whole},plies=0");
    let output = run(&["move", "44", "--bot", &bot]);
    assert!(output.status.success(), "it plays as any network does: {}", text(&output.stderr));

    learn(&["--tuples", "5", "--games", "1000", "--out", &alone]);
    fs::remove_file(format!("{alone}.run")).unwrap();
    let several = ["train", "ntuple", "--members", "2", "--out", &alone];
    check_refused(&several, 2, "several members cannot begin with the one network in --out");
}

#[test]
fn ways_to_learn_that_make_no_sense_are_refused() {
    let percent = "a share is a whole number of percent from 0 to 100";
    let step = "a step is a whole number of percent from 1 to 100";
    for (flag, value, message) in [
        ("--restarts", "101", percent),
        ("--late-search", "half", percent),
        ("--lambda", "0.7", percent),
        ("--exploration", "", percent),
        ("--first-step", "0", step),
        ("--last-step", "200", step),
        ("--average-over", "999", "999 is not in 1000.."),
        ("--play-by", "both", "the weights are either `current` or `average`"),
        ("--targets-by", "Average", "the weights are either `current` or `average`"),
        ("--random-openings", "101", percent),
        ("--opening-plies", "25", "25 is not in 1..=24"),
        ("--members", "0", "0 is not in 1..=8"),
        ("--members", "9", "9 is not in 1..=8"),
    ] {
        let output = run(&["train", "ntuple", flag, value]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flag} {value}: {told}");
        assert!(told.contains(flag) && told.contains(message), "{told}");
    }
    check_refused(&["train", "memory", "--restarts", "20"], 2, "memory has no use for --restarts");
    for threads in ["0", "257", "100000"] {
        let output = run(&["train", "ntuple", "--threads", threads]);
        let told = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && told.contains("--threads") && told.contains("256"),
            "{told}"
        );
    }
}

#[test]
fn a_network_that_is_there_keeps_its_shape() {
    let dir = tempfile::tempdir().unwrap();
    let [net, memory] = ["net.bin", "m.xml"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let train = |bot, more: &[&str], out: &str| {
        let common = ["--probe-games", "0", "--games", "1", "--out", out];
        run(&[&["train", bot], more, &common].concat())
    };
    assert!(train("ntuple", &["--tuples", "5", "--threads", "1"], &net).status.success());
    fs::remove_file(format!("{net}.run")).unwrap();
    for (flag, value, message) in [("--tuples", "70", "has 5 tuples"), ("--cells", "6", "has 8 cells")] {
        let output = train("ntuple", &[flag, value], &net);
        let told = text(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(message) && told.contains(flag), "{told}");
    }
    assert!(train("ntuple", &["--tuples", "5", "--cells", "8"], &net).status.success(), "which it has");
    assert!(train("memory", &[], &memory).status.success());
    let output = train("memory", &["--threads", "2"], &memory);
    assert_eq!(text(&output.stderr), "fourfold: memory has no use for --threads\n", "when resumed, too");
}
