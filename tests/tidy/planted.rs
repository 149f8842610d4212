//! The faults that `scripts/planted.py` plants are still faults: their texts stand where they are looked for, and the
//! tests that must notice them exist.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::breaches::{check, check_none};
use crate::tree::Tree;

/// Where they are listed.
const LIST: &str = "tests/planted.toml";

/// The findings of the attack after which most of them are named, each with how many there were.
const FINDINGS: [(char, usize); 4] = [('C', 1), ('H', 4), ('M', 11), ('L', 21)];

/// Findings that no text in the sources is the mend of; CONTRIBUTING.md says why.
const NOT_PLANTED: [&str; 3] = ["L13", "L17", "L21"];

#[derive(Deserialize)]
struct Planted {
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    row: Vec<String>,
    what: String,
    file: String,
    text: String,
    instead: Option<String>,
    left_out: Option<bool>,
    by: Option<String>,
    tests: Vec<String>,
}

#[test]
fn planted_faults_are_where_they_are_looked_for_and_their_tests_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read_to_string(root.join(LIST)).unwrap();
    check_none(LIST, &withered(Tree::repository(), &list));
    let Planted { fault } = toml::from_str(&list).unwrap();
    let is_planted = |row: &String| fault.iter().any(|fault| fault.row.contains(row));
    let findings = FINDINGS.iter().flat_map(|(kind, count)| (1..=*count).map(move |n| format!("{kind}{n}")));
    let missing: Vec<String> =
        findings.filter(|row| !is_planted(row) && !NOT_PLANTED.contains(&row.as_str())).collect();
    check_none("findings without a fault", &missing);
}

#[test]
fn a_fault_that_has_withered_is_named() {
    let files = [("src/a.rs", "fn limit() -> u8 {\n    7\n}\n\n#[test]\nfn seven_is_the_limit() {}\n")];
    let held = |text: &str, test: &str, expected: &[&str]| {
        let list = format!(
            "[[fault]]\nrow = [\"C1\"]\nwhat = \"no limit\"\nfile = \"src/a.rs\"\ntext = \"{text}\"\n\
             instead = \"9\"\ntests = [\"{test}\"]\n"
        );
        check(|tree| withered(tree, &list), &files, expected);
    };
    held("    7", "seven_is_the_limit", &[]);
    held("    8", "seven_is_the_limit", &["no limit: its text stands 0 times in src/a.rs"]);
    held("limit", "seven_is_the_limit", &["no limit: its text stands 2 times in src/a.rs"]);
    held("    7", "eight_is_the_limit", &["no limit: there is no test eight_is_the_limit"]);
}

/// The faults that would not be planted, or whose tests are not there.
fn withered(tree: &Tree, list: &str) -> Vec<String> {
    let Planted { fault } = toml::from_str(list).unwrap();
    let functions: HashSet<&str> = tree.sources.iter().flat_map(|source| functions(&source.text)).collect();
    let mut found = Vec::new();
    for Fault { row, what, file, text, instead, left_out, by, tests } in &fault {
        let source = tree.sources.iter().find(|source| source.path == *file);
        let times = source.map_or(0, |source| source.text.matches(text.as_str()).count());
        if times != 1 {
            found.push(format!("{what}: its text stands {times} times in {file}"));
        }
        if usize::from(instead.is_some()) + usize::from(*left_out == Some(true)) + usize::from(by.is_some())
            != 1
        {
            found.push(format!("{what}: one of instead, left_out and by"));
        }
        if row.is_empty() || tests.is_empty() {
            found.push(format!("{what}: it belongs nowhere, or nothing has to notice it"));
        }
        let missing = tests.iter().filter(|test| !functions.contains(test.as_str()));
        found.extend(missing.map(|test| format!("{what}: there is no test {test}")));
    }
    found
}

/// The names that functions have in a text.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split("fn ").skip(1).filter_map(move |rest| rest.split(|c| !is_of_name(c)).next())
}
