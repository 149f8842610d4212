//! The database as a whole, on real files: what is refused at the start, the check, copies, and a disk that is full.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;
use tempfile::TempDir;

use super::{Daemon, check_failure, fourfold, text};

/// How long to wait for what comes within a second or two on a machine that does nothing else.
const PATIENCE: Duration = Duration::from_mins(2);

const QUIET: &[(&str, &str)] =
    &[("FOURFOLD_LEARNING_ENABLED", "false"), ("FOURFOLD_JUDGING_ENABLED", "false")];

fn start() -> Daemon {
    Daemon::start_with(QUIET)
}

fn load(url: &str, games: &str) -> Command {
    fourfold(&["load", "--url", url, "--games", games, "--connections", "8", "--json"])
}

fn serve(data: &Path, arguments: &[&str]) -> Command {
    let mut command = fourfold(&["serve", "--log", "off", "--listen", "127.0.0.1:0"]);
    command.args(arguments).arg("--data").arg(data).env("FOURFOLD_METRICS_ENABLED", "false");
    command
}

fn on(data: &Path, arguments: &[&str]) -> Command {
    let mut command = fourfold(arguments);
    command.arg("--data").arg(data);
    command
}

/// What a command that succeeds prints.
#[track_caller]
pub(super) fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
    }
}

#[test]
fn a_database_that_is_gone_is_missed_until_an_empty_one_is_asked_for() {
    let mut daemon = start();
    daemon.signal("-TERM");
    let data = daemon.data();
    assert!(daemon.process.wait().unwrap().success());
    let directory = daemon.kill();
    fs::remove_file(data.join("fourfold.db")).unwrap();
    check_failure(&mut serve(&data, &[]), 66, "has a secret.key but no fourfold.db");
    check_failure(&mut serve(&data, &[]), 66, "name the server that keeps it with `--storage-url`");
    let mut create = on(&data, &["account", "create", "ada"]);
    check_failure(create.env("FOURFOLD_PASSWORD", "tea and biscuits"), 66, "no fourfold.db");
    check_failure(&mut on(&data, &["check"]), 66, "the server that keeps the arena with `--storage-url`");
    assert!(!data.join("fourfold.db").exists(), "nobody has made one");
    let daemon = Daemon::start_in(directory, &["--init"], QUIET);
    assert!(said(&mut daemon.command(&["check"])).contains("0 finished games"));
}

#[test]
fn a_daemon_whose_database_is_removed_acknowledges_nothing_more_and_ends() {
    let daemon = start();
    fs::remove_file(daemon.data().join("fourfold.db")).unwrap();
    let mut create = daemon.command(&["account", "create", "ada"]);
    assert!(!create.env("FOURFOLD_PASSWORD", "tea and biscuits").output().unwrap().status.success());
    let (status, _, log) = daemon.wait();
    assert_eq!(status, Some(74), "{log}");
    assert!(log.contains("fourfold.db was removed or replaced while it was in use"), "{log}");
}

#[test]
fn after_a_kill_a_log_without_content_is_refused_and_the_log_put_back_is_not() {
    let daemon = start();
    said(&mut load(&daemon.url, "10"));
    let data = daemon.data();
    let directory = daemon.kill();
    let log = data.join("fourfold.db-wal");
    let content = fs::read(&log).unwrap();
    for (damaged, message) in [(&content[..0], "is empty"), (&[0xa5; 64], "has a damaged header")] {
        fs::write(&log, damaged).unwrap();
        check_failure(&mut serve(&data, &[]), 65, message);
        check_failure(&mut on(&data, &["check"]), 65, message);
    }
    fs::remove_file(&log).unwrap();
    check_failure(&mut serve(&data, &[]), 65, "is missing");
    fs::write(&log, &content).unwrap();
    let checked = said(&mut on(&data, &["check"]));
    assert!(checked.contains("pages: sound") && checked.contains("10 finished games"), "{checked}");
    drop(directory);
}

