//! Three nodes of one arena, each with a directory of its own, and lines of its own to the database and the bus.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::bus::Bus;
use crate::daemon::{Daemon, SETTINGS, data, fourfold, log_path, trusting};
use crate::line::{Cut, Line};
use crate::network::{self, Machine};
use crate::server;

/// So many nodes.
pub(crate) const NODES: usize = 3;

/// How long it may take until somebody leads.
const LEADER_MAX: Duration = Duration::from_secs(20);

/// Between two looks who leads.
const LOOK: Duration = Duration::from_millis(50);

/// Where players connect to a node on a machine of its own, where other nodes do, and where the database listens there.
const PLAYERS_PORT: u16 = 4444;
const NODES_PORT: u16 = 4446;
const DATABASE_PORT: u16 = 5432;

/// The nodes, by number; none for one that does not run.
pub(crate) struct Nodes {
    arena: PathBuf,
    sites: Vec<Site>,
    running: Vec<Option<Daemon>>,
    /// The version before, by which nodes run that were not upgraded yet.
    before: Option<PathBuf>,
    upgraded: [bool; NODES],
}

/// Where a node is.
struct Site {
    directory: PathBuf,
    settings: String,
    /// Where players connect; none before a node has found a port.
    address: Option<SocketAddr>,
    reach: Reach,
}

/// What a node reaches the others by.
enum Reach {
    Lines {
        database: Line,
        bus: Line,
    },
    /// It is on a machine of its own.
    Network(Machine),
}

/// A server to which a node's line can be cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Far {
    Database,
    Bus,
}

/// What `fourfold cluster status --json` prints, as far as it matters.
#[derive(Deserialize)]
struct Status {
    nodes: Vec<ShownNode>,
}

#[derive(Deserialize)]
struct ShownNode {
    name: String,
    role: String,
}

impl Nodes {
    /// Starts them on the database that `arena` names, with its key: by lines that can be cut, or each on a machine of
    /// its own; by a binary of the version before if there is one.
    pub(crate) fn start(directory: &Path, arena: &Path, bus: &Bus, before: Option<&Path>) -> Self {
        let mut nodes = Self {
            arena: arena.to_owned(),
            sites: Vec::new(),
            running: Vec::new(),
            before: before.map(Path::to_owned),
            upgraded: [false; NODES],
        };
        for number in 0..NODES {
            let own = directory.join(format!("node-{number}"));
            std::fs::create_dir_all(data(&own)).expect("a writable directory");
            std::fs::copy(data(arena).join("secret.key"), data(&own).join("secret.key"))
                .expect("a writable directory");
            let url = std::fs::read_to_string(server::url_file(arena)).expect("a server keeps it");
            let (url, site) = if network::is_entered() {
                Site::on_machine(own, number, &url, bus)
            } else {
                Site::by_lines(own, number, &url, bus)
            };
            std::fs::write(server::url_file(&site.directory), url).expect("a writable directory");
            nodes.sites.push(site);
            let daemon = nodes.start_one(number);
            nodes.sites[number].address = Some(daemon.address());
            nodes.running.push(Some(daemon));
        }
        nodes
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len()
    }

