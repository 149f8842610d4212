//! An arena on a database server: the same games, also when the server is killed under them.

#[path = "../../src/testing/postgres.rs"]
mod server;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use self::server::PostgresServer;
use super::storage::{rows_of, said};
use super::{Daemon, check_failure, fourfold, text};

/// How long games go on before the server is killed, and how long it is away: longer than a pair of players waits for a
/// game that it was promised before it asks again, which must do no harm.
const BEFORE: Duration = Duration::from_secs(2);
const AWAY: Duration = Duration::from_secs(4);

/// The daemon's games alone, and none of the house's.
const QUIET: &[(&str, &str)] =
    &[("FOURFOLD_LEARNING_ENABLED", "false"), ("FOURFOLD_JUDGING_ENABLED", "false")];

#[test]
#[expect(clippy::disallowed_methods, reason = "processes play meanwhile, which know no other time")]
fn games_outlive_a_killed_database_server() {
    let Some(server) = PostgresServer::start() else { return };
    let url = server.new_url();
    let daemon = Daemon::start_in(tempfile::tempdir().unwrap(), &["--storage-url", &url], QUIET);
    let load =
        ["load", "--url", &daemon.url, "--games", "40", "--connections", "8", "--think-ms", "20", "--json"];
    let playing = fourfold(&load).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(BEFORE);
    server.kill();
    thread::sleep(AWAY);
    server.restart();
    let output = playing.wait_with_output().unwrap();
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_eq!((&report["games"], &report["errors"]), (&40.into(), &serde_json::json!({})), "{report}");
    let longest = report["ack_ms"]["max"].as_f64().or_else(|| report["ack_max_ms"].as_f64());
    println!("the longest wait for an acknowledgement: {longest:?} ms");

    // Through the daemon, which has the store, and without it.
    check_games(&mut daemon.command(&["games", "export"]));
    daemon.signal("-TERM");
    let data = tempfile::tempdir().unwrap();
    let (code, _, errors) = daemon.wait();
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("the database is reached again"), "nothing was cut: {errors}");
    let command = |arguments: &[&str]| {
        let mut command = fourfold(arguments);
        command.arg("--data").arg(data.path()).args(["--storage-url", &url]);
        command
    };
    check_games(&mut command(&["games", "export"]));
    let verified = command(&["games", "verify"]).output().unwrap();
    assert!(text(&verified.stdout).contains("everything agrees"), "{}", text(&verified.stdout));
}

/// All forty of them, each once.
#[track_caller]
fn check_games(export: &mut std::process::Command) {
    let exported = export.output().unwrap();
    let lines = text(&exported.stdout).lines();
    let ids = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string());
    let ids: std::collections::BTreeSet<String> = ids.collect();
    assert_eq!((ids.len(), text(&exported.stdout).lines().count()), (40, 40), "{}", text(&exported.stderr));
}

