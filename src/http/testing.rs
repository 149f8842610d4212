//! A whole site in memory, for tests: requests go through every layer, but over no network.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use super::admin::{self, AdminState};
use super::client_address::Peer;
use super::control::Control;
use super::preview::Previews;
use super::site::Site;
use super::state::{AppState, ArenaView, BotPresence, OpenBot};
use crate::accounts::{Accounts, NameRules, identity_of};
use crate::analysis::values::Analysis;
use crate::competition::classes::Classes;
use crate::competition::correspondence::CorrespondenceBook;
use crate::competition::duels::{Asked, QueueFull, Unbegun, WaitingDuel};
use crate::competition::fair_play::{Evidence, EvidenceReader};
use crate::competition::leaderboard::Leaderboard;
use crate::competition::leaderboard::service::Follower;
use crate::competition::self_test::BeginError;
use crate::competition::tournament::Tournaments;
use crate::model::ids::{ChallengeId, GameId, PairId, PlayerId};
use crate::model::player::{Identity, PlayerKind};
use crate::model::rating::strength::Strength;
use crate::model::signing::{KEY_BYTES, Signer};
use crate::operations::backups::BackupStanding;
use crate::operations::mail::Mailer;
use crate::operations::push::tests::pusher_over;
use crate::operations::webhooks::tests::webhooks_over;
use crate::play::host::{ConditionalRefusal, GameOffer};
use crate::play::orders::StandingOrders;
use crate::play::room::Recipient as _;
use crate::protocol::ServerMessage;

use crate::protocol::server::{LiveGame, LobbyFeed, Offer, Snapshot, Urgency};
use crate::protocol::terms::WirePlayer;
use crate::session::line_feed::{FeedOf, LineFeed, LineWriter, NoFeed};
use crate::storage::conformance::player;
use crate::storage::members::NodeList;
use crate::storage::writer::Obstacle;
use crate::storage::{MemoryStore, Writer};
use crate::study::learning::Learning;
use crate::study::puzzles::service::Puzzles;
use crate::study::studies::Studies;
use crate::system::config::{AccessConfig, IpNetwork};
use crate::system::metrics::Metrics;
use crate::system::shares::{ShareSettings, Shares};

/// Where everybody connects from, unless a test says otherwise: a network that limits count.
pub(crate) const SOMEWHERE: &str = "192.0.2.1:50000";

/// A password that keeps the rule.
pub(crate) const PASSWORD: &str = "correct horse";

/// A bot of the house as others find it, strong as the house says.
pub(crate) fn house_bot(name: &str, strength: Option<Strength>, elo: i32) -> OpenBot {
    OpenBot {
        player: WirePlayer::new(&identity_of(&player(name, PlayerKind::Bot)), None, None),
        strength,
        level: None,
        elo: Some(elo),
        style: None,
        about: None,
        url: None,
        language: None,
        house: true,
        playing: 0,
        trouble: None,
    }
}

/// An arena in which nothing happens but what the test says.
#[derive(Debug, Default)]
pub(crate) struct TestArena {
    pub(crate) pauses: Vec<String>,
    pub(crate) is_stopping: AtomicBool,
    pub(crate) is_full: AtomicBool,
    pub(crate) live: Vec<LiveGame>,
    pub(crate) bots: Vec<OpenBot>,
    /// Those that anyone may take.
    pub(crate) offers: Vec<Offer>,
    pub(crate) asked: Vec<Offer>,
    /// What the feed of results says before it ends.
    pub(crate) results: Vec<ServerMessage>,
    pub(crate) feed_places: usize,
    pub(crate) presence: Option<BotPresence>,
    /// Those that wait; none begins.
    pub(crate) duels: std::sync::Mutex<Vec<WaitingDuel>>,
    pub(crate) orders: StandingOrders,
    pub(crate) backups: BackupStanding,
    /// Where webhooks may go beside the Internet, if there are any.
    pub(crate) webhook_networks: Option<Vec<IpNetwork>>,
    /// What writes mails, if anything does.
    pub(crate) mailer: Option<Mailer>,
    /// Where push services are, if browsers are told anything.
    pub(crate) push_networks: Option<Vec<IpNetwork>>,
}

#[async_trait]
impl ArenaView for TestArena {
    fn live_games(&self) -> Vec<LiveGame> {
        self.live.clone()
    }

    fn lobby(&self) -> LobbyFeed {
        LobbyFeed::default()
    }

    fn tv(&self) -> Option<LiveGame> {
        self.live.first().cloned()
    }

    fn open_bots(&self) -> Vec<OpenBot> {
        self.bots.clone()
    }

    async fn snapshot(&self, _: &GameId) -> Option<Snapshot> {
        None
    }

    async fn correspondence_of(&self, _: &PlayerId) -> Vec<Snapshot> {
        Vec::new()
    }

    async fn take_vacation(&self, _: &PlayerId, _: Option<Duration>) {}

