//! A NATS server of the test's own, with TLS and a user, as one on another machine must have them.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

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

/// What it shows to whoever connects.
const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/server.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/server.key");

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
    let mut command = Command::new("nats-server");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin"));
    command.args(["-a", &address.ip().to_string(), "-p", &address.port().to_string()]);
    command.args(["--tls", "--tlscert", CERTIFICATE, "--tlskey", KEY, "--user", USER, "--pass", PASSWORD]);
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + START_MAX;
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "the bus does not listen on {address}");
        tokio::time::sleep(LOOK).await;
    }
    Ok(process)
}