#[test]
fn a_server_that_cannot_be_used_has_a_code_and_no_password_is_told() {
    let data = tempfile::tempdir().unwrap();
    let serve = |url: &str| {
        let mut command = fourfold(&["serve", "--log", "off", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data.path()).env("FOURFOLD_METRICS_ENABLED", "false").env("FOURFOLD_STORAGE_URL", url);
        command
    };
    for (url, code, message) in [
        ("mysql://ada:hunter2@localhost/arena", 2, "must begin with postgres://"),
        ("postgres://ada:hunter2@localhost", 2, "names no database"),
        ("postgres://ada:hunter2@localhost/arena?sslmode=verify-full", 2, "sslmode"),
        (
            "postgres://ada:hunter2@127.0.0.1:1/arena",
            69,
            "postgres://ada@127.0.0.1:1/arena cannot be reached",
        ),
    ] {
        check_failure(&mut serve(url), code, message);
        let told = serve(url).output().unwrap();
        assert!(!text(&told.stderr).contains("hunter2"), "{}", text(&told.stderr));
    }
    let Some(server) = PostgresServer::start() else { return };
    check_failure(&mut serve(&server.server_url("nowhere")), 69, "\"nowhere\" does not exist");
    let foreign = server.new_url();
    server.execute("CREATE TABLE arena0.recipe (id INT)");
    check_failure(&mut serve(&foreign), 65, "tables of something else");
}

/// Somebody whom the server lets in with the right password alone, and who may make nothing there.
const STRANGER: &str = "
CREATE ROLE stranger LOGIN PASSWORD 'tea and biscuits';
GRANT USAGE ON SCHEMA arena0 TO stranger;
DO $$ BEGIN
    EXECUTE format(
        'COPY (VALUES (''local all stranger scram-sha-256''), (''local all all trust'')) TO %L',
        current_setting('hba_file')
    );
END $$";

#[test]
fn a_wrong_password_and_missing_rights_are_told_apart_and_no_password_is_told() {
    let Some(server) = PostgresServer::start() else { return };
    let data = tempfile::tempdir().unwrap();
    let url = server.new_url();
    server.new_url();
    server.execute(STRANGER);
    // It reads who may enter when it starts.
    server.kill();
    server.restart();
    let strangers = |password: &str| url.replace("fourfold@", &format!("stranger:{password}@"));
    for (url, code, message) in [
        (strangers("hunter2"), 69, "password authentication failed for user \"stranger\""),
        (strangers("tea%20and%20biscuits"), 69, "refuses: permission denied for schema arena0"),
        (strangers("tea%20and%20biscuits").replace("arena0", "arena1"), 69, "no schema has been selected"),
    ] {
        let mut serve = fourfold(&["serve", "--log", "off", "--listen", "127.0.0.1:0", "--data"]);
        serve.arg(data.path()).env("FOURFOLD_METRICS_ENABLED", "false").env("FOURFOLD_STORAGE_URL", url);
        check_failure(&mut serve, code, message);
        let told = serve.output().unwrap();
        let told = text(&told.stderr);
        assert!(!told.contains("hunter2") && !told.contains("biscuits"), "{told}");
    }
}

/// The lines of `docs/operating.md` after the server is there: tables made, checked, dumped, and put into another one.
#[test]
fn what_pg_dump_copies_is_the_same_arena_in_another_database() {
    let Some(server) = PostgresServer::start() else { return };
    for database in ["arena", "other"] {
        server.execute(&format!("CREATE DATABASE {database} ENCODING UTF8 TEMPLATE template0"));
    }
    let (arena, other) = (server.server_url("arena"), server.server_url("other"));
    let data = tempfile::tempdir().unwrap();
    said(&mut migrate(used_arena().path(), &arena));
    let verified =
        |url: &str| said(fourfold(&["games", "verify", "--storage-url", url, "--data"]).arg(data.path()));
    let before = verified(&arena);
    assert!(before.contains("everything agrees") && !before.starts_with("0 finished"), "{before}");

    let dump = data.path().join("arena.dump");
    said(PostgresServer::program("pg_dump").args(["--format", "custom", "--file"]).arg(&dump).arg(&arena));
    said(PostgresServer::program("pg_restore").args(["--no-owner", "--dbname", &other]).arg(&dump));
    assert_eq!(verified(&other), before);
    // Games go on in the copy, with keys of their own.
    let daemon = Daemon::start_in(tempfile::tempdir().unwrap(), &["--storage-url", &other], QUIET);
    said(fourfold(&["load", "--games", "2", "--connections", "2", "--url"]).arg(&daemon.url));
    let verified = said(&mut daemon.command(&["games", "verify"]));
    assert!(verified.contains("everything agrees") && verified != before, "{verified}");
}

/// An arena that has been used, as it is kept for comparisons.
fn used_arena() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/arena/fourfold.db.gz");
    let unpacked = Command::new("gzip").arg("-dc").arg(packed).output().unwrap();
    fs::write(directory.path().join("fourfold.db"), unpacked.stdout).unwrap();
    directory
}

