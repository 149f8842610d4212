//! What the documents say agrees with the program, and what is kept names no machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::breaches::check_none;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Tracked text files with their paths; none outside a checkout.
fn tracked() -> Vec<(String, String)> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else { return Vec::new() };
    let names = listed.stdout.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(root().join(name)).ok()?));
    names.filter(|name| !name.is_empty()).filter_map(read).collect()
}

#[test]
fn nothing_names_a_machine_or_a_mirror() {
    check_none("paths and hosts of one machine mean nothing elsewhere", &named(&tracked()));
}

fn named(files: &[(String, String)]) -> Vec<String> {
    // In pieces, so that this file does not name them either.
    let words = ["/ro", "ot/", "/ho", "me/", "/Us", "ers/", "resolved\": \"htt", "ps"];
    let words: Vec<String> = words.chunks(2).map(<[&str]>::concat).collect();
    let named = |(path, text): &(String, String)| {
        let found = words.iter().find(|word| text.contains(word.as_str()))?;
        Some(format!("{path} has {found}"))
    };
    files.iter().filter_map(named).collect()
}

#[test]
fn every_setting_is_explained_to_operators() {
    let text = fs::read_to_string(root().join("docs/operating.md")).unwrap();
    let all = toml::Table::try_from(fourfold::system::config::Config::default()).unwrap();
    check_none("docs/operating.md leaves out", &unexplained_settings(&text, &all));
}

fn unexplained_settings(text: &str, all: &toml::Table) -> Vec<String> {
    let keys = all.iter().flat_map(|(section, keys)| {
        let keys = keys.as_table().into_iter().flat_map(toml::Table::keys);
        keys.map(move |key| format!("`{section}.{key}`"))
    });
    keys.filter(|name| !text.contains(name)).collect()
}

/// What files of `deploy/` ask for by a name that begins like our variables and is none of our settings: a name of the
/// site, say, from which settings are made.
const ASKED_FOR: &[&str] = &[
    "FOURFOLD_NAME",
    "FOURFOLD_ADDRESS",
    "FOURFOLD_CERTIFICATE",
    "FOURFOLD_DATABASE_PASSWORD",
    "FOURFOLD_DATA",
    "FOURFOLD_BINARY",
    "FOURFOLD_MAINTAINER",
];

#[test]
fn deployments_set_what_there_is_to_set() {
    let all = toml::Table::try_from(fourfold::system::config::Config::default()).unwrap();
    let files: Vec<(String, String)> =
        tracked().into_iter().filter(|(path, _)| path.starts_with("deploy/")).collect();
    assert!(files.is_empty() || files.iter().any(|(_, text)| !variables(text).is_empty()));
    check_none("there is no such setting", &unknown_variables(&files, &all));
}

/// Our variables that a text names.
fn variables(text: &str) -> BTreeSet<&str> {
    let is_of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    text.split(|letter| !is_of_name(letter)).filter(|word| word.starts_with("FOURFOLD_")).collect()
}

fn unknown_variables(files: &[(String, String)], all: &toml::Table) -> Vec<String> {
    let sections = all.iter().filter_map(|(section, keys)| Some((section, keys.as_table()?)));
    let known: BTreeSet<String> = sections
        .flat_map(|(section, keys)| {
            // Those of the server go without their section.
            let prefix = if section == "server" { String::new() } else { format!("{section}_") };
            keys.keys().map(move |key| format!("FOURFOLD_{prefix}{key}").to_uppercase())
        })
        .collect();
    let is_unknown = |name: &&str| !known.contains(*name) && !ASKED_FOR.contains(name);
    let of_file = |(path, text): &(String, String)| -> Vec<String> {
        variables(text).into_iter().filter(is_unknown).map(|name| format!("{path}: {name}")).collect()
    };
    files.iter().flat_map(of_file).collect()
}

#[test]
fn a_variable_that_sets_nothing_is_named() {
    let all = toml::from_str("[server]\nlisten = 1\n[cluster]\nbus = 2\n").unwrap();
    let files =
        [("deploy/a".to_owned(), "FOURFOLD_LISTEN, FOURFOLD_CLUSTER_BUS=1 FOURFOLD_BUS: 2".to_owned())];
    assert_eq!(unknown_variables(&files, &all), ["deploy/a: FOURFOLD_BUS"]);
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
    let mut said = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::ClientMessage).to_value(), &mut said);
    names(&schemars::schema_for!(fourfold::protocol::ServerMessage).to_value(), &mut said);
    assert!(said.contains("hello") && said.contains("stale_ply"), "the schema has another form now");
    check_none("docs/protocol.md leaves out", &unsaid(&text, &said));
}

