//! The cluster test: three real nodes on a real database and a real bus, which are killed, frozen and restarted while
//! games are played across them. Nothing acknowledged may be lost, and every game must go on soon.
//!
//! ```sh
//! cargo test --release --test cluster -- --kills 20 --games 300
//! cargo test --release --test cluster -- --zombies 20
//! cargo test --release --test cluster -- --rolling 3 --games 1000
//! cargo test --release --test cluster -- --rolling 1 --upgrade-from OLD/fourfold
//! cargo test --release --test cluster -- --bus-restart 10
//! cargo test --release --test cluster -- --database-restart 10
//! cargo test --release --test cluster -- --cut database --one-way --rounds 20
//! cargo test --release --test cluster -- --cut bus --rounds 20
//! cargo test --release --test cluster -- --resume 1000
//! cargo test --release --test cluster -- --sockets 10000
//! cargo test --release --test cluster -- --namespaces 24
//! ```
//!
//! The two players of a game reach the arena through balancers that begin at different nodes. `--kills` kills nodes
//! with `kill -9`, mostly the one that leads, and starts each again after a moment. `--zombies` suspends the one that
//! leads for longer than its lease, so that another one takes its place, and lets it go on: it must find itself
//! replaced and end. `--cut` takes a node's line to the database or the bus away for longer than a lease, in turn that
//! of the one that leads and that of another one: what is sent waits, with `--one-way` in one direction alone.
//! `--rolling` stops each node in turn as an upgrade does, the one that leads last; with `--upgrade-from` it is one,
//! from the version before beside this one to this one alone. `--resume` lets clients change nodes while their session
//! lives. `--sockets` kills a node that stands by, which so many clients are connected to, and waits until all have
//! gone on at the others (`ulimit -n` over twice their number). `--namespaces` puts each node, the database and the bus
//! into a network namespace of its own, and lets a node's link be down, loses what it sends or what is sent to it, or
//! makes its line a bad one. Without arguments a little of everything is done.

#![expect(clippy::print_stdout, reason = "the test is a command that reports its figures")]

mod arguments;
mod balancer;
mod bus;
mod client;
mod line;
mod network;
mod nodes;
mod partitions;
mod resume;
mod storm;
mod witness;
mod workers;

#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/check.rs"]
mod check;
#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/daemon.rs"]
mod daemon;
#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/history.rs"]
mod history;
#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/players.rs"]
mod players;
#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/server.rs"]
mod server;
#[allow(dead_code, reason = "the kill test of one daemon needs more of it")]
#[path = "../crash/told.rs"]
mod told;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use arguments::Arguments;
use balancer::{Answer, Balancer, Entrance};
use bus::Bus;
use fourfold::client::load::Witness;
use history::History;
use line::Cut;
use network::{Machine, Network};
use nodes::{Far, NODES, Nodes};
use players::{Seating, TIME};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use server::Server;
use tokio_util::sync::CancellationToken;
use witness::Watch;

/// How long it may take until everybody plays.
const SEATING_MAX: Duration = Duration::from_mins(2);

/// How long it may take until the one that leads knows that the others live, and between two looks.
const SPARED_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Between two things that happen to the cluster, in milliseconds.
const QUIET_MS: std::ops::RangeInclusive<u64> = 500..=2_500;

/// How long a killed node is away.
const AWAY: Duration = Duration::from_secs(1);

/// How long a leader stands still: longer than its lease and what it takes to replace it.
const STILL: Duration = Duration::from_secs(9);

/// How long a frozen node may take to find out that it was replaced.
const END_MAX: Duration = Duration::from_secs(10);

/// Of so many replaced leaders one tries to commit before it looks who leads.
const ZOMBIES_ENOUGH: u32 = 5;

/// A game stands still for at most so long, whatever dies.
const GOES_ON_MAX: Duration = Duration::from_secs(8);

/// What the short form does on a network of its own.
const PARTITION: [&str; 2] = ["--namespaces", "1"];

/// Before something else happens, so that whoever was started again may take over: it must have beaten for a while.
const SETTLING: Duration = Duration::from_millis(2_500);

/// Time after the last fault in which everybody plays on, and for what ends in it to be told.
const LAST_LIFE: Duration = Duration::from_secs(4);
const LAST_NEWS: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else { return ExitCode::SUCCESS };
    if arguments.namespaces > 0 && !network::is_entered() {
        let code = network::enter(std::env::args().skip(1));
        return if code.unwrap_or(0) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let network = network::is_entered().then(|| {
        let _guard = runtime.enter();
        Network::lay(NODES, arguments.seed)
    });
    let started = runtime.block_on(start(network.as_ref()));
    let (Some(server), Some(bus)) = started else { return ExitCode::SUCCESS };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut faults = runtime.block_on(run(&arguments, directory.path(), &server, &bus, network.as_ref()));
    if arguments.is_short {
        faults.extend(runtime.block_on(workers::test(directory.path(), &server, &bus)));
        if network::enter(PARTITION.map(str::to_owned)).is_some_and(|code| code != 0) {
            faults.push("something was wrong on a network of its own".to_owned());
        }
    }
    if faults.is_empty() {
        return ExitCode::SUCCESS;
    }
    for fault in faults.iter().take(20) {
        println!("FAULT: {fault}");
    }
    println!("{} faults; data, logs and history are kept in {}", faults.len(), directory.keep().display());
    ExitCode::FAILURE
}