    async fn say_in_advance(
        &self,
        _: &GameId,
        _: &PlayerId,
        _: &[String],
    ) -> Result<Vec<String>, ConditionalRefusal> {
        Err(ConditionalRefusal::NoSuchGame)
    }

    async fn said_in_advance(&self, _: &GameId, _: &PlayerId) -> Result<Vec<String>, ConditionalRefusal> {
        Err(ConditionalRefusal::NoSuchGame)
    }

    async fn challenge(&self, _: &ChallengeId) -> Option<Offer> {
        None
    }

    async fn open_offers(&self) -> Vec<Offer> {
        self.offers.clone()
    }

    async fn asked(&self, _: &PlayerId) -> Vec<Offer> {
        self.asked.clone()
    }

    fn follow(&self, what: &FeedOf) -> Result<LineFeed, NoFeed> {
        match what {
            FeedOf::Game(_) => Err(NoFeed::NotLive),
            FeedOf::Results => {
                let place = Arc::new(Semaphore::new(self.feed_places))
                    .try_acquire_owned()
                    .map_err(|_| NoFeed::TooMany)?;
                let (writer, feed) = LineWriter::pair(place);
                for result in &self.results {
                    writer.deliver(&result.clone().into(), None, Urgency::Droppable);
                }
                writer.end();
                Ok(feed)
            }
        }
    }

    fn closed(&self) -> Option<String> {
        self.is_stopping.load(Ordering::Relaxed).then(|| "no new games begin now".to_owned())
    }

    fn orders(&self) -> StandingOrders {
        self.orders.clone()
    }

    fn pauses(&self) -> Vec<String> {
        self.pauses.clone()
    }

    fn backups(&self) -> BackupStanding {
        self.backups.clone()
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.is_full.load(Ordering::Relaxed).then_some(Obstacle::DiskFull)
    }

    fn is_online(&self, _: &PlayerId) -> bool {
        self.presence.is_some()
    }

    fn watchable_game_of(&self, player: &PlayerId) -> Option<GameId> {
        let plays = |game: &&LiveGame| game.players.first.id == *player || game.players.second.id == *player;
        self.live.iter().find(plays).map(|game| game.game.clone())
    }

    async fn bot_presence(&self, _: &PlayerId) -> Option<BotPresence> {
        self.presence.clone()
    }

    async fn ask_duel(&self, id: PairId, owner: PlayerId, offer: GameOffer) -> Result<Asked, QueueFull> {
        let mut waiting = self.duels.lock().unwrap();
        if waiting.len() > 1 {
            return Err(QueueFull::OfOwner);
        }
        waiting.push(WaitingDuel::new(id, owner, offer));
        Ok(Asked::Waits(waiting.len()))
    }

    fn unbegun_duel(&self, id: &PairId) -> Option<Unbegun> {
        let waiting = self.duels.lock().unwrap();
        let place = waiting.iter().position(|duel| duel.id == *id)?;
        Some(Unbegun::Waiting(waiting[place].clone(), place + 1))
    }

    fn waiting_duels(&self, _: &PlayerId) -> Vec<PairId> {
        self.duels.lock().unwrap().iter().map(|duel| duel.id.clone()).collect()
    }

    fn withdraw_duel(&self, id: &PairId, owner: &PlayerId) -> bool {
        let mut waiting = self.duels.lock().unwrap();
        let before = waiting.len();
        waiting.retain(|duel| duel.id != *id || duel.owner != *owner);
        waiting.len() < before
    }

    fn begin_self_test(&self, bot: &Identity) -> Result<(), BeginError> {
        match &self.presence {
            Some(_) => Ok(()),
            None => Err(BeginError::NotConnected(bot.name.to_string())),
        }
    }

    fn is_self_testing(&self, _: &PlayerId) -> bool {
        false
    }
}

/// A site with its store.
pub(crate) struct TestSite {
    pub(crate) state: AppState,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) metrics: Arc<Metrics>,
    /// Tells how people's decisions stand.
    pub(crate) evidence: watch::Sender<Arc<Evidence>>,
    router: Router,
}

impl TestSite {
    /// A site that is asked by whatever name, with nothing in it.
    pub(crate) fn new() -> Self {
        Self::with(Site::default(), TestArena::default())
    }

    /// A site with these settings and this arena.
    pub(crate) fn with(site: Site, arena: TestArena) -> Self {
        Self::admitting(AccessConfig::default(), site, arena)
    }

    /// The same for those who may come in.
    pub(crate) fn admitting(access: AccessConfig, site: Site, arena: TestArena) -> Self {
        Self::of_nodes(access, site, arena, None)
    }