#[test]
fn a_check_says_what_is_wrong() {
    let daemon = start();
    said(&mut load(&daemon.url, "5"));
    let checked = said(&mut daemon.command(&["check", "--json"]));
    assert!(checked.contains("\"pages\": []") || checked.contains("\"pages\":[]"), "{checked}");
    let data = daemon.data();
    let directory = daemon.kill();
    said(&mut on(&data, &["check"]));
    // The log of a finished game is gone.
    let sql = "DROP TRIGGER packed_log_is_not_deleted; \
               DELETE FROM packed_log WHERE game = (SELECT min(game) FROM packed_log)";
    change(&data.join("fourfold.db"), sql);
    let output = on(&data, &["check"]).output().unwrap();
    assert_eq!(output.status.code(), Some(65));
    assert!(text(&output.stdout).contains("the log does not end with an end"), "{}", text(&output.stdout));
    drop(directory);
}

/// Does to a database what nobody should.
fn change(database: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
}

#[test]
fn copies_made_under_load_restore_to_what_verifies() {
    let daemon = start();
    let copies = tempfile::tempdir().unwrap();
    let file = |n: usize| copies.path().join(format!("copy-{n}"));
    let mut playing = load(&daemon.url, "60").stdout(Stdio::piped()).spawn().unwrap();
    let mut made = Vec::new();
    while playing.try_wait().unwrap().is_none() || made.is_empty() {
        let path = file(made.len());
        let told = said(&mut daemon.command(&["backup", path.to_str().unwrap(), "--json"]));
        assert!(told.contains("sha256"), "{told}");
        made.push(path);
    }
    assert!(playing.wait().unwrap().success(), "all games were played to their ends meanwhile");
    for copy in [made.first().unwrap(), made.last().unwrap()] {
        let data = copies.path().join("restored");
        said(&mut on(&data, &["restore", copy.to_str().unwrap()]));
        let verified = said(&mut on(&data, &["games", "verify"]));
        assert!(verified.contains("everything agrees"), "{verified}");
        assert!(said(&mut on(&data, &["check"])).contains("pages: sound"));
        fs::remove_dir_all(&data).unwrap();
    }
    let first = made[0].to_str().unwrap();
    check_failure(&mut daemon.command(&["backup", first]), 1, "is there already");
    said(&mut daemon.command(&["backup", first, "--force"]));
    check_failure(&mut daemon.command(&["restore", first]), 75, "in use by");
    let inside = daemon.data().join("fourfold.db-wal");
    check_failure(&mut daemon.command(&["backup", inside.to_str().unwrap(), "--force"]), 2, "such names");
}

#[test]
fn what_is_no_whole_copy_is_not_restored() {
    let daemon = start();
    said(&mut load(&daemon.url, "3"));
    let copies = tempfile::tempdir().unwrap();
    let whole = copies.path().join("whole");
    said(&mut daemon.command(&["backup", whole.to_str().unwrap()]));
    let content = fs::read(&whole).unwrap();
    let data = copies.path().join("data");
    let bad = copies.path().join("bad");
    let changed = |offset: usize, bytes: &[u8]| {
        let mut changed = content.clone();
        changed[offset..offset + bytes.len()].copy_from_slice(bytes);
        changed
    };
    for (bytes, message) in [
        (content[..content.len() / 2].to_vec(), "does not end as a backup does"),
        (content[..content.len() - 1].to_vec(), "does not end as a backup does"),
        (changed(content.len() / 2, b"?!"), "its checksum is"),
        (changed(60, &9_999u32.to_be_bytes()), "has schema 9999"),
        (changed(68, &7u32.to_be_bytes()), "is not a Fourfold database"),
        (b"Dear diary".to_vec(), "is not a Fourfold database"),
        (Vec::new(), "is not a Fourfold database"),
    ] {
        fs::write(&bad, bytes).unwrap();
        check_failure(&mut on(&data, &["restore", bad.to_str().unwrap()]), 65, message);
        assert!(!data.join("fourfold.db").exists(), "{message}");
    }
    check_failure(&mut on(&data, &["restore", "/no/such/file"]), 66, "there is no file");
    let restore = ["restore", whole.to_str().unwrap()];
    said(&mut on(&data, &restore));
    check_failure(&mut on(&data, &restore), 73, "there is a database");
    let moved = said(on(&data, &restore).arg("--force"));
    assert!(moved.contains("fourfold.db.replaced-1"), "{moved}");
    assert!(data.join("fourfold.db.replaced-1").exists());
    assert!(said(&mut on(&data, &["check"])).contains("3 finished games"));
}

