//! The daemon.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use fourfold::app::server::{Daemon, NodeParts, Parts};
use fourfold::cluster::bus::Faults;
use fourfold::competition::fair_play::RatingAlarms;
use fourfold::competition::self_test::SelfTests;
use fourfold::http::auth::set_cookie;
use fourfold::http::site::Site;
use fourfold::model::device::Device;
use fourfold::model::durability::Durability;
use fourfold::model::ids::PlayerId;
use fourfold::model::player::Identity;
use fourfold::model::player::PlayerKind;
use fourfold::model::portrait::Portrait;
use fourfold::model::secret::Secret;
use fourfold::session::limits::TransportLimits;
use fourfold::session::port::{Caller, Credential};
use fourfold::session::socket::{SocketDeps, serve};
use fourfold::session::{Services, SessionGateway};
use fourfold::storage::record::{BotProfile, StoredPlayer};
use fourfold::system::config::{Bounded, Config};
use fourfold::system::pauses::Pauses;

use fourfold::competition::tournament::Tournaments;
use fourfold::model::time::UnixMillis;
use fourfold::storage::store::Write;
use fourfold::storage::{SqliteStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::Client;

/// Real time after which a test that hangs is let go: time then jumps, and whoever waits gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The secret key of the data directory: the same after a restart.
const KEY: [u8; 32] = [7; 32];

/// Changes the settings that a test's daemon has otherwise.
type Settings = fn(&mut Config);

/// A running daemon.
pub(crate) struct Arena {
    /// Goes before what it looks at.
    carried: Carried,
    pub(crate) address: SocketAddr,
    pub(crate) services: Arc<Services>,
    pub(crate) tournaments: Tournaments,
    pub(crate) self_tests: SelfTests,
    rating_alarms: RatingAlarms,
    change: Settings,
    store: Arc<SqliteStore>,
    /// Where its database is, which outlives it.
    directory: TempDir,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    /// Tells the daemon that it runs. Nobody does otherwise: time jumps, and is no pause.
    pub(crate) pauses: Pauses,
    /// Time stands still while this lives.
    _hold: Option<Sender<()>>,
}

/// No ping is due while a test lets half a minute pass.
const HEARTBEAT: Duration = Duration::from_mins(1);

const DATABASE: &str = "fourfold.db";

thread_local! {
    /// The daemon of the test on this thread.
    static RUNNING: RefCell<Weak<Services>> = const { RefCell::new(Weak::new()) };
    /// Whether it is to reach its rooms over a bus, and what came over it.
    static OVER_A_BUS: Cell<bool> = const { Cell::new(false) };
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Whether daemons reach their rooms over a bus: all do if the environment says so.
fn rooms_are_remote() -> bool {
    OVER_A_BUS.get() || of_environment("FOURFOLD_TEST_REMOTE", 0) > 0
}

/// Runs a test whose daemons reach their rooms over a bus.
pub(crate) fn over_a_bus(test: impl FnOnce()) {
    OVER_A_BUS.set(true);
    TAKEN.set(0);
    test();
    OVER_A_BUS.set(false);
    assert!(TAKEN.get() > 0, "no room was reached over the bus");
}

/// Lets time pass once all that was to be written is: the database works in real time, and the daemon waits for it.
pub(crate) async fn advance(by: Duration) {
    until_stored().await;
    tokio::time::advance(by).await;
    until_stored().await;
}

/// Waits until all that the daemon has to write is written, and what follows from it too.
pub(crate) async fn until_stored() {
    for _ in 0..ROUNDS {
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
        let Some(services) = RUNNING.with_borrow(Weak::upgrade) else { return };
        // Nobody has this id, so nothing is written; the answer comes after those to all writes before it.
        let player = PlayerId::random(&mut rand::rng());
        let refused =
            services.writer.write(Write::SetPassword { player, password: String::new(), keeps: None }).await;
        assert!(refused.is_err());
    }
}

/// An answer of the store may lead to another write, and that to one more.
const ROUNDS: u32 = 3;

/// So often everybody has their turn before nothing more is to be done without the store or a socket.
const YIELDS: u32 = 20;

/// What is different from a real daemon: nobody plays unasked, few bots, and no ping while time jumps.
fn settings(change: Settings) -> Config {
    let mut config = Config::quiet(["random", "greedy"]);
    config.server.restart_notice_ms = Bounded::new(0);
    config.server.heartbeat_ms = Bounded::new(u32::try_from(HEARTBEAT.as_millis()).unwrap());
    change(&mut config);
    config
}

/// At the end of a daemon, counts what came over its bus: nothing of it may have been refused.
struct Carried(Weak<Services>);

impl Drop for Carried {
    fn drop(&mut self) {
        let Some(services) = self.0.upgrade() else { return };
        for counts in services.bus_counts().into_iter().flatten() {
            TAKEN.set(TAKEN.get() + counts.taken());
            let refused = counts.unreadable() + counts.unknown() + counts.replayed() + counts.unsent();
            assert!(refused == 0 || std::thread::panicking(), "{counts:?}");
        }
    }
}

impl Arena {
    /// A daemon with an empty database.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// The same with other settings.
    pub(crate) async fn start_with(change: Settings) -> Self {
        Self::open(tempfile::tempdir().unwrap(), change, Some(hold_time())).await
    }

    /// The same for a test whose clock is not paused.
    pub(crate) async fn in_real_time(change: Settings) -> Self {
        Self::open(tempfile::tempdir().unwrap(), change, None).await
    }

    async fn open(directory: TempDir, change: Settings, hold: Option<Sender<()>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let config = settings(change);
        let database = directory.path().join(DATABASE);
        let store = Arc::new(SqliteStore::open(&database, Durability::Relaxed).await.unwrap());
        let kept = Arc::clone(&store) as Arc<dyn Store>;
        let pauses = Pauses::default();
        let parts = Parts {
            listener,
            metrics_listener: None,
            config,
            store: kept,
            key: KEY,
            pauses: pauses.clone(),
            node: NodeParts::default(),
        };
        let daemon = if rooms_are_remote() {
            Daemon::start_over_a_bus(parts, Faults::NONE).await.unwrap()
        } else {
            Daemon::start(parts).await.unwrap()
        };
        let (address, services) = (daemon.address(), Arc::clone(daemon.services()));
        RUNNING.set(Arc::downgrade(&services));
        let tournaments = daemon.tournaments().clone();
        let self_tests = daemon.self_tests().clone();
        let rating_alarms = daemon.rating_alarms().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let serving = tokio::spawn(async move { daemon.run(stopped).await.unwrap() });
        Self {
            carried: Carried(Arc::downgrade(&services)),
            address,
            services,
            tournaments,
            self_tests,
            rating_alarms,
            change,
            store,
            directory,
            stop,
            serving,
            pauses,
            _hold: hold,
        }
    }

    /// Lets the daemon know that it shall stop; it goes on for the time of its notice.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.cancel();
    }

    /// Stops the daemon as planned and starts it again on the same data.
    pub(crate) async fn restart(self) -> Self {
        let Self {
            carried, services, tournaments, self_tests, change, store, directory, stop, serving, ..
        } = self;
        drop(carried);
        drop((services, tournaments, self_tests));
        stop.cancel();
        serving.await.unwrap();
        if let Some(store) = Arc::into_inner(store) {
            store.close().await.unwrap();
        }
        Self::open(directory, change, Some(hold_time())).await
    }

    /// A daemon on what a kill at this moment would leave on the disk. This one goes on as if nothing had happened.
    pub(crate) async fn after_a_kill(&self) -> Self {
        let copy = tempfile::tempdir().unwrap();
        for name in [DATABASE.to_owned(), format!("{DATABASE}-wal")] {
            std::fs::copy(self.directory.path().join(&name), copy.path().join(&name)).unwrap();
        }
        Self::open(copy, self.change, Some(hold_time())).await
    }

    /// What the operator is told of games given away: habit, player and opponent.
    pub(crate) async fn rating_alarms(&self) -> Vec<String> {
        until_stored().await;
        self.rating_alarms.all().iter().map(ToString::to_string).collect()
    }

    /// Games that go on, and those whose rooms linger.
    pub(crate) fn games(&self) -> usize {
        self.services.rooms()
    }

    /// Cuts a client's connection, and waits until the daemon has noticed.
    pub(crate) async fn lose(&self, client: Client) {
        let id = client.welcome["session"].as_str().unwrap().parse().unwrap();
        drop(client);
        while self.services.sessions.get(&id).is_some_and(|session| session.is_attached()) {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until a player has no session any more.
    pub(crate) async fn until_left(&self, client: &Client) {
        let id = client.id().parse().unwrap();
        while self.services.sessions.present(&id).is_some() {
            tokio::task::yield_now().await;
        }
    }

    /// The address of the socket.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}/api/v1/socket", self.address)
    }

    /// A person without an account, connected.
    pub(crate) async fn guest(&self) -> Client {
        Client::open(&self.url(), &[], hello()).await
    }

    /// A guest behind a pipe that holds so few bytes that the daemon soon notices who does not read.
    pub(crate) async fn guest_by_a_thin_pipe(&self, pipe_bytes: usize) -> Client {
        let (ours, theirs) = tokio::io::duplex(pipe_bytes);
        let caller = Caller {
            credential: Credential::None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            site: None,
            received: tokio::time::Instant::now().into_std(),
        };
        let limits = TransportLimits { heartbeat: HEARTBEAT, ..TransportLimits::default() };
        let deps = SocketDeps {
            gateway: Arc::new(SessionGateway::new(Arc::clone(&self.services))),
            limits: Arc::new(limits),
            stop: CancellationToken::new(),
        };
        tokio::spawn(serve(theirs, caller, deps));
        let mut client = Client::over(WebSocketStream::from_raw_socket(ours, Role::Client, None).await);
        client.say(&hello());
        client.welcome = client.next().await;
        client
    }

    /// A person with an account, connected.
    pub(crate) async fn person(&self, name: &str) -> Client {
        let person = self.account(name).await;
        self.connect_person(&person, hello()).await
    }

    /// Another connection of a person.
    pub(crate) async fn connect_person(&self, person: &Identity, hello: Value) -> Client {
        let cookie = self.services.accounts.open_session(&person.id, Device::default()).await.unwrap().secret;
        let cookie = set_cookie(&Site::default(), &cookie);
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        let headers = [("Cookie", cookie), ("Origin", format!("http://{}", self.address))];
        Client::open(&self.url(), &headers, hello).await
    }

    /// An open bot with an owner of its own, connected.
    pub(crate) async fn bot(&self, name: &str) -> Client {
        self.bot_with(name, json!({})).await
    }

    /// The same with more in its `hello`.
    pub(crate) async fn bot_with(&self, name: &str, more: Value) -> Client {
        let token = self.token(name).await;
        self.connect_bot(&token, more).await
    }

    /// A bot with this token, open unless `more` says otherwise.
    pub(crate) async fn connect_bot(&self, token: &Secret, more: Value) -> Client {
        let mut hello = hello();
        hello["open"] = json!(true);
        merge(&mut hello, more);
        Client::open(&self.url(), &[bearer(token)], hello).await
    }

    /// A new bot's token; an account of its own owns it.
    pub(crate) async fn token(&self, name: &str) -> Secret {
        let owner = self.account(&format!("{name}-owner")).await;
        self.token_of(&owner, name).await
    }

    /// A new bot's token.
    pub(crate) async fn token_of(&self, owner: &Identity, name: &str) -> Secret {
        self.services.accounts.create_bot(owner, name).await.unwrap().secret
    }

    /// A new account. It has no password, because making one takes long.
    pub(crate) async fn account(&self, name: &str) -> Identity {
        let player = StoredPlayer {
            id: PlayerId::random(&mut rand::rng()),
            name: name.parse().unwrap(),
            kind: PlayerKind::Human,
            house: false,
            owner: None,
            profile: BotProfile::default(),
            portrait: Portrait::default(),
            created_at: UnixMillis::now(),
            ban: None,
            mute: None,
            start: None,
        };
        let identity = fourfold::accounts::identity_of(&player);
        self.services.writer.write(Write::AddPlayer { player, password: None }).await.unwrap();
        identity
    }
}

/// How much a test does, unless the environment asks for more.
pub(crate) fn of_environment(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a whole number"))
}

/// The plainest `hello`.
pub(crate) fn hello() -> Value {
    json!({"type": "hello", "protocol": 1, "client": {"name": "test", "version": "0"}})
}

pub(crate) fn bearer(token: &Secret) -> (&'static str, String) {
    ("Authorization", format!("Bearer {}", token.expose()))
}

pub(crate) fn merge(message: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("{more} is no object") };
    message.as_object_mut().unwrap().extend(more);
}

/// A paused clock jumps to the next timer when nothing is to be done, unless a blocking task runs.
fn hold_time() -> Sender<()> {
    let (hold, released) = channel();
    tokio::task::spawn_blocking(move || {
        if released.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("the test hangs: time is let go");
        }
    });
    hold
}
