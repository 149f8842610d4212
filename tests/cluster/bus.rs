//! A NATS server of the test's own, with TLS and a user, as one on another machine must have them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::network::Machine;
use crate::server::postgres::leave_out;

/// How long it may take until it listens.
const START_MAX: Duration = Duration::from_secs(10);

/// Between two looks whether it does.
const LOOK: Duration = Duration::from_millis(20);

/// How long a killed server is away.
const AWAY: Duration = Duration::from_secs(2);

/// Who may say and hear something there.
const USER: &str = "arena";
const PASSWORD: &str = "of-the-test";

/// What it shows to whoever connects, on this machine and on one of its own.
const CERTIFICATES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/server"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/bus"),
];

/// Where it listens on a machine of its own.
const PORT: u16 = 4222;

/// A server, which goes with this value.
pub(crate) struct Bus {
    address: SocketAddr,
    process: Mutex<Child>,
}

impl Bus {
    /// Starts one; none if it is not installed, which is said, and is a failure where servers are required.
    pub(crate) async fn start() -> Option<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        drop(listener);
        Self::start_at(address).await
    }

    /// The same on the machine that is kept for it.
    pub(crate) async fn start_far() -> Option<Self> {
        Self::start_at((Machine::Bus.address(), PORT).into()).await
    }

    async fn start_at(address: SocketAddr) -> Option<Self> {
        match launch(address).await {
            Ok(process) => Some(Self { address, process: Mutex::new(process) }),
            Err(error) => {
                leave_out(&format!("NATS is not installed (Debian: apt-get install nats-server): {error}"));
                None
            }
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        Self::url_by(self.address)
    }

    /// Its URL for whoever reaches it by another address.
    pub(crate) fn url_by(address: SocketAddr) -> String {
        format!("tls://{USER}:{PASSWORD}@{address}")
    }

    /// `kill -9`, and a new start.
    pub(crate) async fn restart(&self) {
        self.kill();
        tokio::time::sleep(AWAY).await;
        let process = launch(self.address).await.expect("it started before");
        *self.process.lock().expect("nobody panics with it") = process;
    }

    fn kill(&self) {
        let mut process = self.process.lock().expect("nobody panics with it");
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn launch(address: SocketAddr) -> std::io::Result<Child> {
    let is_far = address.ip() != IpAddr::from(Ipv4Addr::LOCALHOST);
    let mut command = if is_far { Machine::Bus.command("nats-server") } else { Command::new("nats-server") };
    let shown = CERTIFICATES[usize::from(is_far)];
    let (certificate, key) = (format!("{shown}.pem"), format!("{shown}.key"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin"));
    command.args(["-a", &address.ip().to_string(), "-p", &address.port().to_string()]);
    command.args(["--tls", "--tlscert", &certificate, "--tlskey", &key, "--user", USER, "--pass", PASSWORD]);
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + START_MAX;
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "the bus does not listen on {address}");
        tokio::time::sleep(LOOK).await;
    }
    Ok(process)
}