#[test]
fn a_kill_while_a_copy_is_made_leaves_none_or_a_whole_one() {
    let mut daemon = start();
    said(&mut load(&daemon.url, "20"));
    let copies = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let copy = copies.path().join(format!("copy-{round}"));
        let mut copying = daemon.command(&["backup", copy.to_str().unwrap()]);
        let mut copying = copying.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // As soon as anything is written, the daemon dies.
        wait_until("a copy begins", || fs::read_dir(copies.path()).unwrap().any(|file| is_of(file, round)));
        let directory = daemon.kill();
        copying.wait().unwrap();
        if copy.exists() {
            let data = copies.path().join(format!("restored-{round}"));
            said(&mut on(&data, &["restore", copy.to_str().unwrap()]));
        }
        daemon = Daemon::start_in(directory, &[], QUIET);
    }
    assert!(said(&mut daemon.command(&["check"])).contains("20 finished games"));
}

fn is_of(file: std::io::Result<fs::DirEntry>, round: usize) -> bool {
    file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with(&format!("copy-{round}")))
}

/// A daemon whose data lies on a disk of a few mebibytes, in a mount namespace of its own.
struct OnSmallDisk {
    shell: Child,
    output: BufReader<ChildStdout>,
    daemon: u32,
    url: String,
    /// The small disk, as it is seen from here.
    disk: PathBuf,
    _directory: TempDir,
}

impl OnSmallDisk {
    /// `None` where nobody may mount anything.
    fn start(mebibytes: u32) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let script = "mount -t tmpfs -o size=$1m tmpfs \"$2\" || exit 99; \"$3\" serve --listen 127.0.0.1:0 --data \
                      \"$2/data\" & echo $!; wait $!; echo ended $?; rm -f \"$2/ballast\"; \"$3\" check --data \
                      \"$2/data\"";
        let mut shell = Command::new("unshare")
            .args(["-rm", "sh", "-c", script, "sh", &mebibytes.to_string()])
            .arg(directory.path())
            .arg(env!("CARGO_BIN_EXE_fourfold"))
            .env("FOURFOLD_METRICS_ENABLED", "false")
            .env("FOURFOLD_LADDER_ENABLED", "false")
            .env("FOURFOLD_LOG_LEVEL", "error")
            .envs(QUIET.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line.trim().to_owned()
        };
        let Ok(daemon) = line().parse() else {
            shell.wait().unwrap();
            return None;
        };
        let url = line().strip_prefix("listening on ").unwrap().to_owned();
        let disk = PathBuf::from(format!("/proc/{daemon}/root{}", directory.path().display()));
        Some(Self { shell, output, daemon, url, disk, _directory: directory })
    }

    fn fill(&self) {
        let options = fs::OpenOptions::new().append(true).create(true).clone();
        let mut ballast = options.open(self.disk.join("ballast")).unwrap();
        while ballast.write_all(&[0xa5; 4096]).is_ok() {}
    }

    /// Fills the disk until somebody who registers is refused: as long as the log can be moved, that makes some room.
    fn fill_until_refused(&self, name: &str) -> String {
        for n in 0..500 {
            self.fill();
            match self.register(&format!("{name}{n}")) {
                (201, _) => {}
                (503, answer) => return answer,
                (_, answer) => panic!("{answer}"),
            }
        }
        panic!("the disk has no end");
    }

    fn make_room(&self) {
        fs::remove_file(self.disk.join("ballast")).unwrap();
    }

    /// Status and body.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nOrigin: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}",
            self.url
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }

    fn register(&self, name: &str) -> (u16, String) {
        let body = format!(r#"{{"name":"{name}","password":"tea and biscuits"}}"#);
        self.ask("POST", "/api/v1/accounts", &body)
    }

    /// SIGTERM; gives its exit code, and what the check says once there is room again.
    fn stop(mut self) -> (String, String) {
        assert!(Command::new("kill").arg(self.daemon.to_string()).status().unwrap().success());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        self.shell.wait().unwrap();
        let (ended, checked) = rest.split_once('\n').unwrap();
        (ended.to_owned(), checked.to_owned())
    }
}

