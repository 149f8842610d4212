//! The whole daemon over a store in memory.

mod bans;
mod model;
mod orders;
mod panics;
mod webhooks;

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::*;
use crate::model::clock::now;
use crate::model::device::Device;
use crate::model::ids::PlayerId;
use crate::model::player::{Identity, PlayerKind};
use crate::model::time::UnixMillis;
use crate::operations::verify::verify;
use crate::protocol::client::Hello;
use crate::session::SessionGateway;
use crate::session::port::{Caller, Credential, Gateway as _, Opened, RefusedHello};
use crate::storage::MemoryStore;
use crate::storage::memory::CommitFault;
use crate::storage::record::StoredPlayer;
use crate::storage::store::Write;
use crate::system::config::Bounded;

/// A daemon that is served.
struct TestDaemon {
    address: SocketAddr,
    metrics: SocketAddr,
    supervision: Supervision,
    services: Arc<Services>,
    tournaments: Tournaments,
    gateway: SessionGateway,
    store: Arc<MemoryStore>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), ServerError>>,
}

/// Two quick bots of the house, one thread, and nothing that begins by itself.
fn quiet() -> Config {
    let mut config = Config::quiet(["random", "greedy"]);
    config.server.restart_notice_ms = Bounded::new(0);
    config
}

impl TestDaemon {
    async fn start(config: Config) -> Self {
        Self::on(Arc::new(MemoryStore::new()), config).await
    }

    /// Over a store that another one may have left.
    async fn on(store: Arc<MemoryStore>, config: Config) -> Self {
        let bind = || async { TcpListener::bind("127.0.0.1:0").await.unwrap() };
        let kept = Arc::clone(&store) as Arc<dyn Store>;
        let (listener, metrics_listener) = (bind().await, bind().await);
        let metrics = metrics_listener.local_addr().unwrap();
        let metrics_listener = Some(metrics_listener);
        let pauses = Pauses::default();
        let parts = Parts {
            listener,
            metrics_listener,
            config,
            store: kept,
            key: [7; KEY_BYTES],
            pauses,
            node: NodeParts::default(),
        };
        let daemon = Box::pin(Daemon::start(parts)).await.unwrap();
        let (services, stop) = (Arc::clone(daemon.services()), CancellationToken::new());
        Self {
            address: daemon.address(),
            metrics,
            supervision: daemon.supervision().clone(),
            tournaments: daemon.tournaments().clone(),
            gateway: SessionGateway::new(Arc::clone(&services)),
            services,
            store,
            stop: stop.clone(),
            running: tokio::spawn(daemon.run(stop)),
        }
    }

    async fn open(&self, credential: Credential, hello: Hello) -> Result<Opened, RefusedHello> {
        let address = "127.0.0.1".parse().unwrap();
        self.gateway.open(hello, None, Caller { credential, address, site: None, received: now() }).await
    }

    async fn add(&self, name: &str, kind: PlayerKind, owner: Option<PlayerId>) -> Identity {
        let player =
            StoredPlayer { kind, owner, ..crate::storage::conformance::player(name, PlayerKind::Human) };
        let identity = crate::accounts::identity_of(&player);
        self.services.writer.write(Write::AddPlayer { player, password: None }).await.unwrap();
        identity
    }

    /// A person's cookie.
    async fn person(&self, name: &str) -> Credential {
        let identity = self.add(name, PlayerKind::Human, None).await;
        Credential::Cookie(
            self.services.accounts.open_session(&identity.id, Device::default()).await.unwrap().secret,
        )
    }

    /// The token of a remote bot with an owner of its own.
    async fn bot(&self, name: &str) -> Credential {
        let owner = self.add(&format!("{name}-owner"), PlayerKind::Human, None).await;
        let identity = self.add(name, PlayerKind::Bot, Some(owner.id)).await;
        Credential::Token(self.services.accounts.new_token(&identity.id).await.unwrap().secret)
    }

    /// One request on a connection of its own: the whole answer.
    async fn http(&self, method: &str, path: &str, body: &str) -> String {
        Self::http_at(self.address, method, path, body).await
    }

    async fn http_at(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // What was refused before it was read ends with a reset.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Stops it as planned and holds what it stored against the rules.
    async fn check_sound(self) {
        self.stop.cancel();
        drop((self.services, self.gateway, self.tournaments));
        self.running.await.unwrap().unwrap();
        let report = verify(&*self.store).await.unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
}

#[tokio::test]
async fn a_full_house_does_not_hide_the_metrics() {
    let mut config = quiet();
    config.limits.connections = Bounded::new(1);
    let daemon = TestDaemon::start(config).await;
    let only = TcpStream::connect(daemon.address).await.unwrap();
    let refused = daemon.http("GET", "/healthz", "").await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    let metrics = TestDaemon::http_at(daemon.metrics, "GET", "/metrics", "").await;
    assert!(metrics.starts_with("HTTP/1.1 200 "), "{metrics}");
    drop(only);
    daemon.check_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_disk_is_full_waits_for_nobody_and_says_so() {
    let daemon = TestDaemon::start(quiet()).await;
    (0..10_000).for_each(|_| daemon.store.inject(CommitFault::Full));
    let bot: PlayerId = "six".parse().unwrap();
    let write = Write::SeeVersion { bot, version: "1".into(), at: UnixMillis::now() };
    daemon.services.writer.submit(write, |_| {});
    tokio::time::sleep(Duration::from_secs(1)).await;
    let TestDaemon { services, gateway, stop, running, .. } = daemon;
    drop((services, gateway));
    let began = tokio::time::Instant::now();
    stop.cancel();
    let ended = running.await.unwrap();
    assert!(matches!(ended, Err(ServerError::Obstructed(Obstacle::DiskFull))), "{ended:?}");
    assert!(began.elapsed() <= PAUSE_MAX, "{:?}", began.elapsed());
}