/// What the nodes need, each on its machine if there is a network.
async fn start(network: Option<&Network>) -> (Option<Server>, Option<Bus>) {
    if network.is_none() {
        return (Server::start(), Bus::start().await);
    }
    let database = tokio::task::spawn_blocking(|| {
        let by = Machine::Database.run_by();
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        Server::start_elsewhere(&by, &Machine::Database.address().to_string())
    });
    (database.await.expect("a shell is no trouble"), Bus::start_far().await)
}

async fn run(
    arguments: &Arguments,
    directory: &Path,
    server: &Server,
    bus: &Bus,
    network: Option<&Network>,
) -> Vec<String> {
    let arena = directory.join("arena");
    std::fs::create_dir(&arena).expect("a writable directory");
    server.keep(&arena);
    let before = arguments.upgrade_from.as_deref();
    // A database of this version is one that the version before cannot lead with.
    let first_binary = || before.map_or_else(daemon::fourfold, std::process::Command::new);
    let bots = players::create_bots_by(&first_binary, &arena, arguments.games);
    let mut nodes = Nodes::start(directory, &arena, bus, before);
    let balancers = [
        Balancer::start(nodes.addresses(), 0, Entrance::Anywhere).await,
        Balancer::start(nodes.addresses(), 1, Entrance::WhereTold).await,
    ];
    let history = Arc::new(History::create(&directory.join("history.ndjson")));
    let watch = Arc::new(Watch::new(Arc::clone(&history)));
    let witness: Arc<dyn Witness> = Arc::<Watch>::clone(&watch);
    let stop = CancellationToken::new();
    let seating =
        Seating { games: arguments.games, time: TIME, think: arguments.think(), seed: arguments.seed };
    let playing =
        players::start(&seating, &bots, balancers.each_ref().map(Balancer::address), &witness, &stop);
    let seated = history.games_begun(arguments.games as usize);
    tokio::time::timeout(SEATING_MAX, seated).await.expect("everybody finds a game");
    let mut test = Test {
        arguments,
        server,
        bus,
        watch: &watch,
        rng: ChaCha8Rng::seed_from_u64(arguments.seed),
        refused: 0,
    };
    let mut faults = Vec::new();
    if before.is_none() {
        faults.extend(spares_the_leader(&nodes).await);
    }
    for round in 0..arguments.namespaces {
        faults.extend(test.partition(&mut nodes, network.expect("it was laid"), round).await);
    }
    faults.extend(test.faults_happen(&mut nodes).await);
    tokio::time::sleep(LAST_LIFE).await;
    history.stopping();
    tokio::time::sleep(LAST_NEWS).await;
    stop.cancel();
    playing.finish().await;
    nodes.stop();
    let wrong = check::compare(&arena, &history).await;
    let lost = wrong.iter().filter(|fault| fault.contains("acknowledged")).count();
    println!(
        "cluster: 3 nodes, {} games at a time, seed {}: {}; {lost} acknowledged moves lost",
        arguments.games,
        arguments.seed,
        history.summary(),
    );
    faults.extend(wrong);
    faults
}

/// What happens to a cluster while everybody plays.
struct Test<'t> {
    arguments: &'t Arguments,
    server: &'t Server,
    bus: &'t Bus,
    watch: &'t Watch,
    rng: ChaCha8Rng,
    /// Commits of replaced leaders that were refused.
    refused: usize,
}

/// A leader that was replaced must end by itself.
async fn replaced(nodes: &mut Nodes, leader: usize) -> Option<String> {
    match nodes.ended_within(leader, END_MAX).await {
        Some(Some(74 | 75)) => None,
        ended => Some(format!("a leader that was replaced ended with {ended:?}, not 74 or 75")),
    }
}

