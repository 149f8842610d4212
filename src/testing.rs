//! A whole arena in memory, for tests: all actors run, time is the test's, and clients speak through the session port.

#[cfg(test)]
pub(crate) mod postgres;
#[cfg(test)]
pub(crate) mod seeds;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use fourfold_engine::BySide;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use self::postgres::PostgresServer;
use crate::accounts::Accounts;
use crate::analysis::compute::ComputePool;
use crate::lobby::LobbyActor;
use crate::lobby::actor::{LinkedSite, LobbyDeps};
use crate::model::bounded::{Bounded, BoundedLong};
use crate::model::clock::{GameTime, TimeControl, now};
use crate::model::device::Device;
use crate::model::ids::{GameId, PlayerId};
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::model::secret::Secret;
use crate::play::feeds::Feeds;
use crate::play::host::admission::Requirement;
use crate::play::host::{GameOffer, Host, HostDeps, Origin};
use crate::play::house::HouseBots;
use crate::play::orders::Orders;
use crate::play::presence::outbox::{Attachment, Next};
use crate::play::room::Directory;
use crate::protocol::client::{ColumnField, Hello, Move, OnGame, Resign, Resume};

use crate::model::fault::ILLEGAL_FORGIVEN;
use crate::model::player::PlayerKind;
use crate::protocol::server::{Snapshot, Welcome};
use crate::protocol::{ClientMessage, ErrorCode, FEATURES, Request, ServerMessage, WireError};
use crate::session::departed::Departed;
use crate::session::doors::Doors;
use crate::session::port::{Caller, Credential, Disconnected, Gateway, Opened, RefusedHello, SessionPort};
use crate::session::{Services, SessionGateway};
use crate::system::config::{HouseBotConfig, ProgramsConfig};
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::pauses::Pauses;
use crate::system::shares::Shares;
use crate::system::supervision::Supervision;
use crate::system::tasks::Tasks;

use crate::model::signing::{KEY_BYTES, Signer};
use crate::play::presence::Sessions;
use crate::storage::games::GameStore;
use crate::storage::record::{OpeningSource, StoredPlayer};

use crate::analysis::live_value::LiveValues;
use crate::model::time::UnixMillis;
use crate::storage::store::{Store, Write};
use crate::storage::{MemoryStore, Writer};

pub(crate) const BLITZ: TimeControl =
    TimeControl { bank_ms: Some(60_000), increment_ms: 1_000, move_ms: None };

/// One server for all checks of this process that need one, each of which has a part of it for itself.
pub(crate) static POSTGRES: LazyLock<Option<PostgresServer>> = LazyLock::new(PostgresServer::start);

/// What an arena is made of.
pub(crate) struct Setup {
    pub(crate) house: &'static [(&'static str, &'static str)],
    pub(crate) games_max: u32,
    pub(crate) pair_limit: u32,
    /// Games of all players at the same time.
    pub(crate) arena_games_max: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            house: &[("Rando", "random"), ("Greta", "greedy")],
            games_max: 4,
            pair_limit: 20,
            arena_games_max: 1_000,
        }
    }
}

/// All parts, wired as the daemon wires them.
pub(crate) struct Arena {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) services: Arc<Services>,
    pub(crate) gateway: SessionGateway,
}

impl Arena {
    pub(crate) async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    pub(crate) async fn with(setup: Setup) -> Self {
        Self::over(Arc::new(MemoryStore::new()), setup, UnixMillis::now()).await
    }

    /// A new process over what an earlier one has stored.
    pub(crate) async fn restarted(store: Arc<MemoryStore>) -> Self {
        let arena = Self::restarted_with(store, Setup::default()).await;
        arena.take_up_games().await;
        arena
    }

    /// The same before its games are taken up.
    pub(crate) async fn restarted_with(store: Arc<MemoryStore>, setup: Setup) -> Self {
        // Surely later than all that was issued before, though tests pass within a millisecond.
        let started_at = UnixMillis(UnixMillis::now().0 + 1_000);
        Self::over(store, setup, started_at).await
    }

