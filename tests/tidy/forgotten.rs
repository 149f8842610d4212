//! What nothing misses when it is left out: files that no `mod` reaches, tests that no suite runs, dependencies that no
//! file names.

use std::collections::BTreeSet;

use crate::breaches::check_none;
use crate::scan::{after_group, find_word, words};
use crate::source::Source;
use crate::tree::Tree;

/// The suites that every back end of the store must pass: files, the macro that lists all of them, and how their own
/// begin.
const SUITES: &str = "src/storage/conformance";
const ALL_SUITES: &str = "conformance";
const SUITE: &str = "conformance_of_";

/// The packages of the workspace, and where their sources are.
const MANIFESTS: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["src", "tests"]),
    ("arena/Cargo.toml", &["arena"]),
    ("bots/Cargo.toml", &["bots/src", "bots/tests"]),
    ("bots/kits/rust/Cargo.toml", &["bots/kits/rust"]),
    ("engine/Cargo.toml", &["engine"]),
];

/// Dependencies that no file names, and why they are there: manifest, name, reason.
const UNNAMED: &[(&str, &str, &str)] = &[];

#[test]
fn every_file_is_part_of_a_crate() {
    check_none("no module leads to these", &unreached(Tree::repository()));
}

#[test]
fn every_back_end_passes_the_whole_suite() {
    check_none("the store's suite runs in full", &left_out_of_suites(Tree::repository()));
}

#[test]
fn every_dependency_is_used() {
    check_none("dependencies are named in the sources", &unused_dependencies(Tree::repository(), UNNAMED));
}

#[test]
fn engine_and_bots_depend_on_nothing_that_does_io() {
    let tree = Tree::repository();
    let allowed = ["proptest", "rand", "thiserror"];
    check_none("the engine", &other_dependencies(tree, "engine/Cargo.toml", &allowed));
    // XML is the text form of the pattern memory; reading it is no I/O.
    let allowed = [&allowed[..], &["fourfold-engine", "quick-xml"]].concat();
    check_none("the bots", &other_dependencies(tree, "bots/Cargo.toml", &allowed));
}

fn unreached(tree: &Tree) -> Vec<String> {
    tree.sources.iter().filter(|source| !tree.is_reached(source)).map(|source| source.path.clone()).collect()
}

/// Checks that no suite lists, suites that the list of all leaves out, and back ends that do not run that list.
fn left_out_of_suites(tree: &Tree) -> Vec<String> {
    let suites = || tree.sources.iter().filter(|source| source.path.starts_with(SUITES));
    let each: Vec<(&str, &str)> = suites().flat_map(|source| macros(source, SUITE)).collect();
    let all: Vec<(&str, &str)> = suites().flat_map(|source| macros(source, ALL_SUITES)).collect();
    let is_listed = |check: &str| each.iter().any(|(_, body)| find_word(body, check).is_some());
    let forgotten = suites().flat_map(|source| {
        let checks = checks(source).into_iter().filter(|check| !is_listed(check));
        checks.map(|check| format!("{}: {check} is in no suite", source.path)).collect::<Vec<_>>()
    });
    let calls = |code: &str, called: &str| code.contains(&format!("{called}!("));
    let is_run = |suite: &str| all.iter().any(|(name, body)| *name == ALL_SUITES && calls(body, suite));
    let unlisted = each.iter().filter(|(suite, _)| !is_run(suite));
    let unlisted = unlisted.map(|(suite, _)| format!("{ALL_SUITES} leaves {suite} out"));
    let back_ends = tree.sources.iter().filter(|source| find_back_end(source).is_some());
    let not_run = back_ends.filter(|source| !calls(&source.code, ALL_SUITES));
    let not_run = not_run.map(|source| format!("{} does not run {ALL_SUITES}", source.path));
    forgotten.chain(unlisted).chain(not_run).collect()
}

fn find_back_end(source: &Source) -> Option<usize> {
    source.code.find("impl Fixture for")
}

/// The macros whose names begin like this: name and body.
fn macros<'s>(source: &'s Source, prefix: &str) -> Vec<(&'s str, &'s str)> {
    let code = &source.code;
    let named =
        words(code).filter(|(at, word)| word.starts_with(prefix) && code[..*at].ends_with("macro_rules! "));
    named.map(|(at, name)| (name, &code[at..after_group(code, at + name.len() + 1)])).collect()
}

/// Functions of a suite that are generic over the fixture, take nothing and give nothing: a test can call them.
fn checks(source: &Source) -> Vec<&str> {
    let code = &source.code;
    let functions = words(code).filter(|(at, _)| code[..*at].ends_with("async fn "));
    let is_check = |rest: &str| {
        let generics = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        generics.is_some_and(|(bound, rest)| bound.ends_with(": Fixture") && rest.starts_with("() {"))
    };
    functions.filter(|(at, name)| is_check(&code[at + name.len()..])).map(|(_, name)| name).collect()
}

