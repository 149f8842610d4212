//! Three nodes of one arena, each with a directory of its own, and lines of its own to the database and the bus.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::bus::Bus;
use crate::daemon::{Daemon, SETTINGS, data, fourfold, log_path, trusting};
use crate::line::{Cut, Line};
use crate::server;

/// So many nodes.
const NODES: usize = 3;

/// How long it may take until somebody leads.
const LEADER_MAX: Duration = Duration::from_secs(20);

/// Between two looks who leads.
const LOOK: Duration = Duration::from_millis(50);

/// The nodes, by number; none for one that does not run.
pub(crate) struct Nodes {
    arena: PathBuf,
    directories: Vec<PathBuf>,
    settings: Vec<String>,
    addresses: Vec<SocketAddr>,
    lines: Vec<Lines>,
    running: Vec<Option<Daemon>>,
    /// The version before, by which nodes run that were not upgraded yet.
    before: Option<PathBuf>,
    upgraded: [bool; NODES],
}

/// What a node reaches the others by.
struct Lines {
    database: Line,
    bus: Line,
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
    /// Starts them on the database that `arena` names, with its key; by a binary of the version before if there is one.
    pub(crate) async fn start(directory: &Path, arena: &Path, bus: &Bus, before: Option<&Path>) -> Self {
        let mut nodes = Self {
            arena: arena.to_owned(),
            directories: Vec::new(),
            settings: Vec::new(),
            addresses: Vec::new(),
            lines: Vec::new(),
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
            let socket = own.join("line");
            let (url, server) = url_by(&url, &socket);
            std::fs::write(server::url_file(&own), url).expect("a writable directory");
            let database = Line::to_database(&server, &socket);
            let (bus_address, bus) = Line::to_bus(bus.address()).await;
            nodes.lines.push(Lines { database, bus });
            let bus_url = Bus::url_by(bus_address);
            let settings = format!("{SETTINGS}\n[cluster]\nbus = \"{bus_url}\"\nnode = \"node-{number}\"\n");
            let daemon = nodes.start_one(number, &own, None, &settings);
            nodes.addresses.push(daemon.address());
            nodes.running.push(Some(daemon));
            nodes.directories.push(own);
            nodes.settings.push(settings);
        }
        nodes
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len()
    }

    /// Where players connect.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
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
        let address = Some(self.addresses[node]);
        let daemon = self.start_one(node, &self.directories[node], address, &self.settings[node]);
        self.running[node] = Some(daemon);
    }

    fn start_one(
        &self,
        node: usize,
        directory: &Path,
        address: Option<SocketAddr>,
        settings: &str,
    ) -> Daemon {
        match self.before.as_deref().filter(|_| !self.upgraded[node]) {
            Some(before) => Daemon::launch(trusting(Command::new(before)), directory, address, settings)
                .unwrap_or_else(|status| panic!("the version before was not ready, {status}")),
            None => Daemon::start(directory, address, settings),
        }
    }

    /// The nodes in the order in which an operator restarts them: the one that leads comes last, so that games move
    /// once.
    pub(crate) async fn in_order_of_restart(&self) -> Vec<usize> {
        let leader = self.leader().await;
        (0..self.len()).filter(|node| *node != leader).chain([leader]).collect()
    }

    /// Cuts one of a node's lines, or mends it.
    pub(crate) fn cut(&self, node: usize, far: Far, what: Cut) {
        let Lines { database, bus } = &self.lines[node];
        let line = if far == Far::Database { database } else { bus };
        line.cut(what);
    }

    /// So many times its log says that somebody else has the right to write: each is a commit that was fenced off.
    pub(crate) fn fenced(&self, node: usize) -> usize {
        let log = std::fs::read_to_string(log_path(&self.directories[node])).expect("a readable log");
        log.matches("another process has taken the database over").count()
    }

    /// One that runs.
    pub(crate) fn running(&self, node: usize) -> &Daemon {
        self.running[node].as_ref().expect("it runs")
    }

    /// Its exit code, if it ends by itself by then.
    pub(crate) async fn ended_within(&mut self, node: usize, patience: Duration) -> Option<Option<i32>> {
        let mut daemon = self.running[node].take().expect("it runs");
        daemon.ended_within(patience).await.map(|status| status.code())
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

/// The URL of a database by a socket of its own, and the directory of the server's.
fn url_by(url: &str, socket: &Path) -> (String, PathBuf) {
    let (user, rest) = url.split_once('@').expect("a user");
    let (server, database) = rest.split_once('/').expect("a database");
    let socket = socket.to_str().expect("plain characters").replace('/', "%2F");
    (format!("{user}@{socket}/{database}"), server.replace("%2F", "/").into())
}