    /// The same where several nodes keep the arena.
    pub(crate) fn of_nodes(
        access: AccessConfig,
        site: Site,
        arena: TestArena,
        nodes: Option<Arc<dyn NodeList>>,
    ) -> Self {
        let store = Arc::new(MemoryStore::new());
        let (writer, actor) = Writer::new(store.clone());
        tokio::spawn(actor.run());
        let metrics = Arc::new(Metrics::new());
        let shares = Shares::new(ShareSettings::default(), Arc::clone(&metrics));
        let signer = Signer::new(&[1; KEY_BYTES]);
        let accounts = Accounts::new(store.clone(), writer.clone(), signer, shares.clone());
        let accounts = accounts.naming(NameRules::from(&access));
        let analysis = Analysis::new(1, &shares);
        let puzzles =
            Puzzles::new(store.clone(), writer.clone(), accounts.clone(), analysis.clone(), shares.clone());
        let studies = Studies::new(store.clone(), writer.clone(), shares.clone());
        let webhook_networks = arena.webhook_networks.clone();
        let (evidence, evidence_reader) = EvidenceReader::told_by_a_test();
        let (mailer, push_networks) = (arena.mailer.clone(), arena.push_networks.clone());
        let pusher = push_networks.map(|allowed| pusher_over(store.clone(), writer.clone(), allowed));
        let webhooks = webhook_networks.map(|allowed| webhooks_over(store.clone(), writer.clone(), allowed));
        let state = AppState {
            store: store.clone(),
            accounts,
            access,
            shares,
            metrics: Arc::clone(&metrics),
            previews: Previews::default(),
            site: Arc::new(site),
            analysis,
            explorer: Arc::default(),
            arena: Arc::new(arena),
            learning: Learning::default(),
            tournaments: Tournaments::reading(store.clone()),
            classes: Classes::default(),
            leaderboard: Leaderboard::default(),
            evidence: Some(evidence_reader),
            correspondence: CorrespondenceBook::new(store.clone()),
            puzzles,
            studies,
            webhooks,
            mailer,
            pusher,
        };
        let control = Control {
            accounts: state.accounts.clone(),
            store: store.clone(),
            writer,
            learning: state.learning.clone(),
            daemon: None,
            nodes,
        };
        let pages = super::pages::router().merge(admin::router(AdminState::new(control, "[server]\n")));
        let router = super::router(state.clone(), pages, Arc::clone(&metrics));
        Self { state, store, metrics, evidence, router }
    }

    /// Fits all rated games, as the daemon does when they have come.
    pub(crate) async fn fit(&self) {
        if let Some(snapshot) = Follower::default().catch_up(&*self.store).await.unwrap() {
            self.state.leaderboard.show(snapshot);
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Answer {
        let peer: SocketAddr = SOMEWHERE.parse().unwrap();
        if request.extensions().get::<Peer>().is_none() {
            request.extensions_mut().insert(Peer(peer));
        }
        Answer::read(self.router.clone().oneshot(request).await.unwrap()).await
    }

    /// Sends a request from somewhere and leaves the answer's body to be read.
    pub(crate) async fn open(&self, from: &str, mut request: Request<Body>) -> Response<Body> {
        let peer: SocketAddr = from.parse().unwrap();
        request.extensions_mut().insert(Peer(peer));
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(get(path).body(Body::empty()).unwrap()).await
    }

    /// Registers an account and returns its session cookie as a `Cookie` header has it.
    pub(crate) async fn register(&self, name: &str) -> String {
        let answer = self.post("/api/v1/accounts", &credentials(name, PASSWORD)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
        answer.cookie()
    }

    /// Posts JSON without cookie or origin, as a program does.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(post(path).body(Body::from(body.to_string())).unwrap()).await
    }

    /// Sends a request as a page of the site does for somebody who is signed in.
    pub(crate) async fn as_page(&self, method: Method, path: &str, cookie: &str, body: &Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost:4444")
            .header(header::ORIGIN, "http://localhost:4444")
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

/// A request without a body.
pub(crate) fn get(path: &str) -> axum::http::request::Builder {
    Request::get(path)
}

/// A request with a JSON body to come.
pub(crate) fn post(path: &str) -> axum::http::request::Builder {
    Request::post(path).header(header::CONTENT_TYPE, "application/json")
}

/// The body of accounts and sessions.
pub(crate) fn credentials(name: &str, password: &str) -> Value {
    serde_json::json!({ "name": name, "password": password })
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    async fn read(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.into()).unwrap();
        Self { status: head.status, headers: head.headers, body }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// A header, empty if it is not there.
    pub(crate) fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The cookie that was set, as a `Cookie` header has it.
    pub(crate) fn cookie(&self) -> String {
        self.header(header::SET_COOKIE).split(';').next().unwrap_or_default().to_owned()
    }

    /// Checks that the request was refused with this status and code, and names this field.
    #[track_caller]
    pub(crate) fn check_refused(&self, status: u16, code: &str, field: Option<&str>) {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        let error = self.json();
        assert_eq!(error["code"], code, "{}", self.body);
        assert_eq!(error.get("field").and_then(Value::as_str), field, "{}", self.body);
        assert!(error["message"].is_string(), "{}", self.body);
    }
}
