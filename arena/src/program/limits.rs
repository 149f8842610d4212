//! What a program may use, and how that is enforced.

use std::time::Duration;

/// The longest line that a program may write, in bytes, its end not counted.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// What a program may write for one move, in bytes: some thousand lines of a search that tells much.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// What is read of a program's standard error for one move, in bytes. Beyond, it waits in its pipe, and so does the
/// program.
pub const ERROR_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Limits of every process of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessLimits {
    /// Memory of its own, in MiB: heap and private mappings, as `RLIMIT_DATA` counts them. Address space that is only
    /// reserved, as run-time systems do by the gigabyte, is free.
    pub memory_mib: Option<u64>,
    /// Processor time for one game, in seconds.
    pub cpu_s: Option<u64>,
    pub sandbox: Sandbox,
    /// How long a new process may take to be ready; zero if it is not to be asked before its first game.
    pub warm_up: Duration,
}

/// Whether a program can reach the rest of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sandbox {
    #[default]
    None,
    /// No network, a file system that is read only, processes that end with it: by bubblewrap.
    Bubblewrap,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self { memory_mib: Some(4096), cpu_s: None, sandbox: Sandbox::None, warm_up: Duration::from_secs(3) }
    }
}

/// The words that run a program in its sandbox come before its own.
pub(super) fn wrapping(sandbox: Sandbox) -> &'static [&'static str] {
    match sandbox {
        Sandbox::None => &[],
        Sandbox::Bubblewrap => &[
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--",
        ],
    }
}

pub(super) fn has_bubblewrap() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("bwrap").is_file())
}

#[cfg(target_os = "linux")]
mod enforced {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    use super::ProcessLimits;

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
        renew(pid, limits)
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