/// The log alone would fill this disk many times over if it were not moved into the database in time.
#[test]
fn on_a_small_disk_games_go_on_and_a_full_one_is_got_over() {
    let Some(daemon) = OnSmallDisk::start(6) else {
        eprintln!("SKIPPED: no tmpfs can be mounted here; the unit tests of the writer have the rest");
        return;
    };
    let played = said(&mut load(&daemon.url, "100"));
    assert!(daemon.ask("GET", "/readyz", "").0 == 200, "{played}");
    assert_eq!(daemon.register("ada").0, 201);

    let answer = daemon.fill_until_refused("ben");
    assert!(answer.contains("no space is left on the disk"), "{answer}");
    let (status, answer) = daemon.ask("GET", "/readyz", "");
    assert!(status == 503 && answer.contains("disk_full"), "{answer}");
    let (status, answer) = daemon.ask("GET", "/api/v1/games?limit=100", "");
    assert!(status == 200 && answer.contains("\"moves\""), "what was played can be read");

    daemon.make_room();
    wait_until("it goes on by itself", || daemon.ask("GET", "/readyz", "").0 == 200);
    assert_eq!(daemon.register("cleo").0, 201);

    daemon.fill_until_refused("dora");
    let (ended, checked) = daemon.stop();
    assert_eq!(ended, "ended 74");
    assert!(checked.contains("pages: sound") && checked.contains("100 finished games"), "{checked}");
    assert!(checked.contains("everything agrees"), "{checked}");
}

/// Databases that released versions have left: opened, migrated, and all that was in them is still there.
#[test]
fn databases_of_every_released_schema_open_and_keep_what_they_hold() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/databases");
    let mut schemas = Vec::new();
    for file in fs::read_dir(kept).unwrap().map(|file| file.unwrap().path()) {
        let Some(schema) = schema_of(&file) else { continue };
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let database = data.join("fourfold.db");
        let unpacked = Command::new("gzip").arg("-dc").arg(&file).output().unwrap();
        fs::write(&database, unpacked.stdout).unwrap();
        let before = rows_of(&database);
        assert!(before.len() > 100, "schema {schema} has something in it: {}", before.len());
        let checked = said(&mut on(&data, &["check"]));
        assert!(checked.contains("pages: sound") && checked.contains("everything agrees"), "{checked}");
        assert!(!checked.starts_with("0 finished"), "{checked}");
        let after = rows_of(&database);
        let is_kept = |row: &&String| !SETTLED_AGAIN.iter().any(|column| row.starts_with(column));
        let lost: Vec<_> = before.iter().filter(is_kept).filter(|row| !after.contains(*row)).collect();
        assert!(lost.is_empty(), "schema {schema}: {lost:?}");
        if schema == 7 {
            one_scale(&database);
        }
        check_way_back(&data, schema, &before);
        schemas.push(schema);
    }
    assert!([7, 11].iter().all(|schema| schemas.contains(schema)), "{schemas:?}");
}

