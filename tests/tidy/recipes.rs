//! Places that the recipes of `CONTRIBUTING.md` name, and that neither the compiler nor a test of their own would miss.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fourfold::protocol::{ClientMessage, ServerMessage};
use fourfold::system::config::Config;
use schemars::{JsonSchema, schema_for};

use crate::breaches::check_none;
use crate::scan::{after_group, find_word, is_word, words};
use crate::source::Source;
use crate::tree::Tree;

/// What clients may say and the page never does.
const NOT_OF_THE_PAGE: &[&str] = &["set"];

/// Operators' commands that `tests/command_line/learning.rs` tries with real learners.
const TRIED_WITH_LEARNERS: &[&str] = &["verify_learners", "repair_learners", "learner_file"];

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn every_setting_is_used() {
    let all = toml::Table::try_from(Config::default()).unwrap();
    check_none("nothing asks for these settings", &unused_settings(Tree::repository(), &all));
}

#[test]
fn every_write_is_checked_on_all_back_ends() {
    let rule = "src/storage/conformance*.rs has a check of each write";
    check_none(rule, &unchecked_writes(Tree::repository()));
}

#[test]
fn every_page_is_asked_for() {
    let tree = Tree::repository();
    let tests = tree.sources.iter().filter(|source| source.is_test && source.is_in("src/http"));
    let tested: Vec<&str> = tests.flat_map(|source| source.text.split('"')).collect();
    check_none("tests of src/http ask for each page", &pages_not_among(tree, &tested));
    let compared = read("scripts/unchanged/pages.py");
    let compared: Vec<&str> = compared.split_whitespace().collect();
    check_none("scripts/unchanged/pages.py compares each page", &pages_not_among(tree, &compared));
}

#[test]
fn every_message_is_exchanged_in_a_test() {
    let all = &kinds::<ClientMessage>() | &kinds::<ServerMessage>();
    check_none("a test in tests/it has each message", &untried_messages(Tree::repository(), &all));
}

#[test]
fn the_page_knows_every_word_of_clients() {
    let types = read("web/types/protocol.d.ts");
    let unknown = not_quoted(&types, kinds::<ClientMessage>().iter().map(String::as_str));
    check_none("web/types/protocol.d.ts leaves out", &unlisted(&unknown, NOT_OF_THE_PAGE));
}

#[test]
fn every_command_of_operators_is_tried() {
    let untried = untried_commands(Tree::repository());
    check_none("src/http/control/tests.rs tries each command", &unlisted(&untried, TRIED_WITH_LEARNERS));
}

/// A file that a rule is about: without it the rule would hold for nothing.
fn source<'t>(tree: &'t Tree, path: &str) -> &'t Source {
    tree.source(path).unwrap_or_else(|| panic!("{path} is gone: correct the rule"))
}

/// Keys that no file of the daemon reads as a field.
fn unused_settings(tree: &Tree, all: &toml::Table) -> Vec<String> {
    let is_read = |key: &str| tree.product().any(|source| has_field(&source.product, key));
    let keys = all.iter().flat_map(|(section, keys)| {
        let keys = keys.as_table().into_iter().flat_map(toml::Table::keys);
        keys.map(move |key| (section, key))
    });
    keys.filter(|(_, key)| !is_read(key)).map(|(section, key)| format!("{section}.{key}")).collect()
}

fn has_field(code: &str, name: &str) -> bool {
    let field = format!(".{name}");
    code.match_indices(&field).any(|(at, _)| !code[at + field.len()..].bytes().next().is_some_and(is_word))
}

fn unchecked_writes(tree: &Tree) -> Vec<String> {
    let suites = || tree.sources.iter().filter(|source| source.path.starts_with("src/storage/conformance"));
    let is_checked = |write: &String| suites().any(|suite| find_word(&suite.code, write).is_some());
    writes(source(tree, "src/storage/store.rs")).into_iter().filter(|write| !is_checked(write)).collect()
}

/// The variants of `Write`, which stand one step in.
fn writes(store: &Source) -> Vec<String> {
    let start = store.code.find("enum Write {").expect("there are writes");
    let body = &store.code[start..after_group(&store.code, start)];
    let variants = body.lines().filter_map(|line| line.strip_prefix("    "));
    let variants = variants.filter(|line| line.starts_with(char::is_uppercase));
    variants.filter_map(|line| words(line).next()).map(|(_, name)| format!("Write::{name}")).collect()
}

/// Pages of which none of the addresses is one.
fn pages_not_among(tree: &Tree, addresses: &[&str]) -> Vec<String> {
    let text = &source(tree, "src/http/pages.rs").text;
    let pages = text.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_one = |page: &str, address: &str| match page.split_once('{') {
        Some((start, _)) => address.strip_prefix(start).is_some_and(|rest| !rest.is_empty()),
        None => address.split('?').next() == Some(page),
    };
    let missing = pages.filter(|page| !addresses.iter().any(|address| is_one(page, address)));
    missing.map(str::to_owned).collect()
}

