//! What `SECURITY.md`, `docs/reliability.md` and `docs/features.md` promise names what shows it: a test, a page, or a
//! file that tests are run from.

use std::fs;
use std::path::Path;

use crate::breaches::{check, check_none};
use crate::tree::Tree;

/// The documents with tables whose last column is headed [`SHOWN_BY`].
const DOCUMENTS: &[&str] = &["SECURITY.md", "docs/reliability.md", "docs/features.md"];

/// See [`DOCUMENTS`].
const SHOWN_BY: &str = "shown by";

#[test]
fn what_is_promised_is_shown_by_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Tree::repository();
    let is_file = |path: &str| root.join(path).is_file();
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).unwrap();
        assert!(rows(&text).count() > 30, "{document} has its tables");
        check_none(document, &unshown(tree, &text, is_file));
    }
}

#[test]
fn a_row_without_its_test_is_named() {
    let files = [
        ("src/a.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn what_holds_is_shown() {}\n}\n"),
        ("src/http/pages.rs", "fn router() {\n    route(\"/wall\", get(page));\n}\n"),
    ];
    let table = |cells: &str| format!("| | what | shown by |\n|---|---|---|\n{cells}\n");
    let held = |cells: &str, expected: &[&str]| {
        let text = table(cells);
        check(|tree| unshown(tree, &text, |path| path == "tests/crash/main.rs"), &files, expected);
    };
    held("| R1 | kills | `what_holds_is_shown`, `tests/crash/main.rs` |", &[]);
    held("| R2 | cuts | `what_was_renamed` |", &["R2: what_was_renamed"]);
    held("| R3 | nothing | |", &["R3 names nothing"]);
    held("| R5 | a page | `/wall` |", &[]);
    held("| R6 | no page | `/walls` |", &["R6: /walls"]);
    held("| R4 | text | what_holds_is_shown |", &["R4 names nothing"]);
}

/// The rows of the tables: their first cell and their last.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut in_table = false;
    text.lines().filter_map(move |line| {
        let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
        let ends =
            inner.and_then(|inner| Some((inner.split_once('|')?.0.trim(), inner.rsplit_once('|')?.1.trim())));
        let Some((first, last)) = ends else {
            in_table = false;
            return None;
        };
        in_table |= last == SHOWN_BY;
        let is_row = in_table && last != SHOWN_BY && !first.starts_with("---");
        is_row.then_some((first, last))
    })
}

/// The rows that name nothing, and the tests, pages and files that are not there.
fn unshown(tree: &Tree, text: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let is_test = |name: &str| {
        // Those of all stores have the store as a parameter.
        let heads = [format!("fn {name}("), format!("fn {name}<F: Fixture>(")];
        let declares = |text: &str| heads.iter().any(|head| text.contains(head));
        tree.sources.iter().any(|source| declares(&source.code) && !declares(&source.product))
    };
    let is_site = |path: &str| path.starts_with("src/http/") && !path.contains("/tests");
    let is_page = |path: &str| {
        let routed = format!("\"{path}\"");
        path.starts_with('/')
            && tree.sources.iter().any(|source| is_site(&source.path) && source.text.contains(&routed))
    };
    let mut found = Vec::new();
    for (row, tests) in rows(text) {
        let mut names = tests.split('`').skip(1).step_by(2).peekable();
        if names.peek().is_none() {
            found.push(format!("{row} names nothing"));
        }
        found.extend(
            names
                .filter(|name| !is_test(name) && !is_page(name) && !is_file(name))
                .map(|name| format!("{row}: {name}")),
        );
    }
    found
}
