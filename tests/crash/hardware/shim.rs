//! The library that makes disk, power and clock fail: building it, and telling it what to do.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tokio::time::Instant;

use super::lane::{LIFE_MAX, LOOK_EVERY};
use crate::daemon::{data, fourfold};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/crash/hardware/shim.c");

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// The process alone dies: what it wrote is there.
    Death,
    /// The power is cut: of what was not synced anything may be there, in any part.
    PowerCut,
    /// One call fails.
    IoError,
    /// From then on nothing can be written, until there is space.
    Full,
    /// From then on every sync takes so long.
    Slow(Duration),
}

/// Which calls count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    Any,
    Writes,
    Syncs,
    /// Any on the main file of the database: the log is moved there at a planned stop, and now and then.
    OnDatabase,
    /// What makes, renames or removes files or changes their size, and syncs of the directory.
    Names,
}

/// A failure at a chosen call after the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) failure: Failure,
    pub(super) counted: Counted,
    pub(super) at: u32,
    /// Decides what a power cut leaves.
    pub(super) seed: u64,
}

/// What the shim says when it happens.
#[derive(Clone, Default, Debug)]
pub(super) struct Strike {
    /// The call and its file, among others.
    pub(super) line: String,
}

impl Strike {
    /// A number of the line: `unsynced` changes, of them `whole`, `dropped`, `torn`; names taken back, `unnamed`.
    pub(super) fn number(&self, name: &str) -> u64 {
        let mut words = self.line.split(' ');
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// The library, built.
pub(super) struct Shim(PathBuf);

impl Shim {
    /// Builds it; says in one line what is missing if that is not possible.
    pub(super) fn build(directory: &Path) -> Result<Self, String> {
        let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
        let library = directory.join("shim.so");
        let built = Command::new(&compiler)
            .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .args([SOURCE, "-ldl", "-lpthread"])
            .status();
        match built {
            Ok(status) if status.success() => Ok(Self(library)),
            Ok(status) => Err(format!("{} cannot build {SOURCE}: {status}", compiler.display())),
            Err(error) => Err(format!(
                "the hardware tests need a C compiler, and `{}` cannot be run ({error}): install one (Debian: \
                 apt-get install gcc libc6-dev) or name it in CC",
                compiler.display()
            )),
        }
    }

    /// The binary on the data of a directory, with this in store for it.
    pub(super) fn fourfold(&self, directory: &Path, fault: Option<&Fault>) -> Command {
        let directory = directory.canonicalize().expect("the directory is there");
        let mut command = fourfold();
        forget(&directory);
        command
            .env("LD_PRELOAD", &self.0)
            .env("FAULT_DIR", data(&directory))
            .env("FAULT_REPORT", report(&directory))
            .env("FAULT_UNTIL", space(&directory))
            .env("FAULT_BOOT", boot(&directory))
            .env("FAULT_CLOCK", clock(&directory));
        if !clock(&directory).exists() {
            fs::write(clock(&directory), 0_i64.to_ne_bytes()).expect("a writable directory");
        }
        // After a power cut the machine has started anew; that it also has if it did not need to, nobody can mind.
        fs::write(boot(&directory), format!("{:032x}\n", rand::random::<u128>()))
            .expect("a writable directory");
        if let Some(fault) = fault {
            let (what, ms) = match fault.failure {
                Failure::Death => ("kill", 0),
                Failure::PowerCut => ("cut", 0),
                Failure::IoError => ("eio", 0),
                Failure::Full => ("full", 0),
                Failure::Slow(sync) => ("slow", sync.as_millis()),
            };
            let counted = match fault.counted {
                Counted::Any => "any",
                Counted::Writes => "write",
                Counted::Syncs => "sync",
                Counted::OnDatabase => "database",
                Counted::Names => "name",
            };
            let numbers = [("AT", fault.at.to_string()), ("SEED", fault.seed.to_string())];
            command.env("FAULT", what).env("FAULT_ON", counted).env("FAULT_MS", ms.to_string());
            command.envs(numbers.map(|(name, number)| (format!("FAULT_{name}"), number)));
        }
        command
    }
}

/// What the shim has said since the last start.
pub(super) fn strike(directory: &Path) -> Option<Strike> {
    fs::read_to_string(report(directory)).ok().map(|line| Strike { line: line.trim().to_owned() })
}

/// Forgets what it has said, and that there was space again.
pub(super) fn forget(directory: &Path) {
    for left in [report(directory), space(directory)] {
        let _ = fs::remove_file(left); // there may be none
    }
}

/// Waits for the shim to say something; nothing if it does not.
pub(super) async fn struck(directory: &Path) -> Option<Strike> {
    let deadline = Instant::now() + LIFE_MAX;
    while strike(directory).is_none() && Instant::now() < deadline {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    strike(directory)
}

/// Gives a full disk its space back.
pub(super) fn give_space(directory: &Path) {
    fs::write(space(directory), "").expect("a writable directory");
}

/// Sets the daemon's wall clock: so many seconds ahead. In place, as the daemon reads the very bytes.
pub(super) fn set_clock(directory: &Path, ahead: i64) {
    let file = OpenOptions::new().write(true).open(clock(directory)).expect("there is a clock");
    file.write_all_at(&ahead.to_ne_bytes(), 0).expect("a writable directory");
}

/// The line of the shim, whose time of change is that of the failure.
pub(super) fn report(directory: &Path) -> PathBuf {
    directory.join("strike")
}

fn space(directory: &Path) -> PathBuf {
    directory.join("space")
}

fn boot(directory: &Path) -> PathBuf {
    directory.join("boot-id")
}

fn clock(directory: &Path) -> PathBuf {
    directory.join("clock")
}