    /// Takes up the games that are live in the store.
    pub(crate) async fn take_up_games(&self) {
        self.services.host.restore(self.store.live_games().await.unwrap()).await.unwrap();
    }

    async fn over(store: Arc<MemoryStore>, setup: Setup, started_at: UnixMillis) -> Self {
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let (writer, writer_actor) = Writer::new(Arc::clone(&shared));
        tokio::spawn(writer_actor.run());
        let signer = Signer::new(&[7; KEY_BYTES]);
        let networks = Shares::default();
        let accounts = Accounts::new(Arc::clone(&shared), writer.clone(), signer.clone(), networks.clone());
        accounts.read_blocks().await.unwrap();
        let configured: Vec<HouseBotConfig> = setup
            .house
            .iter()
            .map(|(name, spec)| HouseBotConfig::new(name.parse().unwrap(), spec.parse().unwrap()))
            .collect();
        let files = std::path::Path::new(".");
        let house =
            HouseBots::set_up(&configured, &ProgramsConfig::default(), files, shared.as_ref(), &writer)
                .await
                .unwrap();
        let (directory, tasks) = (Directory::default(), Tasks::for_tests(Part::Session));
        let metrics = Arc::new(Metrics::new());
        let sessions = Sessions::new(setup.games_max);
        let feeds = Feeds::new(directory.clone(), || 0);
        let (host, host_actor) = Host::new(HostDeps {
            store: Arc::clone(&shared),
            writer: writer.clone(),
            accounts: accounts.clone(),
            directory: directory.clone(),
            sessions: sessions.clone(),
            house,
            pool: ComputePool::new(1),
            thinkers: None,
            feeds: feeds.clone(),
            tasks: tasks.clone(),
            metrics: Arc::clone(&metrics),
            pair_limit: setup.pair_limit,
            self_test: Requirement::Optional,
            live_values: LiveValues::default(),
            watch_delay: Duration::ZERO,
            shares: networks.clone(),
            games_max: setup.arena_games_max,
            pauses: Pauses::default(),
            orders: Orders::default(),
        });
        let (lobby, mut lobby_actor) = LobbyActor::new(LobbyDeps {
            store: Arc::clone(&shared),
            writer: writer.clone(),
            sessions: sessions.clone(),
            host: host.clone(),
            feeds: feeds.clone(),
            tasks: tasks.clone(),
            shares: networks.clone(),
            site: LinkedSite::Named("http://arena.test".parse().unwrap()),
        });
        lobby_actor.take_up_links().await.unwrap();
        let supervision = Supervision::new(Arc::clone(&metrics));
        tokio::spawn(supervision.clone().keep(host_actor, CancellationToken::new()));
        tokio::spawn(supervision.keep(lobby_actor, CancellationToken::new()));
        let services = Arc::new(Services {
            guests_play: true,
            store: shared,
            writer,
            accounts,
            signer,
            directory,
            sessions,
            departed: Departed::default(),
            host,
            lobby,
            feeds,
            doors: Doors::new(&networks),
            shares: networks,
            metrics,
            tasks,
            stop: CancellationToken::new(),
            sockets_stop: CancellationToken::new(),
            started_at,
            last_stored: UnixMillis::default(),
            heartbeat: Duration::from_secs(10),
            messages_per_20s: 100,
            connections_per_account: 8,
            illegal_retries: ILLEGAL_FORGIVEN,
            durability: "strict",
            features: FEATURES.to_vec(),
        });
        let gateway = SessionGateway::new(Arc::clone(&services));
        Self { store, services, gateway }
    }

