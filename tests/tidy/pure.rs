//! What is pure takes time and chance as arguments and does no input or output, so it is tested without a runtime.

use crate::breaches::check_none;
use crate::imports::uses;
use crate::source::Source;
use crate::tree::Tree;

/// The pure places, each with all that is below it.
const PURE: &[&str] = &[
    "arena/src/course",
    "arena/src/fair_play",
    "arena/src/format",
    "arena/src/plan",
    "arena/src/program/dialect",
    "arena/src/program/spec",
    "arena/src/report",
    "arena/src/results",
    "arena/src/shard",
    "arena/src/stats",
    "arena/src/time",
    "bots/src",
    "engine/src",
    "src/app/cli/play/tui/game",
    "src/app/cli/play/tui/pace",
    "src/app/server/node/turn",
    "src/client/address",
    "src/cluster/distance",
    "src/cluster/links",
    "src/cluster/orders",
    "src/cluster/packet",
    "src/cluster/succession",
    "src/competition/matchmaker/budget",
    "src/competition/matchmaker/cadence",
    "src/competition/matchmaker/calm",
    "src/competition/matchmaker/choose",
    "src/competition/matchmaker/health",
    "src/competition/matchmaker/meetings",
    "src/competition/fair_play/habits",
    "src/competition/fair_play/look_back",
    "src/competition/leaderboard/rating_sums",
    "src/competition/leaderboard/standings",
    "src/competition/leaderboard/activity",
    "src/competition/leaderboard/habits",
    "src/competition/arena_score",
    "src/competition/correspondence/ratings",
    "src/competition/classes/classroom",
    "src/competition/tournament/arena",
    "src/competition/tournament/pairing",
    "src/competition/tournament/progress",
    "src/lobby/acceptance",
    "src/lobby/challenge",
    "src/lobby/pairing",
    "src/lobby/pool",
    "src/lobby/tv",
    "src/model",
    "src/operations/mail/letter",
    "src/operations/outgoing/network",
    "src/operations/push/notice",
    "src/operations/turns",
    "src/play/correspondence",
    "src/play/host/aborts",
    "src/play/presence/session_state",
    "src/play/reasons",
    "src/play/room/lag",
    "src/play/room/pacing",
    "src/play/room/state",
    "src/protocol",
    "src/session/heartbeat",
    "src/session/rate_limit",
    "src/storage/filter",
    "src/storage/live",
    "src/storage/refold",
    "src/storage/settle",
    "src/storage/words",
    "src/study/learning/lesson",
    "src/study/learning/practice",
    "src/study/lessons",
    "src/study/puzzles/attempt",
    "src/study/puzzles/choosing",
    "src/study/puzzles/grading",
    "src/study/puzzles/mining",
    "src/study/puzzles/runs",
    "src/study/puzzles/shipped",
    "src/study/puzzles/theme_index",
    "src/study/puzzles/themes",
    "src/study/puzzles/trial",
    "src/system/shares/credits",
    "src/system/shares/ledger",
    "src/system/shares/line",
    "src/system/supervision/relapses",
];

const IMPURE: &[&str] = &[
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "UnixMillis::now",
    "clock::now",
    ".elapsed()",
    "rand::rng(",
    "rand::rng::",
    "world::chance",
    "world::on_thread",
    "thread_rng",
    "tokio::",
    ".await",
    "std::env",
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::process",
];

/// Files with one impure word, and why they may have it.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("src/model/clock.rs", "Instant::now", "`now`, which is for tasks: rules are told the time"),
    ("src/model/clock.rs", "tokio::", "the same `now`: tests pause the runtime's clock"),
    ("src/model/time.rs", "SystemTime", "`UnixMillis::now`, which is for tasks"),
    ("src/model/world.rs", ".await", "`on_thread` in a simulation, where jobs take a while and no thread"),
    ("src/model/world.rs", ".elapsed()", "the time on a simulated wall"),
    ("src/model/world.rs", "Instant::now", "the same"),
    ("src/model/world.rs", "rand::rng(", "`chance`, which is for tasks"),
    ("src/model/world.rs", "tokio::", "the runtime's clock and its threads"),
];

#[test]
fn pure_parts_take_time_and_chance_from_outside() {
    let breaches = impure(Tree::repository(), PURE, EXCEPTIONS);
    check_none("pure parts take time and chance as arguments", &breaches);
}

#[test]
fn what_calls_itself_pure_is_listed() {
    check_none("it is pure, so the rule should hold it to that", &unlisted(Tree::repository(), PURE));
}

/// Impure words in pure places, and entries of the lists that mean nothing any more.
fn impure(tree: &Tree, pure: &[&str], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let found: Vec<(&str, &str)> = pure.iter().flat_map(|place| impure_below(tree, place)).collect();
    let is_allowed =
        |path: &str, word: &str| exceptions.iter().any(|(at, what, _)| (*at, *what) == (path, word));
    let breaches = found.iter().filter(|(path, word)| !is_allowed(path, word));
    let breaches = breaches.map(|(path, word)| format!("{path} has {word}"));
    let gone = pure.iter().filter(|place| !tree.product().any(|source| source.is_in(place)));
    let gone = gone.map(|place| format!("{place} is gone: correct the list"));
    let idle = exceptions.iter().filter(|(path, word, _)| !found.contains(&(path, word)));
    let idle = idle.map(|(path, word, _)| format!("{path} has no {word} now: correct the list"));
    breaches.chain(gone).chain(idle).collect()
}

