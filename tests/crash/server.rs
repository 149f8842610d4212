//! A database server that keeps arenas in the place of files, and is killed like the daemons that use it.
//!
//! Of an arena that a server keeps, the directory names the URL in a file; commands and daemons are told of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[path = "../../src/testing/postgres.rs"]
pub(crate) mod postgres;

use postgres::PostgresServer;

use crate::daemon::{data, fourfold};
use crate::players::run;

/// How long a killed server is away.
const AWAY: Duration = Duration::from_millis(300);

/// The server of a run.
#[derive(Debug)]
pub(crate) struct Server(PostgresServer);

impl Server {
    /// Starts one, if it is installed.
    pub(crate) fn start() -> Option<Self> {
        PostgresServer::start().map(Self)
    }

    /// Starts one that listens at an address, if it is installed; these words run it where that is.
    #[allow(dead_code, reason = "of the tests that take this file, one alone asks for it")]
    pub(crate) fn start_elsewhere(run_by: &[&str], address: &str) -> Option<Self> {
        PostgresServer::start_elsewhere(run_by, address).map(Self)
    }

    /// Keeps the arena of a directory, a new one.
    pub(crate) fn keep(&self, directory: &Path) {
        fs::write(url_file(directory), self.0.new_url()).expect("a writable directory");
    }

    /// `kill -9`, and a new start.
    pub(crate) async fn kill(&self) {
        self.0.kill();
        tokio::time::sleep(AWAY).await;
        self.0.restart();
    }
}

const URL: &str = "storage-url";

/// The file that names the URL.
pub(crate) fn url_file(directory: &Path) -> PathBuf {
    directory.join(URL)
}

/// Tells a command where the arena of a directory is.
pub(crate) fn tell<'c>(directory: &Path, command: &'c mut Command) -> &'c mut Command {
    match fs::read_to_string(url_file(directory)) {
        Ok(url) => command.env("FOURFOLD_STORAGE_URL", url),
        Err(_) => command,
    }
}

/// Moves the arena into the directory, if a server keeps it: then it is looked at as every other.
pub(crate) fn bring_home(directory: &Path) {
    let Ok(url) = fs::read_to_string(url_file(directory)) else { return };
    let moved = fourfold().arg("migrate").arg(url).arg(data(directory)).output().expect("the binary starts");
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    fs::remove_file(url_file(directory)).expect("a writable directory");
    print!("{}", run(directory, fourfold().args(["games", "verify"])));
}
