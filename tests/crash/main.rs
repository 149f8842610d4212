//! The kill test: `kill -9` while games are played at full speed, again and again, and nothing acknowledged is lost.
//! Then the same while power, disk and clock fail: [`hardware`].
//!
//! ```sh
//! cargo test --release --test crash -- --cycles 50 --games 200 --seed 7
//! cargo test --release --test crash -- --cycles 50 --store postgres --restart-database 10
//! cargo test --release --test crash -- --cuts 500 --seed 7
//! ```
//!
//! The real binary is killed after 50 to 2,000 ms and started again on the same data. Clients, guests and rated bots,
//! keep their sessions and go on. A history of every acknowledged move is written; at the end it is compared with what
//! the store holds, and `fourfold games verify` must be content. Then the learners are killed while they learn, half as
//! often, and must know what the records teach, byte for byte. More than 50 kills are shared out over several data
//! directories. With `--store postgres` the arena of the first part is kept by a database server, which every third
//! death is that of; with `--restart-database N` it dies so many times more while the daemon lives, and it is measured
//! how soon moves are acknowledged again. Then it is killed while it does what an operator orders, and suspended, which
//! must cost no player any time, and runs out of files. Without arguments, as plain `cargo test` runs it, all is done
//! in a short form of a minute or so.

#![expect(clippy::print_stdout, reason = "the test is a command that reports its figures")]

mod arguments;
mod check;
mod daemon;
mod exhaustion;
mod hardware;
mod history;
mod kill;
mod learning;
mod orders;
mod pause;
mod players;
mod server;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use arguments::{Arguments, Place, Round};
use server::Server;

/// So many times the database server alone dies in the short form: two tell that it is no luck.
const SHORT_RESTARTS: u32 = 2;

fn main() -> ExitCode {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else { return ExitCode::SUCCESS };
    let directory = tempfile::tempdir().expect("a temporary directory");
    told::self_test();
    history::self_test(directory.path());
    let mut faults = kills(&arguments, directory.path());
    if arguments.is_short {
        faults.extend(short_kills_on_a_server(&arguments, directory.path()));
    }
    faults.extend(thread::scope(|scope| {
        // Both wait most of the time.
        let others = scope.spawn(|| arguments.rounds().next().map(|round| others(&round, directory.path())));
        let cut = arguments
            .cuts
            .map(|cuts| hardware::run(cuts, arguments.seed, &below(directory.path(), "hardware")));
        let others = others.join().expect("no panic beside failing hardware");
        [others, cut].into_iter().flatten().flatten().collect::<Vec<_>>()
    }));
    if faults.is_empty() {
        return ExitCode::SUCCESS;
    }
    for fault in faults.iter().take(20) {
        println!("FAULT: {fault}");
    }
    println!("{} faults; data and history are kept in {}", faults.len(), directory.keep().display());
    ExitCode::FAILURE
}

/// All rounds of the kill test and of that of the learners, until one finds something wrong.
fn kills(arguments: &Arguments, directory: &Path) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut total = kill::Total::default();
    let server = match arguments.place {
        Place::File => None,
        Place::Server => Some(Server::start().expect("PostgreSQL is installed")),
    };
    for (round, number) in arguments.rounds().zip(1..) {
        let directory = below(directory, &format!("round-{number}"));
        let (figures, mut faults) =
            runtime.block_on(kill::run(&round, &directory, server.as_ref(), &mut total));
        println!("{figures}");
        let learners = below(&directory, "learners");
        let (figures, more) = runtime.block_on(learning::run(&round, &learners));
        println!("{figures}");
        faults.extend(more);
        faults.extend(total.late_restart());
        if !faults.is_empty() {
            return faults;
        }
        std::fs::remove_dir_all(&directory).expect("the test's own directory can be removed");
    }
    if let Some(report) = total.report() {
        println!("{report}");
    }
    Vec::new()
}

/// The first round once more, if there is a database server to keep the arena; this dies alone too.
fn short_kills_on_a_server(arguments: &Arguments, directory: &Path) -> Vec<String> {
    let (Some(server), Some(round)) = (Server::start(), arguments.rounds().next()) else { return Vec::new() };
    let round = Round { restarts: SHORT_RESTARTS, ..round };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = below(directory, "on-a-server");
    let mut total = kill::Total::default();
    let (figures, faults) = runtime.block_on(kill::run(&round, &directory, Some(&server), &mut total));
    println!("on a database server, {figures}");
    faults
}

/// Kills while an operator's orders are carried out, and what does not kill the daemon: it is suspended, and runs out
/// of files.
fn others(round: &Round, directory: &Path) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (figures, mut faults) = runtime.block_on(orders::run(round, &below(directory, "ordered")));
    println!("{figures}");
    let (figures, more) = runtime.block_on(pause::run(round, &below(directory, "paused")));
    println!("{figures}");
    faults.extend(more);
    let (figures, more) = runtime.block_on(exhaustion::run(&below(directory, "full")));
    println!("{figures}");
    faults.extend(more);
    faults
}

/// A new directory in another one.
fn below(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir(&path).expect("a writable directory");
    path
}