/// Players must be told to enter by all nodes but the one that leads, soon after all have started.
async fn spares_the_leader(nodes: &Nodes) -> Option<String> {
    let expected = async {
        loop {
            let leader = nodes.leader().await;
            let told = balancer::entrances(&nodes.addresses()).await;
            let expected = |node| if node == leader { Answer::Elsewhere } else { Answer::Enter };
            if told.iter().enumerate().all(|(node, told)| *told == Some(expected(node))) {
                return;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let waited = tokio::time::timeout(SPARED_WITHIN, expected).await;
    waited.err().map(|_| "players are not told to enter by those who stand by alone".to_owned())
}

impl Test<'_> {
    async fn faults_happen(&mut self, nodes: &mut Nodes) -> Vec<String> {
        let mut faults = Vec::new();
        for kill in 0..self.arguments.kills {
            self.quiet().await;
            let leader = nodes.leader().await;
            // Whoever leads is who matters; the others must be missed by nobody either.
            let killed = if kill % 3 == 2 { (leader + 1) % nodes.len() } else { leader };
            nodes.kill(killed);
            self.watch.fault();
            tokio::time::sleep(AWAY).await;
            nodes.start_again(killed);
        }
        faults.extend(self.report("kills of a node", self.arguments.kills, GOES_ON_MAX).await);
        for _ in 0..self.arguments.zombies {
            self.quiet().await;
            let leader = nodes.leader().await;
            let refused = nodes.refused_commits(leader);
            nodes.running(leader).freeze();
            self.watch.fault();
            tokio::time::sleep(STILL).await;
            nodes.running(leader).thaw();
            faults.extend(replaced(nodes, leader).await);
            self.refused += nodes.refused_commits(leader) - refused;
            nodes.start_again(leader);
        }
        faults.extend(self.report("leaders frozen and replaced", self.arguments.zombies, GOES_ON_MAX).await);
        faults.extend(self.report_refused());
        for (far, cuts) in
            [(Far::Database, self.arguments.database_cuts), (Far::Bus, self.arguments.bus_cuts)]
        {
            for round in 0..cuts {
                faults.extend(self.cut(nodes, far, round).await);
            }
            faults.extend(self.report(&format!("cuts of a line to the {far:?}"), cuts, GOES_ON_MAX).await);
        }
        if self.arguments.resumes > 0 {
            faults.extend(resume::test(&nodes.addresses(), self.arguments.resumes as usize).await);
        }
        if self.arguments.sockets > 0 {
            self.watch.fault();
            faults.extend(storm::test(nodes, self.arguments.sockets as usize, self.watch.history()).await);
            faults.extend(self.report("death of a node with many clients", 1, GOES_ON_MAX).await);
        }
        for _ in 0..self.arguments.rolling {
            for node in nodes.in_order_of_restart().await {
                // As an operator does who looks whether the arena is well before the next one.
                self.quiet().await;
                self.watch.all_go_on(GOES_ON_MAX).await;
                self.watch.fault();
                nodes.restart(node);
            }
        }
        faults.extend(self.report("rounds of planned restarts", self.arguments.rolling, GOES_ON_MAX).await);
        for _ in 0..self.arguments.bus_restarts {
            self.quiet().await;
            self.watch.fault();
            self.bus.restart().await;
        }
        faults.extend(self.report("deaths of the bus", self.arguments.bus_restarts, GOES_ON_MAX).await);
        for _ in 0..self.arguments.database_restarts {
            self.quiet().await;
            self.watch.fault();
            self.server.kill().await;
        }
        faults.extend(
            self.report("deaths of the database", self.arguments.database_restarts, GOES_ON_MAX).await,
        );
        faults
    }

    /// Takes one of a node's lines away for longer than its lease: that of the one that leads, then that of another.
    async fn cut(&mut self, nodes: &mut Nodes, far: Far, round: u32) -> Option<String> {
        self.quiet().await;
        let leader = nodes.leader().await;
        let is_of_leader = round.is_multiple_of(2);
        let node = if is_of_leader { leader } else { (leader + 1) % nodes.len() };
        let what = match (self.arguments.is_one_way, round / 2 % 2) {
            (false, _) => Cut::Everything,
            (true, 0) => Cut::ToServer,
            (true, _) => Cut::FromServer,
        };
        nodes.cut(node, far, what);
        self.watch.fault();
        tokio::time::sleep(STILL).await;
        nodes.cut(node, far, Cut::Nothing);
        if far == Far::Bus || !is_of_leader {
            // Nobody may have missed it.
            return (nodes.leader().await != leader).then(|| format!("{what:?} to the {far:?} cost a lead"));
        }
        let fault = replaced(nodes, leader).await;
        nodes.start_again(leader);
        fault
    }

    /// That commits of whoever was replaced were tried, and refused: what the players saw says that none was taken.
    fn report_refused(&self) -> Option<String> {
        let zombies = self.arguments.zombies;
        if zombies == 0 {
            return None;
        }
        println!("{} commits of {zombies} replaced leaders were refused", self.refused);
        (self.refused == 0 && zombies >= ZOMBIES_ENOUGH)
            .then(|| "no replaced leader tried to commit".to_owned())
    }

    /// Lets everybody play for a while.
    async fn quiet(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.rng.random_range(QUIET_MS))).await;
    }

    /// Prints how long games stood still, and says which did for too long.
    async fn report(&self, what: &str, times: u32, longest: Duration) -> Option<String> {
        if times == 0 {
            return None;
        }
        self.watch.all_go_on(longest).await;
        tokio::time::sleep(SETTLING).await;
        let still = self.watch.take();
        println!("{times} {what}: {still}");
        (still.longest() > longest).then(|| format!("{what}: a game stood still for {:?}", still.longest()))
    }
}
