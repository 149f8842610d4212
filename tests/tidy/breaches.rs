//! Every rule is a function from a [`Tree`] to its breaches, so that it can be held against the repository, where it
//! finds none, and against a small tree with a breach, where it must find that.

use std::fs;

use crate::tree::Tree;

/// Panics with all of them if there are any.
#[track_caller]
pub(crate) fn check_none(rule: &str, breaches: &[String]) {
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}

/// Holds a rule against a tree of these files. Each breach must contain what is expected of it, in this order.
#[track_caller]
pub(crate) fn check(rule: impl Fn(&Tree) -> Vec<String>, files: &[(&str, &str)], expected: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = rule(&Tree::read(root.path()));
    let is_expected = found.iter().zip(expected).all(|(found, expected)| found.contains(expected));
    assert!(
        is_expected && found.len() == expected.len(),
        "{files:?}: expected {expected:?}, found {found:?}"
    );
}