fn impure_below<'t>(tree: &'t Tree, place: &str) -> Vec<(&'t str, &'static str)> {
    let sources = tree.product().filter(|source| source.is_in(place));
    let words = |source: &'t Source| {
        let code = told(source);
        IMPURE.iter().filter(move |word| code.contains(**word)).map(|word| (source.path.as_str(), *word))
    };
    sources.flat_map(words).collect()
}

/// The code, and its imports one by one, so that `use std::{fs, io}` hides nothing.
pub(crate) fn told(source: &Source) -> String {
    let imports = uses(&source.product).into_iter().map(|each| each.path.join("::") + "::");
    imports.fold(source.product.clone(), |told, import| told + "\n" + &import)
}

/// Files whose first comment says that they are pure, but for the heads of folders that say so of their children.
fn unlisted(tree: &Tree, pure: &[&str]) -> Vec<String> {
    let is_listed = |source: &Source| pure.iter().any(|place| source.is_in(place));
    let speaks_of_children = |source: &Source| {
        let folder = source.path.trim_end_matches(".rs").trim_end_matches("/lib");
        pure.iter().any(|place| place.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let found = tree.product().filter(|source| calls_itself_pure(source));
    let found = found.filter(|source| !is_listed(source) && !speaks_of_children(source));
    found.map(|source| format!("{} calls itself pure: list it", source.path)).collect()
}

fn calls_itself_pure(source: &Source) -> bool {
    let head = source.text.lines().map_while(|line| line.strip_prefix("//!"));
    head.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()))
        .any(|word| word.eq_ignore_ascii_case("pure"))
}

mod tests {
    use super::*;
    use crate::breaches::check;

    #[track_caller]
    fn check_impure(path: &str, code: &str, expected: &[&str]) {
        let files = [("src/lib.rs", "mod rules;"), ("src/rules.rs", "mod table; mod tables;"), (path, code)];
        check(|tree| impure(tree, &["src/rules"], &[]), &files, expected);
    }

    #[test]
    fn an_impure_file_is_found_at_any_depth() {
        check_impure("src/rules/table.rs", "fn f(now: Instant) {}", &[]);
        check_impure("src/rules.rs", "fn f() { Instant::now(); }", &["src/rules.rs has Instant::now"]);
        check_impure("src/rules/table.rs", "use std::{fmt, fs};", &["src/rules/table.rs has std::fs"]);
        check_impure("src/rules/table.rs", "use tokio::{sync::mpsc, time};", &["has tokio::"]);
        check_impure("src/rules/table.rs", "async fn f() { g().await; }", &["has .await"]);
        check_impure("src/rules/table.rs", "// Not std::fs.\n#[cfg(test)]\nmod tests { use std::fs; }", &[]);
    }

    #[test]
    fn a_place_is_not_its_neighbour_of_a_longer_name() {
        let files = [("src/lib.rs", "mod rules; mod rules_of_house;"), ("src/rules.rs", "")];
        let files = [&files[..], &[("src/rules_of_house.rs", "use std::fs;")]].concat();
        check(|tree| impure(tree, &["src/rules"], &[]), &files, &[]);
    }

    #[test]
    fn an_exception_must_be_left_off_the_list_when_it_is_gone() {
        let exceptions = &[("src/rules.rs", "std::fs", "it reads")];
        let files = [("src/lib.rs", "mod rules;"), ("src/rules.rs", "use std::fs;")];
        check(|tree| impure(tree, &["src/rules"], exceptions), &files, &[]);
        let files = [("src/lib.rs", "mod rules;"), ("src/rules.rs", "fn f() {}")];
        check(|tree| impure(tree, &["src/rules"], exceptions), &files, &["src/rules.rs has no std::fs now"]);
        check(|tree| impure(tree, &["src/rules", "src/x"], &[]), &files, &["src/x is gone"]);
    }

    #[test]
    fn a_file_that_calls_itself_pure_must_be_listed() {
        let head = "//! How it ends: pure, time is an argument.\nfn f() {}";
        let files =
            [("src/lib.rs", "mod rules; mod ends;"), ("src/rules.rs", "//! [`table`] is pure.\nmod table;")];
        let files = [&files[..], &[("src/rules/table.rs", "//! Pure."), ("src/ends.rs", head)]].concat();
        check(|tree| unlisted(tree, &["src/rules/table", "src/ends"]), &files, &[]);
        check(|tree| unlisted(tree, &["src/rules/table"]), &files, &["src/ends.rs calls itself pure"]);
        check(|tree| unlisted(tree, &["src/ends"]), &files, &["src/rules.rs", "src/rules/table.rs"]);
    }
}