    /// Lets everything happen that needs next to no time.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn add(&self, name: &str, kind: PlayerKind, owner: Option<PlayerId>) -> Identity {
        let player =
            StoredPlayer { kind, owner, ..crate::storage::conformance::player(name, PlayerKind::Human) };
        let identity = crate::accounts::identity_of(&player);
        self.services.writer.write(Write::AddPlayer { player, password: None }).await.unwrap();
        identity
    }

    /// Somebody with an account, and the cookie that says so.
    pub(crate) async fn person(&self, name: &str) -> Account {
        let identity = self.add(name, PlayerKind::Human, None).await;
        let issued = self.services.accounts.open_session(&identity.id, Device::default()).await.unwrap();
        Account { identity, credential: Credential::Cookie(issued.secret) }
    }

    /// A remote bot with an owner of its own, and its token.
    pub(crate) async fn bot(&self, name: &str) -> Account {
        let owner = self.add(&format!("{name}-owner"), PlayerKind::Human, None).await;
        let identity = self.add(name, PlayerKind::Bot, Some(owner.id)).await;
        let issued = self.services.accounts.new_token(&identity.id).await.unwrap();
        Account { identity, credential: Credential::Token(issued.secret) }
    }

    pub(crate) async fn join(&self, account: &Account) -> Client {
        self.hello(account.credential.clone(), hello()).await
    }

    pub(crate) async fn join_open(&self, account: &Account) -> Client {
        self.hello(account.credential.clone(), Hello { open: Some(true), ..hello() }).await
    }

    pub(crate) async fn guest(&self) -> Client {
        self.hello(Credential::None, hello()).await
    }

    pub(crate) async fn hello(&self, credential: Credential, hello: Hello) -> Client {
        let opened = self.try_hello(credential, hello).await.unwrap();
        Client::new(opened)
    }

    pub(crate) async fn try_hello(
        &self,
        credential: Credential,
        hello: Hello,
    ) -> Result<Opened, RefusedHello> {
        self.try_hello_from("127.0.0.1", credential, hello).await
    }

    /// The same from another address; this machine's is counted for nobody.
    pub(crate) async fn try_hello_from(
        &self,
        address: &str,
        credential: Credential,
        hello: Hello,
    ) -> Result<Opened, RefusedHello> {
        let address = address.parse().unwrap();
        self.gateway.open(hello, None, Caller { credential, address, site: None, received: now() }).await
    }

    /// Somebody with an account, connected from an address.
    pub(crate) async fn join_from(&self, address: &str, account: &Account) -> Client {
        Client::new(self.try_hello_from(address, account.credential.clone(), hello()).await.unwrap())
    }

    pub(crate) async fn guest_from(&self, address: &str) -> Client {
        Client::new(self.try_hello_from(address, Credential::None, hello()).await.unwrap())
    }

    /// Starts a casual game.
    pub(crate) async fn start(&self, first: &Identity, second: &Identity) -> GameId {
        self.services.host.start(offer(first, second)).await.unwrap()
    }
}

/// [`BLITZ`] as clients say it.
pub(crate) fn blitz() -> GameTime {
    GameTime::new(BLITZ).unwrap()
}

pub(crate) fn offer(first: &Identity, second: &Identity) -> GameOffer {
    GameOffer {
        players: BySide { first: first.clone(), second: second.clone() },
        variant: fourfold_engine::Variant::STANDARD,
        time: BLITZ,
        rated: false,
        opening: OpeningSource::default(),
        pair: None,
        origin: Origin::Players,
        pace: BotPace::default(),
    }
}

pub(crate) fn hello() -> Hello {
    Hello {
        protocol: Bounded::default(),
        token: None,
        client: crate::protocol::client::ClientInfo::default(),
        bot: None,
        accepts: None,
        open: None,
        max_games: None,
        strict: None,
        needs: Vec::new(),
        resume: None,
    }
}

pub(crate) struct Account {
    pub(crate) identity: Identity,
    pub(crate) credential: Credential,
}

/// One connection.
pub(crate) struct Client {
    pub(crate) port: Arc<dyn SessionPort>,
    pub(crate) attachment: Attachment,
    pub(crate) welcome: Welcome,
    seq: u64,
    early: Vec<ServerMessage>,
}

/// As a socket does that ends, so that nobody waits for it when the daemon stops.
impl Drop for Client {
    fn drop(&mut self) {
        self.port.outbox().detach(&self.attachment);
        let Ok(runtime) = Handle::try_current() else { return };
        let (port, attachment) = (Arc::clone(&self.port), self.attachment.clone());
        runtime.spawn(async move { port.disconnected(attachment, Disconnected::Lost).await });
    }
}