/// Beside a database that was migrated lies what it was, for the version before.
fn check_way_back(data: &Path, schema: u32, before: &std::collections::BTreeSet<String>) {
    let kept = data.join(format!("schema-{schema}.backup"));
    assert_eq!(number_in(&kept, "PRAGMA user_version"), i64::from(schema));
    assert!(rows_of(&kept) == *before, "schema {schema}");
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    said(&mut on(data, &["check"]));
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), written, "kept once");
    let elsewhere = data.join("elsewhere");
    said(&mut on(&elsewhere, &["restore", kept.to_str().unwrap()]));
    assert!(said(&mut on(&elsewhere, &["check"])).contains("everything agrees"));
}

/// What follows from the games by a rule that has changed since: schema 12 settles them again, and the check computes
/// all of it once more.
const SETTLED_AGAIN: [&str; 5] = [
    "rating.rating ",
    "rating_entry.before ",
    "rating_entry.delta ",
    "rating_entry.after ",
    "learner_point.rating ",
];

/// Bots of the house begin with what was measured beforehand, everybody else with 750, also in games that were played
/// when all began with 1500.
fn one_scale(database: &Path) {
    let first = |name: &str| {
        let sql = format!(
            "SELECT e.before FROM rating_entry e JOIN player p ON p.key = e.player WHERE p.name = '{name}' \
             ORDER BY e.number LIMIT 1"
        );
        number_in(database, &sql)
    };
    assert_eq!([first("random"), first("greedy"), first("memory@0")], [0, 723_000, 750_000]);
}

fn schema_of(file: &Path) -> Option<u32> {
    file.file_name()?.to_str()?.strip_prefix("schema-")?.strip_suffix(".db.gz")?.parse().ok()
}

/// What every column of every table holds, and how often: new columns and tables only add to it.
pub(super) fn rows_of(database: &Path) -> std::collections::BTreeSet<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let address = format!("file:{}?immutable=1", database.display());
    let connection = rusqlite::Connection::open_with_flags(address, flags).unwrap();
    let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
               WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_sqlx_migrations' ORDER BY t.name, c.name";
    let mut columns = connection.prepare(sql).unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    let mut rows = std::collections::BTreeSet::new();
    for (table, column) in columns {
        let sql =
            format!("SELECT quote(\"{column}\") || ' x' || count(*) FROM \"{table}\" GROUP BY \"{column}\"");
        let mut values = connection.prepare(&sql).unwrap();
        let values = values.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.extend(values.map(|value| format!("{table}.{column} = {}", value.unwrap())));
    }
    rows
}

#[test]
fn a_game_that_cannot_be_replayed_is_set_aside_and_counted() {
    let daemon = start();
    let mut playing = load(&daemon.url, "4");
    let mut playing =
        playing.args(["--think-ms", "300"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let database = daemon.data().join("fourfold.db");
    wait_until("moves are played", || {
        number_in(&database, "SELECT min((SELECT count(*) FROM journal), (SELECT count(*) FROM live_game))")
            > 0
    });
    let live = number_in(&database, "SELECT count(*) FROM live_game");
    let directory = daemon.kill();
    // It would look for the daemon for a while.
    playing.kill().unwrap();
    playing.wait().unwrap();
    said(&mut on(database.parent().unwrap(), &["check"]));
    change(
        &database,
        "INSERT INTO event (game, seq, kind, first_ms, second_ms, at) \
         SELECT min(game), 2, 'paused', 1, 1, 1 FROM live_game",
    );
    let environment =
        [QUIET, &[("FOURFOLD_METRICS_ENABLED", "true"), ("FOURFOLD_METRICS_LISTEN", "127.0.0.1:0")]];
    let mut daemon = Daemon::start_in(directory, &[], &environment.concat());
    let mut log = BufReader::new(daemon.process.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(
        log.any(|line| line.contains("game is damaged and left out") && line.contains("event 1 is missing"))
    );
    let served = log.find(|line| line.contains("metrics are served")).unwrap();
    let address = served.split("address=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("fourfold_games_quarantined 1\n"), "{answer}");
    assert!(answer.contains(&format!("fourfold_live_games {}\n", live - 1)), "{live} in {answer}");
}

fn number_in(database: &Path, sql: &str) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(database, flags).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}