/// The names that are no words of the text.
fn unsaid(text: &str, names: &BTreeSet<String>) -> Vec<String> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    names.iter().filter(|name| !words.contains(name.as_str())).cloned().collect()
}

#[test]
fn the_page_knows_every_word_of_the_server() {
    let types = fs::read_to_string(root().join("web/types/protocol.d.ts")).unwrap();
    let mut said = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::ServerMessage).to_value(), &mut said);
    // Refusals have a code among many; the page looks up those that people meet.
    let mut codes = BTreeSet::new();
    names(&schemars::schema_for!(fourfold::protocol::error::ErrorCode).to_value(), &mut codes);
    check_none("web/types/protocol.d.ts leaves out", &unsaid(&types, &(&said - &codes)));
}

#[test]
fn links_between_documents_lead_somewhere() {
    check_none("links lead nowhere", &broken_links(&root()));
}

/// Links of the documents to files that are not there.
fn broken_links(root: &Path) -> Vec<String> {
    documents(root).flat_map(|path| broken_links_of(&path)).collect()
}

/// The documents in the folder and in its `docs`.
fn documents(root: &Path) -> impl Iterator<Item = PathBuf> {
    let in_folder =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let paths = in_folder(root).chain(in_folder(&root.join("docs")));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"))
}

fn broken_links_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let is_broken = |target: &&str| {
        let file = target.split('#').next().unwrap_or_default();
        !file.is_empty() && !file.contains("://") && !path.parent().unwrap().join(file).exists()
    };
    targets.filter(is_broken).map(|target| format!("{}: {target}", path.display())).collect()
}

#[test]
fn files_that_documents_name_are_there() {
    check_none("documents name what is gone", &gone_paths(&root()));
}

/// Folders whose files documents name from the root.
const NAMED_FOLDERS: &[&str] =
    &["arena", "benches", "bots", "config", "docs", "engine", "migrations", "scripts", "src", "tests", "web"];

fn gone_paths(root: &Path) -> Vec<String> {
    documents(root).flat_map(|document| gone_paths_of(root, &document)).collect()
}

/// What stands between backticks and begins like a path, unless it stands for many: `src/NAME.rs`, `src/a*.rs`.
fn gone_paths_of(root: &Path, document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).unwrap();
    let is_path = |word: &&str| {
        let folder = word.split_once('/').map_or("", |(folder, _)| folder);
        NAMED_FOLDERS.contains(&folder) && !word.contains(['*', ' ', '\n']) && !word.contains("NAME")
    };
    let is_gone = |word: &&str| !root.join(word).exists() && !root.join(format!("{word}.rs")).exists();
    let gone = text.split('`').skip(1).step_by(2).filter(is_path).filter(is_gone);
    gone.map(|word| format!("{}: {word}", document.display())).collect()
}

mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found() {
        let home = ["/ho", "me/ada/fourfold"].concat();
        let files = [("docs/a.md".to_owned(), home), ("docs/b.md".to_owned(), "/homely".to_owned())];
        assert_eq!(named(&files), [format!("docs/a.md has {}", ["/ho", "me/"].concat())]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        fs::write(root.path().join("README.md"), "[a](docs/a.md#top) [b](https://b.example/)").unwrap();
        fs::write(root.path().join("docs/a.md"), "[b](../README.md) [c](c.md) [d](#top)").unwrap();
        let broken = broken_links(root.path());
        assert!(matches!(&broken[..], [one] if one.ends_with("a.md: c.md")), "{broken:?}");
    }

    #[test]
    fn a_path_that_leads_nowhere_is_found() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        fs::write(root.path().join("src/a.rs"), "").unwrap();
        let text = "`src/a.rs` `src/a` `src/NAME.rs` `src/*.rs` `web or src/b`, but `src/b.rs`";
        fs::write(root.path().join("README.md"), text).unwrap();
        let gone = gone_paths(root.path());
        assert!(matches!(&gone[..], [one] if one.ends_with("README.md: src/b.rs")), "{gone:?}");
    }

    #[test]
    fn a_setting_or_a_word_that_is_not_explained_is_found() {
        let all: toml::Table = "[a]\nb = 1\nc = 2".parse().unwrap();
        assert_eq!(unexplained_settings("`a.b` is one, a.c two", &all), ["`a.c`"]);
        let names = ["said", "said_not"].map(str::to_owned).into();
        assert_eq!(unsaid("What is said.", &names), ["said_not"]);
    }

    #[test]
    fn the_words_of_a_schema_are_its_properties_constants_and_choices() {
        let schema =
            serde_json::json!({"properties": {"a": {"const": "b"}, "c": {"items": {"enum": ["d", 1]}}}});
        let mut said = BTreeSet::new();
        names(&schema, &mut said);
        assert_eq!(Vec::from_iter(said), ["a", "b", "c", "d"]);
    }
}