impl Client {
    pub(crate) fn new(opened: Opened) -> Self {
        let (port, attachment) = opened.into_parts();
        let first = match port.outbox().next(&attachment) {
            Next::Message(outgoing) => outgoing,
            other => panic!("{other:?}"),
        };
        let ServerMessage::Welcome(welcome) = first.read() else { panic!("{first:?}") };
        let welcome = *welcome;
        Self { port, attachment, welcome, seq: first.seq, early: Vec::new() }
    }

    /// What came since this was last asked, without `crowd`.
    pub(crate) fn hear(&mut self) -> Vec<ServerMessage> {
        let mut heard = std::mem::take(&mut self.early);
        while let Next::Message(outgoing) = self.port.outbox().next(&self.attachment) {
            self.seq = outgoing.seq;
            let message = outgoing.read();
            if !matches!(message, ServerMessage::Crowd(_)) {
                heard.push(message);
            }
        }
        heard
    }

    pub(crate) fn hear_kinds(&mut self) -> Vec<String> {
        self.hear().iter().map(kind).collect()
    }

    pub(crate) fn hear_errors(&mut self) -> Vec<WireError> {
        let errors = self.hear().into_iter().filter_map(|message| match message {
            ServerMessage::Error(error) => Some(*error),
            _ => None,
        });
        errors.collect()
    }

    pub(crate) fn hear_game(&mut self) -> Option<Snapshot> {
        self.hear().into_iter().find_map(|message| match message {
            ServerMessage::Game(snapshot) => Some(*snapshot),
            _ => None,
        })
    }

    /// Says something that could not be read.
    pub(crate) fn misspeak(&self, code: ErrorCode, message: &str) {
        self.port.misspoke("{\"move\n", &WireError::new(code, message));
    }

    pub(crate) async fn say(&self, message: ClientMessage) {
        self.port.handle(Request { id: None, message, text: None }, now()).await;
    }

    /// Says a frame as it comes from the wire.
    pub(crate) async fn say_frame(&self, text: &str) {
        self.port.handle(crate::protocol::parse::parse(text).expect("a request"), now()).await;
    }

    pub(crate) async fn play(&self, game: &GameId, ply: u32, column: i64) {
        let column = ColumnField::Number(column);
        self.say(ClientMessage::Move(Move {
            game: game.clone(),
            ply: Bounded::new(ply),
            column,
            info: None,
        }))
        .await;
    }

    pub(crate) async fn resign(&self, game: &GameId) {
        self.say(ClientMessage::Resign(Resign::new(game.clone()))).await;
    }

    pub(crate) async fn rematch(&self, game: &GameId) {
        self.say(ClientMessage::Rematch(OnGame { game: game.clone() })).await;
    }

    /// The socket is gone.
    pub(crate) async fn vanish(&self) {
        self.port.outbox().detach(&self.attachment);
        self.port.disconnected(self.attachment.clone(), Disconnected::Lost).await;
    }

    /// The client said bye.
    pub(crate) async fn leave(&self) {
        self.port.outbox().detach(&self.attachment);
        self.port.disconnected(self.attachment.clone(), Disconnected::Bye).await;
    }

    /// A `hello` that goes on here.
    pub(crate) fn resuming(&self) -> Hello {
        let resume = Resume {
            session: self.welcome.session.to_string(),
            secret: self.welcome.secret.clone(),
            seq: BoundedLong::new(self.seq),
        };
        Hello { resume: Some(resume), ..hello() }
    }
}

pub(crate) fn kind(message: &ServerMessage) -> String {
    let value = serde_json::to_value(message).unwrap();
    value["type"].as_str().unwrap().to_owned()
}

/// A token that nobody has.
pub(crate) fn unknown_token() -> Secret {
    Secret::new(format!("c4b_{}", "A".repeat(43)))
}

/// A place in a share that nobody else draws on.
#[cfg(test)]
pub(crate) fn place() -> crate::system::shares::Held {
    use crate::system::metrics::Metrics;
    use crate::system::shares::{Payer, Share, ShareSettings, Shares};

    let shares = Shares::new(ShareSettings::default(), Arc::new(Metrics::new()));
    shares.hold(Share::Class, &Payer::stranger([127, 0, 0, 1].into())).expect("the first is free")
}
