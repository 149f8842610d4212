//! The daemon is killed while it does what an operator ordered: a backup, a ban, taking all games of a player out, a
//! drain. What a command said was done is done after the next start; every backup that has its name is restored and
//! verified; what was half done is gone on with by the same command.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::arguments::Round;
use crate::daemon::{Daemon, data, fourfold};
use crate::players::run as command;

/// Rated games of two quick bots, as many as there is time for.
const SETTINGS: &str = "\
[ladder]
cpu_share = 100
calm_percent = 100
pairs_per_day = 1000000
bank_ms = 2000
increment_ms = 0

[learning]
enabled = false

[metrics]
enabled = false

[log]
level = \"warn\"

[[house_bots]]
name = \"random\"
spec = \"random\"

[[house_bots]]
name = \"greedy\"
spec = \"greedy\"
";

/// Life of a daemon before it is ordered something, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 200..=600;

/// From an order to the death, as a part of the time that the first of all took: some before its end, some after.
const ORDERED_PART: std::ops::RangeInclusive<f64> = 0.0..=1.5;

/// So many times as many cycles, if all deaths came before the orders' ends, or after them.
const MORE_CYCLES: u32 = 3;

/// Life of the first one, in which there must be games to take out.
const FIRST_LIFE: Duration = Duration::from_secs(2);

/// What is ordered, in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Backup,
    Void,
    Ban,
    Drain,
}

const ORDERS: [Order; 4] = [Order::Backup, Order::Void, Order::Ban, Order::Drain];

/// Kills a daemon four times as often as the round says, at each order once; gives figures and faults.
pub(crate) async fn run(round: &Round, directory: &Path) -> (String, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(round.seed);
    let mut tally = Tally::default();
    let mut daemon = Daemon::start(directory, None, SETTINGS);
    tokio::time::sleep(FIRST_LIFE).await;
    let mut order_takes = time_of_an_order(directory);
    let mut cycle = 0;
    while cycle < round.cycles || tally.tells_nothing() && cycle < MORE_CYCLES * round.cycles {
        for order in ORDERS {
            let target = target(directory, order, cycle);
            tokio::time::sleep(Duration::from_millis(rng.random_range(LIFE_MS))).await;
            let ordered = give(directory, order, &target);
            tokio::time::sleep(order_takes.mul_f64(rng.random_range(ORDERED_PART))).await;
            daemon.kill();
            let was_done = ordered.wait_with_output().expect("a command ends").status.success();
            daemon = Daemon::start(directory, None, SETTINGS);
            tally.kills += 1;
            tally.done += u32::from(was_done);
            check(directory, order, &target, was_done, &mut tally);
        }
        cycle += 1;
        // The first order tells how long they take here, roughly: a busy machine needs longer the next time.
        if tally.done == 0 {
            order_takes *= 2;
        } else if tally.done == tally.kills {
            order_takes /= 2;
        }
    }
    daemon.stop();
    let verified = command(directory, fourfold().args(["games", "verify"]));
    print!("{verified}");
    if !verified.contains("everything agrees") {
        tally.faults.push(format!("after orders and kills: {verified}"));
    }
    if tally.tells_nothing() {
        tally
            .faults
            .push(format!("of {} orders {} came to their end: nothing was tested", tally.kills, tally.done));
    }
    let Tally { kills, done, restored, faults } = tally;
    let figures = format!(
        "orders: {kills} kills, {done} orders had come to their end, {restored} backups restored and verified"
    );
    (figures, faults)
}

/// How long an order takes on this machine, as busy as it is: most of that is the start of the command.
fn time_of_an_order(directory: &Path) -> Duration {
    let began = Instant::now();
    let first = directory.join("first-copy").display().to_string();
    let ordered = give(directory, Order::Backup, &first).wait_with_output().expect("a command ends");
    assert!(ordered.status.success(), "{}", String::from_utf8_lossy(&ordered.stderr));
    began.elapsed()
}

#[derive(Default)]
struct Tally {
    kills: u32,
    /// Orders of which the command said that they were done.
    done: u32,
    restored: u32,
    faults: Vec<String>,
}

impl Tally {
    /// Whether all deaths came on the same side of the orders' ends.
    fn tells_nothing(&self) -> bool {
        self.done == 0 || self.done == self.kills
    }
}

/// What an order is about: a new file, a new account, a bot of the house.
fn target(directory: &Path, order: Order, cycle: u32) -> String {
    match order {
        Order::Backup => directory.join(format!("copy-{cycle}")).display().to_string(),
        Order::Ban => {
            let name = format!("outcast-{cycle}");
            let account = &mut fourfold();
            account.args(["account", "create", &name]).env("FOURFOLD_PASSWORD", "tea and biscuits");
            command(directory, account);
            name
        }
        Order::Void => (if cycle.is_multiple_of(2) { "random" } else { "greedy" }).to_owned(),
        Order::Drain => String::new(),
    }
}

fn words(order: Order, target: &str) -> Vec<&str> {
    match order {
        Order::Backup => vec!["backup", target],
        Order::Ban => vec!["admin", "ban", target, "--reason", "a test"],
        Order::Void => vec!["admin", "void", "--player", target, "--reason", "a test"],
        Order::Drain => vec!["admin", "drain", "--seconds", "100", "--reason", "a test"],
    }
}

fn give(directory: &Path, order: Order, target: &str) -> Child {
    let mut command: Command = fourfold();
    command.args(words(order, target)).arg("--data").arg(data(directory));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

fn check(directory: &Path, order: Order, target: &str, was_done: bool, tally: &mut Tally) {
    match order {
        Order::Backup if Path::new(target).exists() => {
            tally.restored += 1;
            if let Err(fault) = restore(directory, target) {
                tally.faults.push(fault);
            }
        }
        Order::Backup if was_done => tally.faults.push(format!("{target} was made, and is not there")),
        Order::Backup => {}
        Order::Ban => {
            let listed = command(directory, fourfold().args(["admin", "list", "accounts"]));
            let is_banned = listed.lines().any(|line| line.starts_with(target) && line.contains("banned"));
            if was_done && !is_banned {
                tally.faults.push(format!("the ban of {target} was lost"));
            }
        }
        // What was begun is gone on with, while games are played.
        Order::Void => drop(command(directory, fourfold().args(words(order, target)))),
        Order::Drain => {
            let status = command(directory, fourfold().arg("status"));
            if status.contains("drains") {
                tally.faults.push("the next daemon drains as well".to_owned());
            }
        }
    }
}

/// Restores a copy elsewhere and verifies it.
fn restore(directory: &Path, copy: &str) -> Result<(), String> {
    let home = directory.join("restored");
    let said = |words: &[&str]| {
        let output = fourfold().args(words).arg("--data").arg(&home).output().expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(text) } else { Err(format!("{copy}: {words:?}: {text}{errors}")) }
    };
    said(&["restore", copy])?;
    // Of a copy made while games of a player were taken out, what is left of it is done first.
    for player in ["random", "greedy"] {
        said(&["admin", "void", "--player", player, "--reason", "a test"])?;
    }
    said(&["games", "verify"])?;
    fs::remove_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))
}