fn migrate(from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Command {
    let mut command = fourfold(&["migrate"]);
    command.arg(from).arg(to);
    command
}

#[test]
fn an_arena_moves_to_a_server_and_back() {
    let Some(server) = PostgresServer::start() else { return };
    let (url, source, back) = (server.new_url(), used_arena(), tempfile::tempdir().unwrap());
    let there = said(&mut migrate(source.path(), &url));
    assert!(there.contains("everything agrees") && !there.starts_with("0 rows"), "{there}");
    check_failure(&mut migrate(source.path(), &url), 65, "holds an arena already");
    let again = said(&mut migrate(&url, back.path()));
    assert_eq!(there.lines().take(2).collect::<Vec<_>>(), again.lines().take(2).collect::<Vec<_>>());
    let (before, after) = (source.path().join("fourfold.db"), back.path().join("fourfold.db"));
    assert_eq!(rows_of(&before), rows_of(&after));
    check_failure(&mut migrate(&url, back.path()), 73, "there is a database");

    // What was moved can be gone on with: new keys do not meet old ones.
    let data = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(data, &["--storage-url", &url], QUIET);
    let played = said(fourfold(&["load", "--games", "4", "--connections", "2", "--url"]).arg(&daemon.url));
    assert!(played.contains('4'), "{played}");
    let verified = said(&mut daemon.command(&["games", "verify"]));
    assert!(verified.contains("everything agrees"), "{verified}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a process is killed after some time, whatever it does then")]
fn a_move_that_was_killed_is_gone_on_with_and_nobody_takes_half_an_arena() {
    let Some(server) = PostgresServer::start() else { return };
    let (url, source) = (server.new_url(), used_arena());
    let mut halves = 0;
    for wait_ms in (0..).step_by(50) {
        let mut moving =
            migrate(source.path(), &url).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(wait_ms));
        // It may have ended by itself.
        let _ = moving.kill();
        moving.wait().unwrap();
        let data = tempfile::tempdir().unwrap();
        let mut verify = fourfold(&["games", "verify", "--storage-url", &url, "--data"]);
        let verified = verify.arg(data.path()).output().unwrap();
        let (found, error) = (text(&verified.stdout), text(&verified.stderr));
        match verified.status.code() {
            Some(65) => {
                assert!(error.contains("only a part of an arena"), "{error}");
                halves += 1;
            }
            // Killed before anything was there.
            Some(0) if found.starts_with("0 finished") => {}
            Some(0) => break,
            code => panic!("{code:?}: {error}"),
        }
    }
    assert!(halves > 0, "never killed in the middle");
    let data = tempfile::tempdir().unwrap();
    let verified = said(fourfold(&["games", "verify", "--storage-url", &url, "--data"]).arg(data.path()));
    assert!(verified.contains("everything agrees"), "{verified}");
}

#[test]
fn a_server_is_reached_over_tls_if_its_certificate_is_trusted() {
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name);
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    // Given back at once; hardly anybody takes it meanwhile.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = PostgresServer::start_with_tls(port, &read("server.pem"), &read("server.key"));
    let Some(_server) = server else { return };
    let data = tempfile::tempdir().unwrap();
    let verify = |host: &str, authority: &Path| {
        let url = format!("postgres://fourfold@{host}:{port}/postgres?sslmode=require");
        let mut command = fourfold(&["games", "verify", "--storage-url", &url, "--data"]);
        command.arg(data.path()).env("SSL_CERT_FILE", authority);
        command
    };
    let verified = said(&mut verify("127.0.0.1", &file("ca.pem")));
    assert!(verified.contains("everything agrees"), "{verified}");
    check_failure(&mut verify("localhost", &file("ca.pem")), 69, "certificate");
    check_failure(&mut verify("127.0.0.1", &file("nobody.pem")), 69, "SSL_CERT_FILE");
}
