//! What the fuzzers of `fuzz/` try to break, in short: their properties hold for all kept inputs and for what is like
//! them. Whatever a long run finds belongs into `fuzz/seeds/`, where this test finds it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[path = "../fuzz/properties/arena.rs"]
mod arena;
#[path = "../fuzz/properties/bot_line.rs"]
mod bot_line;
#[path = "../fuzz/properties/client_message.rs"]
mod client_message;
#[path = "../fuzz/properties/config.rs"]
mod config;
#[path = "../fuzz/properties/notation.rs"]
mod notation;
#[path = "../fuzz/properties/url.rs"]
mod url;

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Scripts against a whole arena: each takes some hundredths of a second.
const SCRIPTS: u32 = 40;

/// Texts for a reader: each takes no time.
const TEXTS: u32 = 2_000;

/// The kept inputs of a fuzzer.
fn seeds(fuzzer: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(fuzzer);
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()).collect()
}

/// A text with some of its letters replaced, left out or doubled.
fn damaged(text: String) -> impl Strategy<Value = String> {
    let damage = (any::<Index>(), prop_oneof![Just(None), any::<char>().prop_map(Some)], any::<bool>());
    prop::collection::vec(damage, 0..4).prop_map(move |damages| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, letter, doubled) in damages {
            if letters.is_empty() {
                break;
            }
            let at = at.index(letters.len());
            match letter {
                Some(letter) => letters[at] = letter,
                None if doubled => letters.insert(at, letters[at]),
                None => drop(letters.remove(at)),
            }
        }
        letters.into_iter().collect()
    })
}

/// What is like the kept inputs of a fuzzer, and what is not.
fn texts(fuzzer: &str) -> impl Strategy<Value = String> {
    prop_oneof![9 => select(seeds(fuzzer)).prop_flat_map(damaged), 1 => any::<String>()]
}

/// Lines of all kept scripts in another order, said by other clients, some of them damaged.
fn scripts() -> impl Strategy<Value = String> {
    let lines: Vec<String> = seeds("arena")
        .iter()
        .flat_map(|script| script.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let line = prop_oneof![8 => select(lines.clone()), 1 => select(lines).prop_flat_map(damaged)];
    let line = (0..10, line).prop_map(|(client, line)| {
        match line.strip_prefix(|first: char| first.is_ascii_digit()) {
            Some(said) => format!("{client}{said}"),
            None => line,
        }
    });
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig::with_cases(cases)
}

#[test]
fn every_kept_input_holds() {
    for script in &seeds("arena") {
        arena::hold(script);
    }
    for line in &seeds("bot_line") {
        bot_line::hold(("cmd:./bot", line));
    }
    for text in &seeds("client_message") {
        client_message::hold(text);
    }
    for text in &seeds("config") {
        config::hold(text);
    }
    for text in &seeds("notation") {
        notation::hold(("7x6", text));
    }
    for text in &seeds("url") {
        url::hold(text);
    }
}

proptest! {
    #![proptest_config(cases(SCRIPTS))]

    #[test]
    fn whatever_three_clients_say_the_arena_goes_on(script in scripts()) {
        arena::hold(&script);
    }
}

proptest! {
    #![proptest_config(cases(TEXTS))]

    #[test]
    fn messages_are_read_or_refused(text in texts("client_message")) {
        client_message::hold(&text);
    }

    #[test]
    fn lines_of_programs_are_read_or_refused(name in any::<String>(), line in texts("bot_line")) {
        bot_line::hold((&name, &line));
    }

    #[test]
    fn settings_that_are_read_can_be_written(text in texts("config")) {
        config::hold(&text);
    }

    #[test]
    fn games_and_positions_read_back_the_same(board in "[1-9]{1,2}x[1-9]{1,2}(x[1-9])?", text in texts("notation")) {
        notation::hold((&board, &text));
    }

    #[test]
    fn addresses_that_are_read_read_back_the_same(text in texts("url")) {
        url::hold(&text);
    }
}
