//! What a program may use, and how that is enforced.

use std::time::Duration;

/// The longest line that a program may write, in bytes, its end not counted.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// What a program may write for one move, in bytes: some thousand lines of a search that tells much.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// What is read of a program's standard error for one move, in bytes. Beyond, it waits in its pipe, and so does the
/// program.
pub const ERROR_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Processes and threads that a program may start beside those that its user has when it begins. A search with a thread
/// a core needs a few; what starts them without end is stopped before the machine is.
#[cfg(target_os = "linux")]
const TASKS_MORE: u64 = 1024;

/// Limits of every process of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessLimits {
    /// Memory of its own, in MiB: heap and private mappings, as `RLIMIT_DATA` counts them. Address space that is only
    /// reserved, as run-time systems do by the gigabyte, is free.
    pub memory_mib: Option<u64>,
    /// Processor time for one game, in seconds.
    pub cpu_s: Option<u64>,
    pub sandbox: Sandbox,
    pub environment: Environment,
    /// How long a new process may take to be ready; zero if it is not to be asked before its first game.
    pub warm_up: Duration,
}

/// Which variables a program sees.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Environment {
    /// Those of the process that starts it, but for its secrets.
    #[default]
    Inherited,
    /// The path on which programs are found: those of a daemon may hold the password of its database.
    Bare,
}

/// Whether a program can reach the rest of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sandbox {
    #[default]
    None,
    /// No network, nothing to read but the system's programs and its own folder, nothing to write but a folder in
    /// memory, processes that end with it: by bubblewrap.
    Bubblewrap,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            memory_mib: Some(4096),
            cpu_s: None,
            sandbox: Sandbox::None,
            environment: Environment::Inherited,
            warm_up: Duration::from_secs(3),
        }
    }
}

pub(super) fn has_bubblewrap() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("bwrap").is_file())
}

#[cfg(target_os = "linux")]
mod enforced {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    use super::{ProcessLimits, TASKS_MORE};

    /// Ticks of processor time a second in `/proc`: fixed at 100 for programs on Linux.
    const TICKS_PER_SECOND: u64 = 100;

    /// Where `utime` and `stime` stand in `/proc/PID/stat`, counted from the field after the name.
    const UTIME: usize = 11;

    /// Sets the limits of a process that has just been started.
    pub(in super::super) fn limit(pid: Pid, limits: &ProcessLimits) -> std::io::Result<()> {
        if let Some(mib) = limits.memory_mib {
            let bytes = mib.saturating_mul(1024 * 1024);
            prlimit(Some(pid), Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
        }
        let tasks = tasks_of_user().saturating_add(TASKS_MORE);
        prlimit(Some(pid), Resource::Nproc, Rlimit { current: Some(tasks), maximum: Some(tasks) })?;
        renew(pid, limits)
    }

    /// Processes and threads of our user, as `RLIMIT_NPROC` counts them; it counts them for all programs together.
    fn tasks_of_user() -> u64 {
        let ours = rustix::process::getuid().as_raw();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let of_user = processes.filter(|process| process.metadata().is_ok_and(|found| found.uid() == ours));
        let tasks = |process: std::fs::DirEntry| std::fs::read_dir(process.path().join("task")).ok();
        // What has ended meanwhile, or is no process, has none.
        of_user.filter_map(tasks).map(|tasks| tasks.count() as u64).sum()
    }

    /// Gives a process the processor time of one more game. Only the soft limit moves: a process may not raise a hard
    /// one, and who ignores the signal of the soft limit is asked for moves too late.
    pub(in super::super) fn renew(pid: Pid, limits: &ProcessLimits) -> std::io::Result<()> {
        if let Some(seconds) = limits.cpu_s {
            let until = used_seconds(pid).saturating_add(seconds).max(1);
            prlimit(Some(pid), Resource::Cpu, Rlimit { current: Some(until), maximum: None })?;
        }
        Ok(())
    }

    /// Processor time that a process has used, rounded up to seconds; 0 if that is not known.
    fn used_seconds(pid: Pid) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let Ok(stat) = stat else { return 0 };
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let ticks = after_name.split(' ').skip(UTIME).take(2).filter_map(|field| field.parse::<u64>().ok());
        ticks.sum::<u64>().div_ceil(TICKS_PER_SECOND)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_starts_processes_without_end_is_stopped() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let limits_of = |id: u32| std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
        let before = limits_of(child.id());
        limit(pid, &ProcessLimits::default()).unwrap();
        let limits = limits_of(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max processes")).unwrap();
        let allowed: u64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert!((TASKS_MORE..100 * TASKS_MORE).contains(&allowed), "{line}");
        // What the system allows anyway may be as little.
        assert!(!before.contains(line), "{line}");
    }
}

#[cfg(not(target_os = "linux"))]
mod enforced {
    use rustix::process::Pid;

    use super::ProcessLimits;

    /// Limits of another process can be set on Linux only.
    pub(in super::super) fn limit(_: Pid, _: &ProcessLimits) -> std::io::Result<()> {
        Ok(())
    }

    /// As above.
    pub(in super::super) fn renew(_: Pid, _: &ProcessLimits) -> std::io::Result<()> {
        Ok(())
    }
}

pub(super) use enforced::{limit, renew};