    /// Where players connect.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.sites.iter().map(|site| site.address.expect("it has started")).collect()
    }

    /// The number of the node that leads.
    pub(crate) async fn leader(&self) -> usize {
        let deadline = Instant::now() + LEADER_MAX;
        loop {
            let mut command = fourfold();
            let printed =
                server::tell(&self.arena, &mut command).args(["cluster", "status", "--json"]).output();
            let printed = printed.expect("the binary starts").stdout;
            if let Ok(status) = serde_json::from_slice::<Status>(&printed) {
                let leads = status.nodes.iter().find(|node| node.role == "leads");
                if let Some(number) = leads.and_then(|node| node.name.strip_prefix("node-")?.parse().ok()) {
                    return number;
                }
            }
            assert!(Instant::now() < deadline, "nobody leads: {}", String::from_utf8_lossy(&printed));
            tokio::time::sleep(LOOK).await;
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self, node: usize) {
        self.running[node].take().expect("it runs").kill();
    }

    pub(crate) fn start_again(&mut self, node: usize) {
        self.running[node] = Some(self.start_one(node));
    }

    fn start_one(&self, node: usize) -> Daemon {
        let Site { directory, settings, address, reach } = &self.sites[node];
        let before = self.before.as_deref().filter(|_| !self.upgraded[node]);
        let binary = before.unwrap_or(Path::new(env!("CARGO_BIN_EXE_fourfold")));
        let command = match reach {
            Reach::Lines { .. } => Command::new(binary),
            Reach::Network(machine) => machine.command(binary),
        };
        Daemon::launched(trusting(command), directory, *address, settings)
    }

    /// The nodes in the order in which an operator restarts them: the one that leads comes last, so that games move
    /// once.
    pub(crate) async fn in_order_of_restart(&self) -> Vec<usize> {
        let leader = self.leader().await;
        (0..self.len()).filter(|node| *node != leader).chain([leader]).collect()
    }

    /// Cuts one of a node's lines, or mends it.
    pub(crate) fn cut(&self, node: usize, far: Far, what: Cut) {
        match (&self.sites[node].reach, far) {
            (Reach::Lines { database, .. }, Far::Database) => database.cut(what),
            (Reach::Lines { bus, .. }, Far::Bus) => bus.cut(what),
            (Reach::Network(machine), _) => panic!("{machine:?} has a network, and no lines"),
        }
    }

    /// So many times its log says that a commit was refused: by the fence, or because whoever took over has ended the
    /// connection by which it would have come.
    pub(crate) fn refused_commits(&self, node: usize) -> usize {
        let log = std::fs::read_to_string(log_path(&self.sites[node].directory)).expect("a readable log");
        let said = ["another process has taken the database over", "nothing can be written, games wait"];
        said.iter().map(|said| log.matches(said).count()).sum()
    }

    /// One that runs.
    pub(crate) fn running(&self, node: usize) -> &Daemon {
        self.running[node].as_ref().expect("it runs")
    }

    /// Its exit code, if it ends by itself by then.
    pub(crate) async fn ended_within(&mut self, node: usize, patience: Duration) -> Option<Option<i32>> {
        let daemon = self.running[node].as_mut().expect("it runs");
        let status = daemon.ended_within(patience).await?;
        self.running[node] = None;
        Some(status.code())
    }

    /// Stops it as planned, and starts it again; by the new version, whatever it ran by.
    pub(crate) fn restart(&mut self, node: usize) {
        let daemon = self.running[node].take().expect("it runs");
        self.upgraded[node] = true;
        tokio::task::block_in_place(|| daemon.stop());
        tokio::task::block_in_place(|| self.start_again(node));
    }

    /// Stops them all as planned.
    pub(crate) fn stop(&mut self) {
        for daemon in self.running.iter_mut().filter_map(Option::take) {
            tokio::task::block_in_place(|| daemon.stop());
        }
    }
}

impl Site {
    /// One that reaches the others by lines of its own, which can be cut, and its URL of the database.
    fn by_lines(directory: PathBuf, number: usize, url: &str, bus: &Bus) -> (String, Self) {
        let socket = directory.join("line");
        let (url, server) = url_by(url, &socket);
        let database = Line::to_database(&server, &socket);
        let (bus_address, bus) = Line::to_bus(bus.address());
        let settings = settings(number, &Bus::url_by(bus_address));
        (url, Self { directory, settings, address: None, reach: Reach::Lines { database, bus } })
    }

    /// One on a machine of its own, and its URL of the database.
    fn on_machine(directory: PathBuf, number: usize, url: &str, bus: &Bus) -> (String, Self) {
        let machine = Machine::Node(number);
        let own = machine.address();
        let listen = format!("listen = \"{own}:{NODES_PORT}\"\n");
        let settings = settings(number, &bus.url()) + &listen;
        let (user, _, database) = parts(url);
        let url = format!("{user}@{}:{DATABASE_PORT}/{database}", Machine::Database.address());
        let address = Some((own, PLAYERS_PORT).into());
        (url, Self { directory, settings, address, reach: Reach::Network(machine) })
    }
}

/// The settings of a node, the last of which are those of the cluster.
fn settings(number: usize, bus: &str) -> String {
    format!("{SETTINGS}\n[cluster]\nbus = \"{bus}\"\nnode = \"node-{number}\"\n")
}

/// The URL of a database by a socket of its own, and the directory of the server's.
fn url_by(url: &str, socket: &Path) -> (String, PathBuf) {
    let (user, server, database) = parts(url);
    let socket = socket.to_str().expect("plain characters").replace('/', "%2F");
    (format!("{user}@{socket}/{database}"), server.replace("%2F", "/").into())
}

/// What stands before and after the server in the URL of a database, and the server.
fn parts(url: &str) -> (&str, &str, &str) {
    let (user, rest) = url.split_once('@').expect("a user");
    let (server, database) = rest.split_once('/').expect("a database");
    (user, server, database)
}