/// The types of messages, as their schema has them.
fn kinds<T: JsonSchema>() -> BTreeSet<String> {
    let schema = schema_for!(T).to_value();
    let variants = schema["oneOf"].as_array().unwrap();
    let kind =
        |variant: &serde_json::Value| variant["properties"]["type"]["const"].as_str().unwrap().to_owned();
    variants.iter().map(kind).collect()
}

fn untried_messages(tree: &Tree, kinds: &BTreeSet<String>) -> Vec<String> {
    let tests: Vec<&Source> = tree.sources.iter().filter(|source| source.is_in("tests/it")).collect();
    let is_tried =
        |kind: &str| tests.iter().any(|test| not_quoted(&test.text, [kind].into_iter()).is_empty());
    kinds.iter().filter(|kind| !is_tried(kind)).cloned().collect()
}

/// Words that do not stand in quotes in the text.
fn not_quoted<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.filter(|word| !text.contains(&format!("\"{word}\""))).map(str::to_owned).collect()
}

/// Methods of the client that its tests do not call.
fn untried_commands(tree: &Tree) -> Vec<String> {
    let code = |path: &str| &source(tree, path).code;
    let commands = code("src/http/control/client.rs").split(" async fn ").skip(1);
    let commands = commands.filter_map(|rest| rest.split_once("(&self")).map(|(name, _)| name);
    let commands = commands
        .filter(|name| name.bytes().all(is_word) && !["send", "list", "exchange", "pour"].contains(name));
    let parts = tree.sources.iter().filter(|source| source.path.starts_with("src/http/control/tests/"));
    let tests: Vec<&str> =
        parts.map(|part| &*part.code).chain([code("src/http/control/tests.rs").as_str()]).collect();
    let is_called = |name: &str| tests.iter().any(|code| code.contains(&format!(".{name}(")));
    commands.filter(|name| !is_called(name)).map(str::to_owned).collect()
}

/// Breaches that are not on the list, and what is on the list and no breach.
fn unlisted(breaches: &[String], list: &[&str]) -> Vec<String> {
    let unlisted = breaches.iter().filter(|breach| !list.contains(&breach.as_str())).cloned();
    let idle = list.iter().filter(|name| !breaches.iter().any(|breach| breach == *name));
    unlisted.chain(idle.map(|name| format!("{name} is there now: correct the list"))).collect()
}

mod tests {
    use super::*;
    use crate::breaches::check;

    #[test]
    fn a_setting_that_nothing_reads_is_found() {
        let all: toml::Table = "[a]\nb = 1\nc = 2".parse().unwrap();
        let files = [("src/lib.rs", "struct A { b: u8, c: u8 }\nfn f(a: A) { a.b; a.cd }")];
        check(|tree| unused_settings(tree, &all), &files, &["a.c"]);
    }

    #[test]
    fn a_write_that_no_suite_checks_is_found() {
        let store =
            "pub enum Write {\n    Add(u8),\n    Drop {\n        what: Option<u8>,\n    },\n    Keep,\n}";
        let suite = "fn f() { Write::Add(1); Write::Kept; Write::Drop { what: None } }";
        let files = [("src/storage/store.rs", store), ("src/storage/conformance.rs", suite)];
        check(unchecked_writes, &files, &["Write::Keep"]);
    }

    #[test]
    fn a_page_that_nobody_asks_for_is_found() {
        let files = [("src/http/pages.rs", ".route(\"/a\", x).route(\"/b/{id}\", x).route(\"/c\", x)")];
        check(|tree| pages_not_among(tree, &["/a?b=c", "/b/1", "/cd"]), &files, &["/c"]);
        check(|tree| pages_not_among(tree, &["/a/b", "/b/", "/c"]), &files, &["/a", "/b/{id}"]);
    }

    #[test]
    fn a_message_that_no_test_exchanges_is_found() {
        let files = [("tests/it/main.rs", "fn f() { say(\"hello\") } // bye")];
        let kinds = ["hello", "bye"].map(str::to_owned).into();
        check(|tree| untried_messages(tree, &kinds), &files, &["bye"]);
    }

    #[test]
    fn a_command_that_no_test_gives_is_found() {
        let client = "impl C { pub(crate) async fn a(&self) {} pub async fn b(&self) {} async fn c(&self) {} \
                      async fn send(&self) {} }";
        let files = [
            ("src/http/control/client.rs", client),
            ("src/http/control/tests.rs", "fn f() { client.a() }"),
            ("src/http/control/tests/parts.rs", "fn f() { client.c() }"),
        ];
        check(untried_commands, &files, &["b"]);
        assert_eq!(
            unlisted(&["a".to_owned(), "b".to_owned()], &["b", "c"]),
            ["a", "c is there now: correct the list"]
        );
    }
}