/// Dependencies that no source of their package names, and listed ones that one does.
fn unused_dependencies(tree: &Tree, unnamed: &[(&str, &str, &str)]) -> Vec<String> {
    let found: BTreeSet<(&str, String)> =
        MANIFESTS.iter().flat_map(|(path, places)| unused(tree, path, places)).collect();
    let listed: BTreeSet<(&str, String)> =
        unnamed.iter().map(|(path, name, _)| (*path, (*name).to_owned())).collect();
    let breaches = found.difference(&listed).map(|(path, name)| format!("{path}: no source names {name}"));
    let idle = listed
        .difference(&found)
        .map(|(path, name)| format!("{path}: {name} is gone or named: correct the list"));
    breaches.chain(idle).collect()
}

fn unused<'m>(tree: &Tree, manifest: &'m str, places: &[&str]) -> Vec<(&'m str, String)> {
    let sources = || tree.sources.iter().filter(|source| places.iter().any(|place| source.is_in(place)));
    let is_named =
        |name: &str| sources().any(|source| find_word(&source.code, &name.replace('-', "_")).is_some());
    let names = dependencies(tree, manifest).into_iter().filter(|name| !is_named(name));
    names.map(|name| (manifest, name)).collect()
}

fn other_dependencies(tree: &Tree, manifest: &str, allowed: &[&str]) -> Vec<String> {
    let others = dependencies(tree, manifest).into_iter().filter(|name| !allowed.contains(&name.as_str()));
    others.map(|name| format!("{manifest} may depend on {allowed:?} only, not on {name}")).collect()
}

/// The names under which a manifest has dependencies of any kind.
fn dependencies(tree: &Tree, manifest: &str) -> BTreeSet<String> {
    let Some(text) = tree.others.get(manifest) else { return BTreeSet::new() };
    let table: toml::Table = text.parse().unwrap();
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let sections = sections.iter().filter_map(|section| table.get(*section)?.as_table());
    sections.flat_map(|section| section.keys().cloned()).collect()
}

mod tests {
    use super::*;
    use crate::breaches::check;

    #[test]
    fn a_file_that_no_module_leads_to_is_found() {
        let files = [("src/lib.rs", "mod a;"), ("src/a.rs", "mod b { mod c; }"), ("src/a/b/c.rs", "")];
        check(unreached, &files, &[]);
        check(unreached, &[&files[..], &[("src/a/d.rs", "")]].concat(), &["src/a/d.rs"]);
        let tests = [("tests/it/main.rs", "mod a;"), ("tests/it/a.rs", ""), ("tests/it/b.rs", "")];
        check(unreached, &tests, &["tests/it/b.rs"]);
        let named = [("tests/a.rs", "#[path = \"a/b.rs\"]\nmod b;"), ("tests/a/b.rs", "")];
        check(unreached, &named, &[]);
    }

    const CHECKS: &str = "macro_rules! conformance { ($f:ty) => { conformance_of_ones!($f); } }\n\
                          macro_rules! conformance_of_ones { ($f:ty) => { list!(one) } }\n\
                          async fn one<F: Fixture>() {}\nasync fn made<F: Fixture>() -> F {}\n";

    #[track_caller]
    fn check_suites(checks: &str, back_end: &str, expected: &[&str]) {
        let files = [(&*format!("{SUITES}.rs"), checks), ("src/storage/sqlite.rs", back_end)];
        check(left_out_of_suites, &files, expected);
    }

    #[test]
    fn a_forgotten_check_of_a_suite_is_found() {
        let back_end = "impl Fixture for OnDisk {}\nconformance!(OnDisk);";
        check_suites(CHECKS, back_end, &[]);
        let more = format!("{CHECKS}async fn two<F: Fixture>() {{}}");
        check_suites(&more, back_end, &["src/storage/conformance.rs: two is in no suite"]);
    }

    #[test]
    fn a_suite_that_a_back_end_does_not_run_is_found() {
        let expected = "src/storage/sqlite.rs does not run conformance";
        check_suites(CHECKS, "impl Fixture for OnDisk {}", &[expected]);
        check_suites(CHECKS, "impl Store for OnDisk {}", &[]);
        let more = format!("{CHECKS}macro_rules! conformance_of_twos {{ ($f:ty) => {{}} }}");
        check_suites(&more, "", &["conformance leaves conformance_of_twos out"]);
    }

    const MANIFEST: &str = "[dependencies]\nsome-words = \"1\"\nother.workspace = true\n";

    #[track_caller]
    fn check_unused(code: &str, unnamed: &[(&str, &str, &str)], expected: &[&str]) {
        let files = [("arena/Cargo.toml", MANIFEST), ("arena/src/lib.rs", code)];
        check(|tree| unused_dependencies(tree, unnamed), &files, expected);
    }

    #[test]
    fn a_dependency_that_no_file_names_is_found() {
        let kept = &[("arena/Cargo.toml", "other", "a feature needs it")];
        check_unused("use some_words::x; other::f!();", &[], &[]);
        check_unused("use some_words::x; // other", &[], &["arena/Cargo.toml: no source names other"]);
        check_unused("use some_words::x;", kept, &[]);
        check_unused("use some_words::x; use other::y;", kept, &["other is gone or named"]);
    }

    #[test]
    fn a_dependency_that_does_io_is_found() {
        let files = [("bots/Cargo.toml", MANIFEST)];
        check(|tree| other_dependencies(tree, "bots/Cargo.toml", &["other"]), &files, &["not on some-words"]);
    }
}
