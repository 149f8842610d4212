//! Signals to the daemon.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{ChildStderr, Stdio};
use std::time::{Duration, Instant};

use super::{Daemon, fourfold, settings, text};

/// The standard error of a daemon, line by line.
struct Log(BufReader<ChildStderr>);

impl Log {
    fn of(daemon: &mut Daemon) -> Self {
        Self(BufReader::new(daemon.process.stderr.take().unwrap()))
    }

    /// Waits for a line that contains this.
    #[track_caller]
    fn wait_for(&mut self, what: &str) -> String {
        let mut all = String::new();
        loop {
            let begin = all.len();
            let read = self.0.read_line(&mut all).unwrap();
            assert!(read > 0, "{what} is not said: {all}");
            if all[begin..].contains(what) {
                return all.split_off(begin);
            }
        }
    }

    /// What it says until its end.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

#[test]
fn standard_output_has_one_line_and_sigterm_ends_well() {
    let daemon = Daemon::start();
    assert!(daemon.url.starts_with("http://127.0.0.1:"));
    daemon.signal("-TERM");
    let (code, rest, errors) = daemon.wait();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{errors}");
}

#[test]
fn ctrl_c_ends_well_too() {
    let daemon = Daemon::start();
    daemon.signal("-INT");
    let (code, _, errors) = daemon.wait();
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn a_hang_up_reads_the_settings_again_and_the_daemon_lives() {
    let daemon = Daemon::start();
    daemon.signal("-HUP");
    assert!(daemon.command(&["games", "verify"]).status().unwrap().success());
    daemon.signal("-TERM");
    let (code, _, errors) = daemon.wait();
    assert_eq!(code, Some(0));
    assert!(errors.contains("settings read"), "{errors}");
}

#[test]
fn a_hang_up_with_broken_settings_leaves_the_old_ones() {
    let good = "[log]\nlevel = \"info\"\n";
    let (directory, path) = settings(good.as_bytes());
    let arguments = ["--config", path.to_str().unwrap()];
    let mut daemon = Daemon::start_in(directory, &arguments, &[("FOURFOLD_LEARNING_ENABLED", "false")]);
    let mut log = Log::of(&mut daemon);
    for broken in ["[log]\nlevel = \"error\"\n[server]\nlisen = 1\n", "hello", "\u{0}"] {
        fs::write(&path, broken).unwrap();
        daemon.signal("-HUP");
        let refused = log.wait_for("settings refused, the old ones stay");
        assert!(refused.contains("x.toml"), "{refused}");
    }
    fs::remove_file(&path).unwrap();
    daemon.signal("-HUP");
    log.wait_for("settings refused, the old ones stay");
    assert!(daemon.command(&["games", "verify"]).status().unwrap().success(), "it serves all the same");
    fs::write(&path, good).unwrap();
    daemon.signal("-HUP");
    log.wait_for("settings read");
    daemon.signal("-TERM");
    let rest = log.rest();
    assert!(rest.contains("stopping: no new games"), "its level is that of before: {rest}");
    assert_eq!(daemon.process.wait().unwrap().code(), Some(0), "{rest}");
}

/// More than anybody waits for a test.
const NOTICE: (&str, &str) = ("FOURFOLD_SERVER_RESTART_NOTICE_MS", "60000");
const AT_ONCE: Duration = Duration::from_secs(30);

#[test]
fn a_second_signal_stops_at_once_and_every_game_is_kept() {
    let mut daemon = Daemon::start_with(&[("FOURFOLD_LEARNING_ENABLED", "false"), NOTICE]);
    let load = ["load", "--url", &daemon.url, "--games", "9", "--connections", "4", "--think-ms", "1000"];
    let mut playing = fourfold(&load).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut log = Log::of(&mut daemon);
    let status = || {
        let status = daemon.command(&["admin", "status", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&status.stdout).unwrap()
    };
    let is_played = |status: &serde_json::Value| status["games"] == 2 && status["moves"].as_u64() >= Some(4);
    while !is_played(&status()) {}
    daemon.signal("-TERM");
    log.wait_for("stopping: no new games");
    let began = Instant::now();
    daemon.signal("-TERM");
    let rest = log.rest();
    assert_eq!(daemon.process.wait().unwrap().code(), Some(0), "{rest}");
    assert!(began.elapsed() < AT_ONCE, "it waits for the notice");
    assert!(rest.contains("stopped at once; everything that was acknowledged is stored"), "{rest}");
    playing.kill().unwrap();
    playing.wait().unwrap();

    let daemon = Daemon::start_in(daemon.kill(), &[], &[("FOURFOLD_LEARNING_ENABLED", "false")]);
    let verified = daemon.command(&["games", "verify"]).output().unwrap();
    let verified = text(&verified.stdout);
    assert!(verified.contains("2 live games") && verified.contains("everything agrees"), "{verified}");
}
