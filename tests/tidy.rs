//! The rules between the parts, which are mostly absences: read off the sources, so that nobody has to remember them.
//!
//! `ARCHITECTURE.md` says why they hold.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of the repository.
struct Source {
    /// From the root, with slashes.
    path: String,
    text: String,
}

impl Source {
    /// The text without comments and without the unit tests at its end.
    fn code(&self) -> String {
        let code = self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let without_comment = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
        code.lines().map(without_comment).collect::<Vec<_>>().join("\n")
    }

    /// Whether it only serves tests.
    fn is_test(&self) -> bool {
        ["/tests", "/testing.rs", "/conformance"].iter().any(|part| self.path.contains(part))
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a directory of the repository whose names end so.
fn files(directory: &str, extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut directories = vec![root().join(directory)];
    while let Some(directory) = directories.pop() {
        for entry in
            fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push(Source { path, text });
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} in {directory}");
    found
}

/// All Rust files under a directory of the repository.
fn sources(directory: &str) -> Vec<Source> {
    files(directory, "rs")
}

fn our_code() -> Vec<Source> {
    ["src", "engine/src", "bots/src", "arena/src"]
        .into_iter()
        .flat_map(sources)
        .filter(|source| !source.is_test())
        .collect()
}

/// Panics with all of them if there are any.
#[track_caller]
fn check_none(rule: &str, breaches: &[String]) {
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}

/// Files outside `allowed` whose code has one of the words.
fn outside(allowed: &[&str], words: &[&str]) -> Vec<String> {
    let breach = |source: Source| {
        let code = source.code();
        let word = words.iter().find(|word| code.contains(**word))?;
        (!source.is_in(allowed)).then(|| format!("{} has {word}", source.path))
    };
    our_code().into_iter().filter_map(breach).collect()
}

/// Files inside `places` whose code has one of the words.
fn inside(places: &[&str], words: &[&str]) -> Vec<String> {
    let breaches = |source: Source| {
        let code = source.code();
        let found = words.iter().filter(|word| code.contains(**word));
        found.map(|word| format!("{} has {word}", source.path)).collect::<Vec<_>>()
    };
    our_code().into_iter().filter(|source| source.is_in(places)).flat_map(breaches).collect()
}

#[test]
fn engine_and_bots_depend_on_nothing_that_does_io() {
    for (manifest, allowed) in [
        ("engine/Cargo.toml", &["proptest", "rand", "thiserror"][..]),
        // XML is the text form of the pattern memory; reading it is no I/O.
        ("bots/Cargo.toml", &["fourfold-engine", "proptest", "quick-xml", "rand", "thiserror"]),
    ] {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
        let names = sections.iter().filter_map(|section| table.get(*section)?.as_table());
        let names: Vec<String> = names.flat_map(|section| section.keys().cloned()).collect();
        let breaches: Vec<String> =
            names.into_iter().filter(|name| !allowed.contains(&name.as_str())).collect();
        check_none(&format!("{manifest} may depend on {allowed:?} only"), &breaches);
    }
}

#[test]
fn each_package_knows_only_those_below_it() {
    check_none("the engine is at the bottom", &inside(&["engine/src"], &["fourfold_bots", "fourfold::"]));
    check_none(
        "bots see a position and a budget",
        &inside(&["bots/src"], &["fourfold::", "fourfold_arena", "tokio", "std::net"]),
    );
    check_none("matches need no daemon", &inside(&["arena/src"], &["fourfold::", "tokio", "std::net"]));
}

#[test]
fn json_stays_at_the_edges() {
    let edges = [
        "arena/src/log",
        "arena/src/plan.rs",
        "arena/src/program/dialect/kaggle.rs",
        "arena/src/rate.rs",
        "src/app/cli",
        "src/app/laboratory",
        "src/client",
        "src/operations/control",
        "src/http",
        "src/protocol",
        "src/storage/records",
    ];
    check_none("only the edges know JSON", &outside(&edges, &["serde_json"]));
}

#[test]
fn sql_stays_in_one_place() {
    check_none("only storage/sqlite knows SQL", &outside(&["src/storage/sqlite"], &["sqlx"]));
}

#[test]
fn command_line_libraries_stay_in_the_command_line() {
    let words = ["clap::", "anyhow::", "indicatif::", "console::", "crossterm::", "ratatui::"];
    check_none(
        "only cli knows these",
        &outside(&["src/app/cli", "src/app/laboratory", "src/app/terminal", "src/main.rs"], &words),
    );
}

/// Files that take time and chance as arguments.
const PURE: &[&str] = &[
    "arena/src/course.rs",
    "arena/src/format",
    "arena/src/plan.rs",
    "arena/src/program/dialect",
    "arena/src/program/spec.rs",
    "arena/src/report.rs",
    "arena/src/results.rs",
    "arena/src/stats",
    "arena/src/time.rs",
    "engine/src/",
    "bots/src/",
    "src/app/cli/play/tui/game.rs",
    "src/app/cli/play/tui/pace.rs",
    "src/competition/matchmaker/budget.rs",
    "src/competition/matchmaker/choose.rs",
    "src/competition/matchmaker/health.rs",
    "src/competition/matchmaker/meetings.rs",
    "src/lobby/acceptance.rs",
    "src/lobby/challenge.rs",
    "src/competition/leaderboard/rating_sums.rs",
    "src/competition/leaderboard/standings.rs",
    "src/competition/leaderboard/habits.rs",
    "src/study/learning/lesson.rs",
    "src/study/learning/practice.rs",
    "src/play/reasons.rs",
    "src/lobby/pairing.rs",
    "src/model/rating",
    "src/play/room/lag.rs",
    "src/play/room/state.rs",
    "src/competition/tournament/progress.rs",
    "src/model/cron.rs",
];

#[test]
fn pure_parts_take_time_and_chance_from_outside() {
    let words = [
        "Instant::now",
        "clock::now",
        "SystemTime",
        "rand::rng(",
        "thread_rng",
        "tokio::",
        ".await",
        "std::fs",
        "std::env",
    ];
    check_none("pure parts take time and chance as arguments", &inside(PURE, &words));
    for place in PURE {
        assert!(our_code().iter().any(|source| source.is_in(&[place])), "{place} is gone: correct the list");
    }
}

/// The wings of the house in their order: nothing imports from a wing after its own.
const WINGS: &[&str] = &[
    "model",
    "protocol",
    "system",
    "analysis",
    "storage",
    "accounts",
    "play",
    "lobby",
    "session",
    "study",
    "client",
    "competition",
    "operations",
    "http",
    "app",
];

#[test]
fn wings_import_only_from_those_before_them() {
    let mut breaches = Vec::new();
    for (index, wing) in WINGS.iter().enumerate() {
        let (file, folder) = (format!("src/{wing}.rs"), format!("src/{wing}/"));
        let own = |source: &Source| source.path == file || source.path.starts_with(&folder);
        let own: Vec<Source> = our_code().into_iter().filter(own).collect();
        assert!(!own.is_empty(), "{wing} is gone: correct the list");
        for source in own {
            let code = source.code();
            let later = WINGS[index + 1..].iter().filter(|later| code.contains(&format!("crate::{later}")));
            breaches.extend(later.map(|later| format!("{} knows {later}", source.path)));
        }
    }
    check_none("nothing imports upwards", &breaches);
}

/// Longest file in lines, unit tests not counted. Most have under 400; the rules of one table are one subject.
const LINES_MAX: usize = 900;

#[test]
fn files_stay_readable() {
    let too_long = |source: &Source| {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().count();
        (lines > LINES_MAX).then(|| format!("{} has {lines} lines", source.path))
    };
    let breaches: Vec<String> = our_code().iter().filter_map(too_long).collect();
    check_none(&format!("at most {LINES_MAX} lines a file"), &breaches);
}

/// Longest line of a template in columns: a tag with its attributes and a text fits. Rust has less, but a tag can be
/// broken only between attributes, and around it only where white space shows nothing.
const TEMPLATE_COLUMNS_MAX: usize = 140;

#[test]
fn templates_stay_readable() {
    let mut breaches = Vec::new();
    for template in files("web/templates", "html") {
        for (line, number) in template.text.lines().zip(1..) {
            let columns = line.chars().count();
            if columns > TEMPLATE_COLUMNS_MAX {
                breaches.push(format!("{}:{number} has {columns}", template.path));
            }
        }
    }
    check_none(&format!("at most {TEMPLATE_COLUMNS_MAX} columns a line of a template"), &breaches);
}

#[test]
fn nothing_is_left_for_later() {
    let words = ["todo!(", "unimplemented!(", "dbg!(", "TODO", "FIXME"];
    let marked = |source: &Source| {
        let found = words.iter().find(|word| source.text.contains(**word))?;
        Some(format!("{} has {found}", source.path))
    };
    check_none("finish it or open an issue", &our_code().iter().filter_map(marked).collect::<Vec<_>>());
}

#[test]
fn our_code_forbids_unsafe() {
    for file in ["src/lib.rs", "src/main.rs", "bots/src/lib.rs", "arena/src/lib.rs"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
    }
    // The engine may in one file: a prefetch has no safe form.
    let text = fs::read_to_string(root().join("engine/src/lib.rs")).unwrap();
    assert!(text.contains("#![deny(unsafe_code)]"), "engine/src/lib.rs");
    check_none(
        "only the processor's module is unsafe",
        &outside(&["engine/src/solver/processor.rs"], &["unsafe {"]),
    );
}

/// Tracked text files; nothing outside a checkout.
fn tracked() -> Vec<Source> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else { return Vec::new() };
    let names = listed.stdout.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    let read = |name: &str| {
        let text = fs::read_to_string(root().join(name)).ok()?;
        Some(Source { path: name.to_owned(), text })
    };
    names.filter(|name| !name.is_empty()).filter_map(read).collect()
}

#[test]
fn nothing_names_a_machine_or_a_mirror() {
    // In pieces, so that this file does not name them either.
    let words = ["/ro", "ot/", "/ho", "me/", "/Us", "ers/", "resolved\": \"htt", "ps"];
    let words: Vec<String> = words.chunks(2).map(<[&str]>::concat).collect();
    let named = |source: &Source| {
        let found = words.iter().find(|word| source.text.contains(word.as_str()))?;
        Some(format!("{} has {found}", source.path))
    };
    check_none(
        "paths and hosts of one machine mean nothing elsewhere",
        &tracked().iter().filter_map(named).collect::<Vec<_>>(),
    );
}

#[test]
fn every_setting_is_explained_to_operators() {
    let text = fs::read_to_string(root().join("docs/operating.md")).unwrap();
    let all = toml::Table::try_from(fourfold::system::config::Config::default()).unwrap();
    let mut missing = Vec::new();
    for (section, keys) in &all {
        let names =
            keys.as_table().into_iter().flat_map(toml::Table::keys).map(|key| format!("`{section}.{key}`"));
        missing.extend(names.filter(|name| !text.contains(name)));
    }
    check_none("docs/operating.md leaves out", &missing);
}

/// All names in a JSON schema that a reader of the protocol meets: properties, types, words of choices.
fn names(schema: &serde_json::Value, found: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(object) => {
            if let Some(serde_json::Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            if let Some(serde_json::Value::String(word)) = object.get("const") {
                found.insert(word.clone());
            }
            if let Some(serde_json::Value::Array(words)) = object.get("enum") {
                found.extend(words.iter().filter_map(|word| word.as_str().map(str::to_owned)));
            }
            object.values().for_each(|value| names(value, found));
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => {}
    }
}

#[test]
fn every_word_of_the_protocol_is_explained() {
    let text = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut said = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::ClientMessage).to_value(), &mut said);
    names(&schemars::schema_for!(fourfold::protocol::ServerMessage).to_value(), &mut said);
    assert!(said.contains("hello") && said.contains("stale_ply"), "the schema has another form now");
    let missing: Vec<String> = said.into_iter().filter(|name| !words.contains(name.as_str())).collect();
    check_none("docs/protocol.md leaves out", &missing);
}

#[test]
fn the_page_knows_every_word_of_the_server() {
    let types = fs::read_to_string(root().join("web/types/protocol.d.ts")).unwrap();
    let words: BTreeSet<&str> = types.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut said = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::ServerMessage).to_value(), &mut said);
    // Refusals have a code among many; the page looks up those that people meet.
    let mut codes = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::error::ErrorCode).to_value(), &mut codes);
    let missing: Vec<String> =
        said.difference(&codes).filter(|name| !words.contains(name.as_str())).cloned().collect();
    check_none("web/types/protocol.d.ts leaves out", &missing);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    let in_docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let in_docs = in_docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut broken = Vec::new();
    for path in documents.iter().map(|name| root().join(name)).chain(in_docs) {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let directory = path.parent().unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let is_ours = !file.is_empty() && !file.contains("://");
            if is_ours && !directory.join(Path::new(file)).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    check_none("links lead nowhere", &broken);
}
