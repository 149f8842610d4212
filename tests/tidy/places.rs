//! What only some places may know: formats, libraries, other packages, locks.

use crate::breaches::check_none;
use crate::pure::told;
use crate::source::Source;
use crate::tree::Tree;

const JSON: &[&str] = &["serde_json::"];

/// Where text of other programs comes in or goes out.
const EDGES: &[&str] = &[
    "arena/src/log",
    "arena/src/plan",
    "arena/src/program/dialect/kaggle",
    "arena/src/program/transcript",
    "arena/src/rate",
    "src/app/cli",
    "src/app/laboratory",
    "src/app/terminal/output",
    "src/client",
    "src/cluster/packet",
    "src/cluster/thinking",
    "src/http",
    "src/operations/push",
    "src/operations/webhooks",
    "src/protocol",
    "src/storage/records",
];

const SQL: &[&str] = &["rusqlite::", "tokio_postgres::", "deadpool_postgres::"];
const SQL_PLACES: &[&str] = &["src/storage/postgres", "src/storage/rows", "src/storage/sqlite"];

const COMMAND_LINE: &[&str] = &[
    "clap::",
    "clap_complete::",
    "clap_mangen::",
    "anyhow::",
    "indicatif::",
    "console::",
    "crossterm::",
    "ratatui::",
];
const COMMAND_LINE_PLACES: &[&str] = &["src/app/cli", "src/app/laboratory", "src/app/terminal"];

/// The wire is for those who speak it. Below `play` it is known for the games as they are published; all else there has
/// words of its own.
const WIRE: &[&str] = &["crate::protocol::"];
const WIRE_PLACES: &[&str] = &[
    "src/app",
    "src/client",
    "src/competition",
    "src/http",
    "src/lobby",
    "src/play",
    "src/session",
    "src/storage/records",
    "src/study/learning/lesson_history",
];

/// State that several threads change. Elsewhere state has one owner, an actor, and the rest sends messages.
const LOCKS: &[&str] = &["Mutex", "RwLock"];
const LOCK_PLACES: &[&str] = &[
    "arena/src/runner.rs",
    "arena/src/runner/seats.rs",
    "arena/src/suite.rs",
    "arena/src/watchdog.rs",
    "src/accounts/blocks.rs",
    "src/accounts/idle_guests.rs",
    "src/accounts/operators.rs",
    "src/accounts/stored_guests.rs",
    "src/analysis/background.rs",
    "src/analysis/compute/meter.rs",
    "src/analysis/values.rs",
    "src/app/cli/solve/stream.rs",
    "src/app/laboratory/book/build.rs",
    "src/app/terminal/load.rs",
    "src/client/load/report.rs",
    "src/cluster/bus/memory.rs",
    "src/cluster/port.rs",
    "src/cluster/thinking.rs",
    "src/competition/classes.rs",
    "src/competition/correspondence.rs",
    "src/competition/duels.rs",
    "src/competition/matchmaker/troubles.rs",
    "src/competition/self_test/trial.rs",
    "src/competition/tournament/board.rs",
    "src/http/connection_limits.rs",
    "src/http/preview.rs",
    "src/http/relay/way.rs",
    "src/http/slow_peer.rs",
    "src/operations/mail.rs",
    "src/play/feeds.rs",
    "src/play/file_lessons.rs",
    "src/play/host.rs",
    "src/play/host/waiting.rs",
    "src/play/house.rs",
    "src/play/house_program.rs",
    "src/play/presence/outbox.rs",
    "src/play/presence/registry.rs",
    "src/play/presence/session.rs",
    "src/play/room/directory.rs",
    "src/play/room/remote/gateway.rs",
    "src/play/room/remote/owner.rs",
    "src/session/departed.rs",
    "src/session/line_feed.rs",
    "src/session/wire.rs",
    "src/storage/attempts.rs",
    "src/storage/finished.rs",
    "src/storage/memory.rs",
    "src/storage/postgres.rs",
    "src/storage/postgres/lookups.rs",
    "src/storage/sqlite.rs",
    "src/storage/sqlite/marker.rs",
    "src/storage/sqlite/readers.rs",
    "src/study/explorer.rs",
    "src/study/learning/view.rs",
    "src/study/puzzles/service.rs",
    "src/system/pauses.rs",
    "src/system/shares.rs",
    "src/system/shares/turns.rs",
];

/// What a simulation gives from its seed comes from `model::world`, for the whole daemon. The command line and clients
/// are in no simulation; neither are the threads that think in the background, nor SQLite.
const WORLD: &[&str] = &["rand::rng(", "rand::rng::", "SystemTime", "spawn_blocking"];
const WORLD_PLACES: &[&str] = &[
    "src/app/terminal/seed.rs",
    "src/client",
    "src/model/time.rs",
    "src/model/world.rs",
    "src/storage/sqlite",
];

#[test]
fn time_chance_and_threads_come_from_one_place() {
    let breaches = outside(Tree::repository(), WORLD_PLACES, WORLD);
    let ours = breaches.into_iter().filter(|breach| breach.starts_with("src/")).collect::<Vec<_>>();
    check_none("what comes from elsewhere cannot be simulated", &ours);
}

#[test]
fn json_stays_at_the_edges() {
    check_none("only the edges know JSON", &outside(Tree::repository(), EDGES, JSON));
}

#[test]
fn sql_stays_in_one_place() {
    check_none("only the back ends know SQL", &outside(Tree::repository(), SQL_PLACES, SQL));
}

