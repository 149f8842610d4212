//! Builds the daemon, wires its parts, runs it until it is told to stop, and stops it so that nothing is lost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use crate::accounts::{Accounts, Revoked, is_guest};
use crate::analysis::compute::ComputePool;
use crate::analysis::values::Analysis;
use crate::app::arena_view::LiveArena;
use crate::competition::leaderboard::{Leaderboard, LeaderboardActor, LeaderboardDeps};
use crate::competition::matchmaker::{MatchmakerActor, MatchmakerDeps, MatchmakerSettings, Troubles};
use crate::competition::self_test::trial::SelfTestDeps;
use crate::http::listener::{self, Transport};
use crate::http::metrics::metrics_router;
use crate::http::site::Site;
use crate::http::{AppState, pages, router, upgrade};
use crate::lobby::LobbyActor;
use crate::lobby::actor::LobbyDeps;
use crate::lobby::director::TvDirector;
use crate::model::ids::{PlayerId, TokenId};
use crate::play::feeds::Feeds;
use crate::play::host::admission::Requirement;
use crate::play::host::{Host, HostDeps};
use crate::play::house::{HouseBots, HouseError};
use crate::play::room::{Connection, Directory};
use crate::protocol::CloseCode;
use crate::protocol::server::{Notice, NoticeCode, ServerMessage};
use crate::session::line_feed::LineFeeds;
use crate::study::judging::service::JudgingError;
use crate::study::judging::{JudgingActor, JudgingDeps, JudgingSettings};
use crate::study::learning::service::LearningError;
use crate::study::learning::{Learning, LearningActor, LearningDeps, LearningSettings};
use crate::study::puzzles::service::Puzzles;
use crate::study::puzzles::shipped;
use crate::system::config::Config;
use crate::system::data_dir::{DataDir, DataDirError};
use crate::system::metrics::Metrics;

use crate::competition::self_test::SelfTests;
use crate::session::limits::TransportLimits;
use crate::session::port::Gateway;
use crate::session::{Services, SessionGateway};

use crate::analysis::live_value::LiveValues;
use crate::competition::tournament::{Director, DirectorDeps, Tournaments};
use crate::model::signing::{KEY_BYTES, Signer};
use crate::model::time::UnixMillis;
use crate::play::presence::{Session, Sessions};
use crate::storage::puzzles::Harvest;
use crate::storage::sqlite::OpenError;
use crate::storage::store::Write;
use crate::storage::{SqliteStore, Store, StoreError, Writer};

/// How long rooms may take to store their clocks at a planned stop.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How often the gauges are read.
const GAUGE_EVERY: Duration = Duration::from_secs(1);

