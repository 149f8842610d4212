//! A PostgreSQL server for tests: their own, in a temporary directory, on a socket that nobody else has.
//!
//! A shell keeps it: when this process ends, in whatever way, the shell's input ends, and with it the server and its
//! directory. Tests outside of the library take this file as it is, so that it uses nothing of the library.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Says by `require` that tests without a server are failures.
const REQUIRED: &str = "FOURFOLD_CLUSTER_TESTS";

/// Makes the server, starts and stops it as it is told, and leaves nothing behind. Tests need no disk that survives a
/// power cut; what a killed server has committed it still has.
const KEEPER: &str = r#"
set -e
directory=$(mktemp -d "${TMPDIR:-/tmp}/fourfold-pg.XXXXXX")
cleanup() { "$BIN/pg_ctl" -D "$directory/data" -m immediate stop; rm -rf "$directory"; }
trap '' INT TERM HUP
trap 'cleanup >/dev/null 2>&1' EXIT
"$BIN/initdb" -D "$directory/data" -A trust -U fourfold --no-sync --no-locale -E UTF8 >"$directory/log" 2>&1
options="-k $directory -c fsync=off -c full_page_writes=off -c shared_buffers=16MB"
if [ -n "$TLS_PORT" ]; then
    (umask 077 && echo "$TLS_CERTIFICATE" >"$directory/data/server.crt" && echo "$TLS_KEY" >"$directory/data/server.key")
    options="$options -c listen_addresses=127.0.0.1 -c port=$TLS_PORT -c ssl=on"
elif [ -n "$ADDRESS" ]; then
    echo "host all all samenet trust" >>"$directory/data/pg_hba.conf"
    options="$options -c listen_addresses=$ADDRESS"
else
    options="$options -c listen_addresses=''"
fi
while read -r command; do
    case $command in
    start) "$BIN/pg_ctl" -w -D "$directory/data" -l "$directory/log" -o "$options" start >/dev/null ;;
    stop) "$BIN/pg_ctl" -w -D "$directory/data" -m immediate stop >/dev/null ;;
    esac
    echo "$directory"
done
"#;

/// A server, which goes with this value.
pub(crate) struct PostgresServer {
    directory: PathBuf,
    keeper: Mutex<Keeper>,
    databases: AtomicU32,
}

struct Keeper {
    /// Reaped when its input has ended.
    shell: Child,
    /// Taken when it is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresServer").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl PostgresServer {
    /// Starts one; none if it is not installed, which is said, and is a failure where servers are required.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[], &[])
    }

    /// The same with one that speaks TLS on a port of 127.0.0.1.
    #[allow(dead_code, reason = "of the tests that take this file, one alone asks for it")]
    pub(crate) fn start_with_tls(port: u16, certificate: &str, key: &str) -> Option<Self> {
        let port = port.to_string();
        Self::start_with(&[], &[("TLS_PORT", &port), ("TLS_CERTIFICATE", certificate), ("TLS_KEY", key)])
    }

    /// The same with one that listens at an address, which these words run where that is: for a network that nobody but
    /// the test is in.
    #[allow(dead_code, reason = "of the tests that take this file, one alone asks for it")]
    pub(crate) fn start_elsewhere(run_by: &[&str], address: &str) -> Option<Self> {
        Self::start_with(run_by, &[("ADDRESS", address)])
    }

    fn start_with(run_by: &[&str], listening: &[(&str, &str)]) -> Option<Self> {
        let Some(programs) = programs() else {
            leave_out("PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        // Its programs refuse to be run by root.
        let is_root = rustix::process::geteuid().is_root();
        let as_whom: &[&str] = if is_root { &["runuser", "-u", "postgres", "--"] } else { &[] };
        let words = [run_by, as_whom, &["sh", "-c", KEEPER]].concat();
        let mut command = Command::new(words[0]);
        let command = command.args(&words[1..]).env("BIN", programs).current_dir("/").env_remove("TMPDIR");
        let command = command.env_remove("TLS_PORT").env_remove("ADDRESS").envs(listening.iter().copied());
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().expect("its output is piped"));
        let mut keeper = Keeper { shell, orders, answers };
        let directory = keeper.order("start");
        Some(Self { directory, keeper: Mutex::new(keeper), databases: AtomicU32::new(0) })
    }

    /// The URL of a part of the database that nothing else has, made new.
    pub(crate) fn new_url(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        self.execute(&format!("CREATE SCHEMA arena{number}"));
        format!("{}?options=-csearch_path%3Darena{number}", self.server_url("postgres"))
    }

    /// The URL of a database, there or not.
    pub(crate) fn server_url(&self, database: &str) -> String {
        let socket = self.directory.to_str().expect("plain characters").replace('/', "%2F");
        format!("postgres://fourfold@{socket}/{database}")
    }

    /// Executes whatever it is told.
    pub(crate) fn execute(&self, sql: &str) {
        let programs = programs().expect("it runs");
        let mut command = Command::new(programs.join("psql"));
        command.args([
            "-q",
            "-X",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "fourfold",
            "-d",
            "postgres",
            "-c",
            sql,
            "-h",
        ]);
        assert!(
            command.arg(&self.directory).stdout(Stdio::null()).status().expect("psql").success(),
            "{sql}"
        );
    }

    /// One of the programs that come with servers.
    #[allow(dead_code, reason = "of the tests that take this file, one alone calls others than psql")]
    pub(crate) fn program(name: &str) -> Command {
        Command::new(programs().expect("a server runs").join(name))
    }

    /// Kills it: it flushes nothing and says nothing.
    pub(crate) fn kill(&self) {
        self.order("stop");
    }

    /// Starts it again.
    pub(crate) fn restart(&self) {
        self.order("start");
    }

    fn order(&self, order: &str) {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).order(order);
    }
}

impl Keeper {
    /// Has an order done; gives the server's directory.
    fn order(&mut self, order: &str) -> PathBuf {
        let orders = self.orders.as_mut().expect("the shell has not ended");
        writeln!(orders, "{order}").expect("the shell listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the shell answers");
        assert!(!line.is_empty(), "PostgreSQL could not be told to {order}");
        PathBuf::from(line.trim_end())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        // Whatever it says, there is nothing to be done.
        let _ = self.shell.wait();
    }
}

/// Says that tests are left out, and why.
///
/// # Panics
///
/// Panics where they are required.
pub(crate) fn leave_out(message: &str) {
    assert!(
        std::env::var_os(REQUIRED).is_none_or(|word| word != "require"),
        "{message}, and {REQUIRED} is set"
    );
    // Past the capture of what tests print.
    let _ = writeln!(std::io::stderr(), "left out: {message}");
}

/// Where the server's programs are, all of them: Debian has them in a directory of each version.
fn programs() -> Option<PathBuf> {
    let are_in = |directory: &PathBuf| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|program| directory.join(program).exists())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).find(are_in).or_else(|| {
        let versions = Path::new("/usr/lib/postgresql").read_dir().ok()?;
        versions.flatten().map(|version| version.path().join("bin")).filter(are_in).max()
    })
}