#[test]
fn the_wire_is_known_where_it_is_spoken() {
    check_none("the domain has words of its own", &outside(Tree::repository(), WIRE_PLACES, WIRE));
}

#[test]
fn command_line_libraries_stay_in_the_command_line() {
    let breaches = outside(Tree::repository(), COMMAND_LINE_PLACES, COMMAND_LINE);
    check_none("only the command line knows these", &breaches);
}

#[test]
fn state_is_shared_in_few_places() {
    check_none("state has one owner", &outside(Tree::repository(), LOCK_PLACES, LOCKS));
}

#[test]
fn each_package_knows_only_those_below_it() {
    let tree = Tree::repository();
    check_none(
        "the engine is at the bottom",
        &inside(tree, "engine/src", &["fourfold_bots", "fourfold_arena", "fourfold::"]),
    );
    check_none(
        "bots see a position and a budget",
        &inside(
            tree,
            "bots/src",
            &["fourfold::", "fourfold_arena", "tokio::", "std::net", "serde_json::", "rusqlite::"],
        ),
    );
    check_none(
        "matches need no daemon",
        &inside(tree, "arena/src", &["fourfold::", "tokio::", "std::net", "rusqlite::"]),
    );
}

#[test]
fn our_code_forbids_unsafe() {
    let tree = Tree::repository();
    for path in ["src/lib.rs", "src/main.rs", "bots/src/lib.rs", "arena/src/lib.rs"] {
        assert!(has(tree, path, "#![forbid(unsafe_code)]"), "{path}");
    }
    // The engine may in one file: a prefetch has no safe form.
    assert!(has(tree, "engine/src/lib.rs", "#![deny(unsafe_code)]"), "engine/src/lib.rs");
    let breaches = outside(tree, &["engine/src/solver/processor"], &["unsafe {"]);
    check_none("only the processor's module is unsafe", &breaches);
}

fn has(tree: &Tree, path: &str, text: &str) -> bool {
    tree.source(path).is_some_and(|source| source.text.contains(text))
}

/// Files outside the places that have one of the words, and places without one: they can be left off the list.
fn outside(tree: &Tree, places: &[&str], words: &[&str]) -> Vec<String> {
    let knowing = tree.product().filter_map(|source| Some((source, known(source, words)?)));
    let knowing: Vec<(&Source, &str)> = knowing.collect();
    let is_inside = |source: &Source| places.iter().any(|place| source.is_in(place));
    let breaches = knowing.iter().filter(|(source, _)| !is_inside(source));
    let breaches = breaches.map(|(source, word)| format!("{} has {word}", source.path));
    let idle = places.iter().filter(|place| !knowing.iter().any(|(source, _)| source.is_in(place)));
    breaches.chain(idle.map(|place| format!("{place} has none of {words:?} now: correct the list"))).collect()
}

/// Files of the place that have one of the words.
fn inside(tree: &Tree, place: &str, words: &[&str]) -> Vec<String> {
    let own = tree.product().filter(|source| source.is_in(place));
    own.filter_map(|source| Some(format!("{} has {}", source.path, known(source, words)?))).collect()
}

fn known<'w>(source: &Source, words: &[&'w str]) -> Option<&'w str> {
    let code = told(source);
    words.iter().find(|word| code.contains(**word)).copied()
}

mod tests {
    use super::*;
    use crate::breaches::check;

    const LIB: (&str, &str) = ("src/lib.rs", "mod rules; mod edge;");
    const EDGE: (&str, &str) = (
        "src/edge.rs",
        "use serde_json::Value; use crate::protocol::X; fn f(pool: rusqlite::Pool, x: Mutex<u8>) { clap::f(rand::rng()) }",
    );

    #[track_caller]
    fn check_outside(words: &[&str], code: &str, expected: &[&str]) {
        check(|tree| outside(tree, &["src/edge"], words), &[LIB, EDGE, ("src/rules.rs", code)], expected);
    }

    #[test]
    fn a_library_in_the_wrong_place_is_found() {
        check_outside(JSON, "fn f() { serde_json::from_str(text) }", &["src/rules.rs has serde_json::"]);
        check_outside(JSON, "// serde_json::from_str", &[]);
        check_outside(JSON, "use {serde_json as json};", &["src/rules.rs has serde_json::"]);
        check_outside(SQL, "use rusqlite::{Row, params};", &["src/rules.rs has rusqlite::"]);
        check_outside(COMMAND_LINE, "#[derive(clap::Args)]\nstruct A;", &["src/rules.rs has clap::"]);
        check_outside(WIRE, "use crate::{model, protocol::Hello};", &["src/rules.rs has crate::protocol::"]);
        check_outside(WORLD, "fn f() { rand::rng().random() }", &["src/rules.rs has rand::rng("]);
        check_outside(LOCKS, "struct A { a: Mutex<u8> }", &["src/rules.rs has Mutex"]);
        check_outside(JSON, "#[cfg(test)]\nmod tests { use serde_json::json; }", &[]);
    }

    #[test]
    fn a_place_that_needs_its_permission_no_more_is_found() {
        let files = [LIB, EDGE, ("src/rules.rs", "")];
        check(|tree| outside(tree, &["src/edge", "src/rules"], JSON), &files, &["src/rules has none of"]);
    }

    #[test]
    fn a_package_that_knows_one_above_it_is_found() {
        let files = [("bots/src/lib.rs", "use fourfold_arena::Plan;")];
        check(
            |tree| inside(tree, "bots/src", &["fourfold_arena"]),
            &files,
            &["bots/src/lib.rs has fourfold_arena"],
        );
    }
}