/// Why the daemon could not start, or had to stop.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The house bots cannot be set up.
    #[error("the house bots cannot be set up")]
    House(#[from] HouseError),
    /// The learners cannot be set up.
    #[error("the learners cannot be set up")]
    Learning(#[from] LearningError),
    /// The judge cannot be set up.
    #[error("the judge cannot be set up")]
    Judging(#[from] JudgingError),
    /// Reading failed while starting.
    #[error("the store cannot be read")]
    Read(#[from] StoreError),
    /// Writing failed: what was under way has an unknown outcome, and the next start finds out.
    #[error("the store cannot be written")]
    Write(#[source] Arc<StoreError>),
    /// The lobby, the ladder or another part without which nothing goes on panicked. All games were kept.
    #[error("a part of the daemon panicked")]
    Panicked(#[source] tokio::task::JoinError),
    /// A listener is broken.
    #[error("the listener has no address")]
    Listener(#[from] std::io::Error),
}

/// What a daemon is built from: both ends come from outside, so that tests can bind port 0 and stop it.
#[derive(Debug)]
pub struct Parts {
    /// Where pages, HTTP interface and WebSocket are served.
    pub listener: TcpListener,
    /// Where metrics are served.
    pub metrics_listener: Option<TcpListener>,
    /// All settings.
    pub config: Config,
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Signs guests' cookies and sessions' secrets.
    pub key: [u8; KEY_BYTES],
}

/// Opens the data directory's database and serves until `shutdown`.
///
/// # Errors
///
/// See [`ServerError`].
pub async fn run(
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    config: Config,
    data: &DataDir,
    on_ready: impl FnOnce(&Daemon),
    shutdown: CancellationToken,
) -> Result<(), ServerError> {
    let store = Arc::new(SqliteStore::open(&data.database(), config.storage.durability).await?);
    let key = *data.secret()?.bytes();
    let parts =
        Parts { listener, metrics_listener, config, store: Arc::clone(&store) as Arc<dyn Store>, key };
    let daemon = Daemon::start(parts).await?;
    on_ready(&daemon);
    daemon.run(shutdown).await?;
    if let Ok(store) = Arc::try_unwrap(store) {
        store.close().await?;
    } else {
        warn!("the database is still being read, the next start will check it");
    }
    Ok(())
}

/// A daemon that is being served.
#[derive(Debug)]
pub struct Daemon {
    address: SocketAddr,
    services: Arc<Services>,
    tournaments: Tournaments,
    self_tests: SelfTests,
    metrics: Arc<Metrics>,
    learning: Learning,
    transport: Transport,
    actors: JoinSet<()>,
    writer: tokio::task::JoinHandle<Result<(), Arc<StoreError>>>,
    stop_actors: CancellationToken,
    restart_notice: Duration,
}

impl Daemon {
    /// Wires all parts, takes up the live games and starts to serve.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written, or the listener is broken.
    pub async fn start(parts: Parts) -> Result<Self, ServerError> {
        let Parts { listener, metrics_listener, config, store, key } = parts;
        let started = Instant::now();
        let address = listener.local_addr()?;
        let metrics = Arc::new(Metrics::new());
        let (writer, writer_actor) = Writer::new(Arc::clone(&store));
        let observed = Arc::clone(&metrics);
        let writer_task = tokio::spawn(writer_actor.on_commit(move |took| observed.committed(took)).run());
        let signer = Signer::new(&key);
        let accounts = Accounts::new(Arc::clone(&store), writer.clone(), signer.clone());
        let house =
            HouseBots::set_up(&config.house_bots.0, &config.server.data, store.as_ref(), &writer).await?;
        add_shipped_puzzles(&config, &writer).await?;
        let site = Arc::new(site_of(&config));
        let tasks = TaskTracker::new();
        let stop_actors = CancellationToken::new();
        let mut actors = JoinSet::new();

        let directory = Directory::default();
        let sessions = Sessions::new(config.limits.games_per_player.number());
        let feeds = Feeds::new(directory.clone(), {
            let sessions = sessions.clone();
            move || sessions.online()
        });
        let pool = ComputePool::new(config.compute.threads());
        let analysis = Analysis::new(pool.clone());
        let judging_pool = pool.clone();
        let learning = Learning::default();
        // Before the live games are taken up: learners and their versions may be playing some.
        let learners = learners(&config, &store, &writer, &house, &pool, &metrics, &learning).await?;
        let requirement = if config.limits.rated_requires_selftest {
            Requirement::BeforeRated
        } else {
            Requirement::Optional
        };
        let (host, host_actor) = Host::new(HostDeps {
            store: Arc::clone(&store),
            writer: writer.clone(),
            accounts: accounts.clone(),
            directory: directory.clone(),
            sessions: sessions.clone(),
            house,
            pool: pool.clone(),
            feeds: feeds.clone(),
            tasks: tasks.clone(),
            metrics: Arc::clone(&metrics),
            pair_limit: config.limits.rated_games_per_pair_and_day.number(),
            self_test: requirement,
            truth: truth_of(&config, &analysis),
        });
        let (lobby, lobby_actor) = LobbyActor::new(LobbyDeps {
            store: Arc::clone(&store),
            sessions: sessions.clone(),
            host: host.clone(),
            feeds: feeds.clone(),
            tasks: tasks.clone(),
            site_url: site_url(&site, address),
        });
        let self_tests = SelfTests::new(SelfTestDeps {
            host: host.clone(),
            sessions: sessions.clone(),
            store: Arc::clone(&store),
            writer: writer.clone(),
            tasks: tasks.clone(),
            stop: stop_actors.clone(),
        });
        let services = Arc::new(Services {
            store: Arc::clone(&store),
            writer,
            accounts: accounts.clone(),
            signer,
            directory: directory.clone(),
            sessions: sessions.clone(),
            host: host.clone(),
            lobby: lobby.clone(),
            feeds: feeds.clone(),
            tasks,
            stop: stop_actors.clone(),
            started_at: UnixMillis::now(),
            heartbeat: config.server.heartbeat(),
            connections_per_account: config.limits.connections_per_account.count(),
            messages_per_20s: config.limits.messages_per_20s.number(),
            durability: config.storage.durability.as_str(),
        });
        // Before the games that it has under way are taken up: it must hear how they end.
        let director_deps = DirectorDeps {
            host: host.clone(),
            store: Arc::clone(&store),
            writer: services.writer.clone(),
            sessions: sessions.clone(),
        };
        let (director, tournaments) = Director::new(director_deps, config.tournaments.0.clone()).await?;
        let (games, broken) = host.restore(store.live_games().await?).await?;
        info!(games, broken, ms = started.elapsed().as_millis(), "live games taken up");

        actors.spawn(host_actor.run());
        actors.spawn(lobby_actor.run());
        actors.spawn(director.run(stop_actors.clone()));
        actors.spawn(feeds.clone().run(stop_actors.clone()));
        actors.spawn(end_revoked(Arc::clone(&services), stop_actors.clone()));
        actors.spawn(read_gauges(Arc::clone(&services), Arc::clone(&metrics), stop_actors.clone()));
        match requirement {
            Requirement::BeforeRated => drop(actors.spawn(self_tests.clone().run())),
            Requirement::Optional => {}
        }
        if let Some(learners) = learners {
            // A planned stop waits for it: it stores what was learnt last.
            actors.spawn(services.tasks.track_future(learners.run(stop_actors.clone())));
        }
        let troubles = Troubles::default();
        let leaderboard = Leaderboard::default();
        let follower = LeaderboardActor::new(LeaderboardDeps {
            store: Arc::clone(&store),
            writer: services.writer.clone(),
            leaderboard: leaderboard.clone(),
        });
        actors.spawn(follower.run(stop_actors.clone()));
        if let Some(judge) = judge(&config, &store, &services.writer, &judging_pool, &metrics)? {
            actors.spawn(judge.run(stop_actors.clone()));
        }
        if config.ladder.enabled {
            let deps = MatchmakerDeps {
                host: host.clone(),
                store: Arc::clone(&store),
                sessions: sessions.clone(),
                directory: directory.clone(),
                feeds: feeds.clone(),
                pool: pool.clone(),
                troubles: troubles.clone(),
                leaderboard: leaderboard.clone(),
            };
            let settings = MatchmakerSettings {
                time: config.ladder.time(),
                cpu_share: config.ladder.cpu_share.number(),
                house_pairs: config.ladder.concurrency.count(),
                pairs_per_day: config.ladder.pairs_per_day.number(),
            };
            let ladder = MatchmakerActor::new(deps, settings);
            actors.spawn(ladder.run(stop_actors.clone()));
        }

        let transport =
            Transport::new(transport_limits(&config), Arc::clone(&site), CancellationToken::new());
        let director = TvDirector::new(directory.clone(), feeds.clone(), analysis.clone());
        actors.spawn(director.run(stop_actors.clone()));
        let line_feeds = LineFeeds::new(directory.clone(), feeds.clone(), stop_actors.clone());
        let arena = LiveArena {
            host,
            directory,
            sessions,
            feeds,
            lobby,
            troubles,
            self_tests: self_tests.clone(),
            line_feeds,
        };
        let desk =
            Puzzles::new(Arc::clone(&store), services.writer.clone(), accounts.clone(), analysis.clone());
        let state = AppState {
            store,
            accounts,
            site,
            analysis,
            explorer: Arc::default(),
            arena: Arc::new(arena),
            learning: learning.clone(),
            tournaments: tournaments.clone(),
            leaderboard,
            puzzles: desk,
        };
        let gateway: Arc<dyn Gateway> = Arc::new(SessionGateway::new(Arc::clone(&services)));
        let socket = upgrade::route(gateway, transport.clone());
        let routes = router::router(state, pages::router(), Arc::clone(&metrics)).merge(socket);
        spawn_listener(&mut actors, listener, routes, transport.clone());
        if let Some(listener) = metrics_listener {
            info!(address = %listener.local_addr()?, "metrics are served");
            spawn_listener(&mut actors, listener, metrics_router(Arc::clone(&metrics)), transport.clone());
        }
        Ok(Self {
            address,
            services,
            tournaments,
            self_tests,
            metrics,
            learning,
            transport,
            actors,
            writer: writer_task,
            stop_actors,
            restart_notice: config.server.restart_notice(),
        })
    }

    /// Where it is served.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What its sessions work with; the control socket uses it too.
    #[must_use]
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The tournaments that it holds.
    #[must_use]
    pub fn tournaments(&self) -> &Tournaments {
        &self.tournaments
    }

    /// The bots that learn.
    #[must_use]
    pub fn learning(&self) -> &Learning {
        &self.learning
    }

    /// Its tests of remote bots.
    #[must_use]
    pub fn self_tests(&self) -> &SelfTests {
        &self.self_tests
    }

    /// What it counts.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Serves until `shutdown`, then stops as planned: no new games, a notice to everybody, clocks stored, sockets
    /// closed with 1012, everything written.
    ///
    /// # Errors
    ///
    /// The store failed: nothing more was acknowledged, and the process must end.
    pub async fn run(mut self, shutdown: CancellationToken) -> Result<(), ServerError> {
        tokio::select! {
            () = shutdown.cancelled() => {}
            ended = &mut self.writer => {
                let cause = match ended {
                    Ok(Err(cause)) => cause,
                    Ok(Ok(())) | Err(_) => Arc::new(StoreError::Closed),
                };
                return Err(ServerError::Write(cause));
            }
            cause = first_panic(&mut self.actors) => {
                error!(error = %cause, "a part of the daemon panicked and nothing replaces it, the daemon stops");
                self.metrics.panicked();
                self.stop().await?;
                return Err(ServerError::Panicked(cause));
            }
        }
        self.stop().await
    }

    async fn stop(self) -> Result<(), ServerError> {
        let Self { services, self_tests, transport, mut actors, writer, stop_actors, restart_notice, .. } =
            self;
        info!("stopping: no new games");
        services.host.pause();
        stop_actors.cancel();
        if services.sessions.online() > 0 {
            let in_ms = u64::try_from(restart_notice.as_millis()).unwrap_or(u64::MAX);
            for session in services.sessions.all() {
                session.tell(ServerMessage::Notice(Notice { code: NoticeCode::Restarting, in_ms }));
            }
            tokio::time::sleep(restart_notice).await;
        }
        let rooms = services.host.rooms();
        let count = rooms.len();
        let pausing =
            futures::future::join_all(rooms.into_iter().map(|room| async move { room.pause().await }));
        if tokio::time::timeout(PAUSE_MAX, pausing).await.is_err() {
            warn!("not all clocks could be stored; the games keep those of their last moves");
        }
        for session in services.sessions.all() {
            session.outbox().close(CloseCode::Restart);
        }
        transport.stop.cancel();
        transport.tasks.close();
        services.tasks.close();
        let patience = transport.limits.stop + transport.limits.closing;
        if tokio::time::timeout(patience, transport.tasks.wait()).await.is_err() {
            warn!("connections did not end in time");
        }
        if tokio::time::timeout(PAUSE_MAX, services.tasks.wait()).await.is_err() {
            warn!(tasks = services.tasks.len(), "tasks did not end in time");
        }
        actors.shutdown().await;
        drop((services, self_tests, transport));
        // With every holder of the writer gone, its actor writes what is queued and ends.
        let written = tokio::time::timeout(PAUSE_MAX, writer).await;
        info!(games = count, "stopped");
        match written {
            Ok(Ok(Err(cause))) => Err(ServerError::Write(cause)),
            Ok(Ok(Ok(())) | Err(_)) => Ok(()),
            Err(_) => {
                warn!("somebody still holds the writer");
                Ok(())
            }
        }
    }
}

fn spawn_listener(
    actors: &mut JoinSet<()>,
    listener: TcpListener,
    router: axum::Router,
    transport: Transport,
) {
    actors.spawn(async move { listener::serve(listener, router, &transport).await });
}

/// Waits until one of the tasks panics.
async fn first_panic(actors: &mut JoinSet<()>) -> tokio::task::JoinError {
    loop {
        match actors.join_next().await {
            Some(Err(cause)) => return cause,
            Some(Ok(())) => {}
            None => std::future::pending().await,
        }
    }
}

/// Closes the connections that rest on a revoked credential.
async fn end_revoked(services: Arc<Services>, stop: CancellationToken) {
    let mut revoked = services.accounts.revocations();
    loop {
        let revoked = tokio::select! {
            () = stop.cancelled() => return,
            revoked = revoked.recv() => revoked,
        };
        match revoked {
            Ok(Revoked::Token(token)) => end_sessions_of(&services, &token).await,
            Ok(Revoked::Guest(player)) => end_guest_sessions_of(&services, &player).await,
            Err(broadcast::error::RecvError::Lagged(_)) => end_invalid(&services).await,
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

async fn end_sessions_of(services: &Services, token: &TokenId) {
    for session in services.sessions.by_credential(token) {
        services.end_session(&session, Connection::Lost, CloseCode::Credentials).await;
    }
}

/// Ends the sessions from the time when the player was a guest.
async fn end_guest_sessions_of(services: &Services, player: &PlayerId) {
    for session in services.sessions.of(player) {
        if session.credential().is_none() {
            services.end_session(&session, Connection::Lost, CloseCode::Credentials).await;
        }
    }
}

/// Asks the store about every session, after so many revocations that some were missed.
async fn end_invalid(services: &Services) {
    for session in services.sessions.all() {
        match is_valid(services.store.as_ref(), &session).await {
            Ok(true) => {}
            Ok(false) => services.end_session(&session, Connection::Lost, CloseCode::Credentials).await,
            Err(error) => error!(error = %error, "a credential could not be checked"),
        }
    }
}

/// Whether what a session rests on still proves who its player is.
async fn is_valid(store: &dyn Store, session: &Session) -> Result<bool, StoreError> {
    match session.credential() {
        Some(token) => Ok(store.token_by_id(token, UnixMillis::now()).await?.is_some()),
        None => Ok(store.player(session.player()).await?.is_none_or(|player| is_guest(&player))),
    }
}

/// What watchers are told about the value of games.
fn truth_of(config: &Config, analysis: &Analysis) -> LiveValues {
    let settings = &config.watching;
    if settings.truth {
        LiveValues::new(analysis.clone(), settings.truth_delay())
    } else {
        LiveValues::default()
    }
}

/// Sets the learners up, if there are to be any.
async fn learners(
    config: &Config,
    store: &Arc<dyn Store>,
    writer: &Writer,
    house: &HouseBots,
    pool: &ComputePool,
    metrics: &Arc<Metrics>,
    learning: &Learning,
) -> Result<Option<LearningActor>, ServerError> {
    let settings = &config.learning;
    if !settings.enabled {
        return Ok(None);
    }
    let deps = LearningDeps {
        store: Arc::clone(store),
        writer: writer.clone(),
        house: house.clone(),
        pool: pool.clone(),
        metrics: Arc::clone(metrics),
        learning: learning.clone(),
        settings: LearningSettings {
            cpu_percent: settings.cpu_percent.number(),
            marks: settings.freeze_at.iter().map(|mark| mark.number().into()).collect(),
            accuracy_min: settings.accuracy_min.number(),
            practice_games: settings.practice_games.number().into(),
            practice_pause: settings.practice_pause_ms.millis(),
            teachers: settings.teachers.clone(),
        },
    };
    Ok(Some(LearningActor::new(deps).await?))
}

/// Sets the judge up, if there is to be one.
fn judge(
    config: &Config,
    store: &Arc<dyn Store>,
    writer: &Writer,
    pool: &ComputePool,
    metrics: &Arc<Metrics>,
) -> Result<Option<JudgingActor>, ServerError> {
    if !config.judging.enabled {
        return Ok(None);
    }
    let deps = JudgingDeps {
        store: Arc::clone(store),
        writer: writer.clone(),
        pool: pool.clone(),
        metrics: Arc::clone(metrics),
        settings: JudgingSettings {
            cpu_percent: config.judging.cpu_percent.number(),
            puzzles: config.judging.puzzles.number(),
        },
    };
    Ok(Some(JudgingActor::new(deps)?))
}

/// Adds the puzzles that came with the program and are not there yet.
async fn add_shipped_puzzles(config: &Config, writer: &Writer) -> Result<(), JudgingError> {
    let harvest = Harvest { puzzles: shipped::puzzles(), keep: config.judging.puzzles.number() };
    writer.write(Write::AddPuzzles(harvest)).await?;
    Ok(())
}

/// Keeps the gauges up to date that nobody else does.
async fn read_gauges(services: Arc<Services>, metrics: Arc<Metrics>, stop: CancellationToken) {
    let mut tick = tokio::time::interval(GAUGE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => metrics.writer_queue(services.writer.waiting()),
        }
    }
}

/// Where links lead: the configured address, or the one that is listened on.
fn site_url(site: &Site, address: SocketAddr) -> String {
    if site.public_url.is_some() { site.url("") } else { format!("http://{address}") }
}

/// The site's settings. The values were checked when the configuration was read.
fn site_of(config: &Config) -> Site {
    let parsed = |text: String| text.parse().ok();
    Site {
        public_url: config.server.public_url.as_ref().and_then(|url| url.to_string().parse().ok()),
        extra_origins: config.server.origins.iter().filter_map(|origin| parsed(origin.to_string())).collect(),
        trusted_proxies: config
            .server
            .trusted_proxies
            .iter()
            .filter_map(|net| net.to_string().parse().ok())
            .collect(),
        tells_truth: config.watching.truth,
    }
}

fn transport_limits(config: &Config) -> TransportLimits {
    TransportLimits {
        connections: config.limits.connections(),
        per_address: config.limits.connections_per_address.count(),
        caps_loopback: !config.limits.loopback_exempt,
        heartbeat: config.server.heartbeat(),
        messages: config.limits.messages_per_20s.number(),
        ..TransportLimits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_tasks_that_end_the_one_that_panicked_is_noticed() {
        let mut actors = JoinSet::new();
        actors.spawn(async {});
        actors.spawn(async { panic!("broken on purpose") });
        assert!(first_panic(&mut actors).await.is_panic());
    }
}
