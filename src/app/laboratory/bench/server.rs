//! `fourfold bench server`: what a move costs the daemon, whole: sockets, rooms, the store and its syncs.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::app::terminal::{load, output};
use crate::client::load::{LoadPlan, LoadReport};

/// A second in the units in which Linux counts the processor time of others: the same on all of its machines.
const TICKS_PER_SECOND: f64 = 100.0;

/// Nobody who plays against the clock of a benchmark is an abuser, and nothing else works meanwhile.
const QUIET: &str = "\
[limits]
messages_per_20s = 1000000
[ladder]
enabled = false
[learning]
enabled = false
[judging]
enabled = false
[metrics]
enabled = false
[log]
level = \"warn\"
";

/// A daemon of its own on this machine, and a load of whole games against it.
///
/// The daemon is another process with an empty data directory; guests connect to it, pair up and play legal games as
/// `fourfold load` does. Both share the machine: moves a second are what it can do as a whole, processor time a move is
/// the daemon's alone. `benches/server.py` compares two builds, each on a core of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench server --games 2000 --connections 200 --json")]
pub(super) struct ServerBench {
    /// Games to play in all.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Players connected at the same time; they play in pairs.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    connections: u32,
    /// Connections that watch one game after the other.
    #[arg(long, value_name = "N", default_value_t = 0)]
    spectators: u32,
    /// How long each player waits before it answers a turn, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000))]
    think_ms: u64,
    /// Decides the columns.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the daemon's data are; they are deleted afterwards. By default the directory for temporary files, which
    /// may be in memory.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What `--json` shows.
#[derive(Serialize)]
struct ServerFigures {
    #[serde(flatten)]
    load: LoadReport,
    /// Processor time of the daemon, its start included; null where the system does not tell.
    server_cpu_seconds: Option<f64>,
    server_cpu_us_per_move: Option<f64>,
    /// The most memory that the daemon had at any time.
    server_memory_mib: Option<f64>,
}

impl ServerBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let daemon = BenchDaemon::start(&self.directory.clone().unwrap_or_else(std::env::temp_dir))?;
        let load = self.play(&daemon.url)?;
        let figures = ServerFigures::new(load, &daemon);
        daemon.stop()?;
        if self.json { output::print_json(&figures) } else { Ok(print(&figures)?) }
    }

    fn play(&self, url: &str) -> anyhow::Result<LoadReport> {
        let plan = LoadPlan {
            urls: vec![url.to_owned()],
            games: self.games,
            connections: self.connections,
            against: None,
            spectators: self.spectators,
            think: Duration::from_millis(self.think_ms),
            seed: self.seed,
        };
        // Ctrl-C ends the games and, as it goes to all of the terminal, the daemon too: what was played is reported.
        let (report, _ended_early) = load::play(&plan)?;
        Ok(report)
    }
}

/// A daemon that lives as long as this value.
struct BenchDaemon {
    process: Child,
    url: String,
    data: PathBuf,
}

impl BenchDaemon {
    fn start(directory: &Path) -> anyhow::Result<Self> {
        let data = directory.join(format!("fourfold-bench-server-{}", std::process::id()));
        fs::create_dir(&data).with_context(|| format!("cannot create {}", data.display()))?;
        let config = data.join("bench.toml");
        fs::write(&config, QUIET)?;
        let program = std::env::current_exe().context("this program does not know where it lies")?;
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .arg("--data")
            .arg(data.join("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the daemon cannot be started")?;
        let printed = process.stdout.take();
        let mut daemon = Self { process, url: String::new(), data };
        let mut line = String::new();
        if let Some(printed) = printed {
            BufReader::new(printed).read_line(&mut line)?;
        }
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            bail!("the daemon did not start: it said `{}`", line.trim());
        };
        daemon.url = format!("ws://{address}");
        Ok(daemon)
    }

    /// User and system time of all its threads, in seconds.
    fn cpu_seconds(&self) -> Option<f64> {
        cpu_seconds(&fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?)
    }

    fn memory_mib(&self) -> Option<f64> {
        memory_mib(&fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?)
    }

    fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.process), Signal::TERM)?;
        let status = self.process.wait()?;
        if !status.success() {
            bail!("the daemon ended with {status}");
        }
        Ok(())
    }
}

impl Drop for BenchDaemon {
    fn drop(&mut self) {
        // Of one that was stopped there is nothing left to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.data); // as with all temporary files, what cannot be deleted stays
    }
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    // The name, in brackets, may have blanks in it; 12th and 13th behind it are the ticks.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

fn memory_mib(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

impl ServerFigures {
    fn new(load: LoadReport, daemon: &BenchDaemon) -> Self {
        let server_cpu_seconds = daemon.cpu_seconds();
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no 53 bits")]
        let per_move = |seconds: f64| (load.moves > 0).then(|| seconds * 1e6 / load.moves as f64);
        let server_cpu_us_per_move = server_cpu_seconds.and_then(per_move);
        Self { load, server_cpu_seconds, server_cpu_us_per_move, server_memory_mib: daemon.memory_mib() }
    }
}

fn print(figures: &ServerFigures) -> io::Result<()> {
    let ServerFigures { load, server_cpu_seconds: _, server_cpu_us_per_move, server_memory_mib } = figures;
    let mut out = io::stdout().lock();
    writeln!(out, "{} games, {} moves in {:.1} s", load.games, load.moves, load.seconds)?;
    writeln!(out, "{:.0} moves/s, the load on the same machine", load.moves_per_s)?;
    let ack = load.ack_ms;
    writeln!(out, "acknowledged in ms: p50 {:.2}, p99 {:.2}, p99.9 {:.2}", ack.p50, ack.p99, ack.p99_9)?;
    if let Some(micros) = server_cpu_us_per_move {
        writeln!(out, "{micros:.0} µs of processor time a move")?;
    }
    if let Some(mib) = server_memory_mib {
        writeln!(out, "{mib:.0} MiB at most")?;
    }
    let errors: Vec<String> = load.errors.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    writeln!(out, "errors: {}", if errors.is_empty() { "none".to_owned() } else { errors.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_of_a_process_is_read() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 500 0 0 0 150 50 9 9 20 0 8 0 100 1000 10";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(memory_mib("Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t 1 kB\n"), Some(2.0));
        assert_eq!((cpu_seconds("7 (x) S"), memory_mib("")), (None, None));
    }
}
