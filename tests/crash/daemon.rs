//! The real binary as a process of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nobody but the test's own players plays, and nothing but durability limits them.
pub(crate) const SETTINGS: &str = "\
house_bots = []

[limits]
rated_games_per_pair_and_day = 1000000

[ladder]
enabled = false

[learning]
enabled = false

[metrics]
enabled = false

[log]
level = \"warn\"
";

/// The data directory within the test's directory.
pub(crate) fn data(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// The binary under test, to be given arguments.
pub(crate) fn fourfold() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fourfold"))
}

/// A running daemon.
pub(crate) struct Daemon {
    process: Child,
    address: SocketAddr,
    started_in: Duration,
}

impl Daemon {
    /// Starts it with these settings and waits until it is ready; at `address`, or wherever there is a free port.
    pub(crate) fn start(directory: &Path, address: Option<SocketAddr>, settings_text: &str) -> Self {
        let settings = directory.join("fourfold.toml");
        fs::write(&settings, settings_text).expect("a writable directory");
        let listen = address.map_or("127.0.0.1:0".to_owned(), |address| address.to_string());
        let began = Instant::now();
        let mut process = fourfold()
            .args(["serve", "--listen", &listen, "--config"])
            .arg(settings)
            .arg("--data")
            .arg(data(directory))
            .stdout(Stdio::piped())
            .stderr(log(directory))
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("standard output is piped");
        BufReader::new(output).read_line(&mut line).expect("standard output is readable");
        let address =
            line.trim().strip_prefix("listening on http://").and_then(|address| address.parse().ok());
        let address = address
            .unwrap_or_else(|| panic!("no address in `{line}`; see {}", log_path(directory).display()));
        Self { process, address, started_in: began.elapsed() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From the start of the process to its readiness, the recovery of all live games included.
    pub(crate) fn started_in(&self) -> Duration {
        self.started_in
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("the daemon was running");
        self.process.wait().expect("a killed process ends");
    }

    /// SIGTERM; the exit code must be 0.
    pub(crate) fn stop(mut self) {
        let asked = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(asked.is_ok_and(|status| status.success()), "the daemon was not running any more");
        let status = self.process.wait().expect("a stopped process ends");
        assert!(status.success(), "the daemon ended with {status}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Only if the test itself failed; otherwise it has ended already.
        let _ = self.process.kill();
    }
}

fn log_path(directory: &Path) -> PathBuf {
    directory.join("daemon.log")
}

fn log(directory: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(log_path(directory)).expect("a writable directory")
}
