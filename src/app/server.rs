//! Builds the daemon, wires its parts, runs it until it is told to stop, and stops it so that nothing is lost.

mod kept;
pub(crate) mod node;
mod orders;
mod revoked;
#[cfg(test)]
mod tests;
mod wings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{error, info, warn};

use self::kept::KeptParts;
use self::orders::OrderKeeper;
use self::wings::{Competition, Ground, Playing, Writing};
use crate::cluster::bus::Faults;
use crate::cluster::nats::NoBus;
use crate::cluster::thinking::Thinkers;
use crate::competition::fair_play::{EvidenceReader, RatingAlarms};
use crate::competition::self_test::SelfTests;
use crate::competition::tournament::Tournaments;
use crate::http::listener::{Listening, Transport};
use crate::http::tls::{Tls, TlsError};
use crate::model::signing::{KEY_BYTES, Signer};
use crate::operations::backups::Backups;
use crate::operations::mail::Mailer;
use crate::play::house::HouseError;
use crate::play::room::Directory;
use crate::protocol::CloseCode;
use crate::protocol::server::{Notice, NoticeCode, ServerMessage};
use crate::session::Services;
use crate::storage::audit::AuditStore;
use crate::storage::engine::{Closed, Engine, EngineError};
use crate::storage::members::NodeList;
use crate::storage::postgres::PostgresOpenError;
use crate::storage::record::StoredGame;
use crate::storage::store::Write;
use crate::storage::writer::Obstacle;
use crate::storage::{SqliteStore, Store, StoreError};
use crate::study::explorer::Explorer;
use crate::study::judging::service::JudgingError;
use crate::study::learning::Learning;
use crate::study::learning::LearningError;
use crate::system::config::{Config, StorageConfig};
use crate::system::data_dir::{DataDir, DataDirError};
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::pauses::Pauses;
use crate::system::supervision::Supervision;

/// How long rooms may take to store their clocks at a planned stop.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// How long clients have to hear that the daemon restarts, even if no game is played.
const NOTICE_MIN: Duration = Duration::from_secs(3);
/// How often a daemon that is to stop looks whether all games are over.
const GAMES_LOOK: Duration = Duration::from_millis(100);

/// How long each part may take to stop while nothing can be written: what waits for the disk would wait for ever.
const OBSTRUCTED_MAX: Duration = Duration::from_secs(1);

/// Why the daemon could not start, or had to stop.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] EngineError),
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
    /// The daemon was told to stop while nothing could be written.
    #[error("the last clocks could not be stored: {0}; everything that was acknowledged is")]
    Obstructed(Obstacle),
    /// All was written, but not all could be moved from the write-ahead log: the next start does so.
    #[error("the database could not be closed, which loses nothing")]
    Unclosed(#[source] StoreError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The database of the cluster cannot be used.
    #[error(transparent)]
    Cluster(#[from] PostgresOpenError),
    /// There is no such bus.
    #[error(transparent)]
    Bus(#[from] NoBus),
    /// Sessions and guests of the other nodes would be strangers here.
    #[error("{} is not the key of this cluster: copy that file from another node, and start again", .0.display())]
    OtherKey(PathBuf),
    /// Another process leads, or has this node's name.
    #[error("another process has taken this node's place; everything that was acknowledged is stored")]
    Replaced,
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
    pub config: Config,
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Signs guests' cookies and sessions' secrets.
    pub key: [u8; KEY_BYTES],
    /// Says when the daemon stood still, if somebody beats.
    pub pauses: Pauses,
    /// What it has as a node of a cluster.
    pub node: NodeParts,
}

/// What a daemon has that is a node of a cluster; one that is alone has nothing of it.
#[derive(Debug, Default)]
pub struct NodeParts {
    /// Where other nodes pass connections on to.
    listener: Option<TcpListener>,
    /// Whether another node stands by: then games go on at once, and nobody need wait for their ends.
    hands_over: Arc<AtomicBool>,
    /// Who thinks for the bots of the house beside it.
    thinkers: Option<Thinkers>,
    /// All nodes, for operators.
    list: Option<Arc<dyn NodeList>>,
}

/// Opens the store that the settings name and serves until `shutdown`.
///
/// # Errors
///
/// See [`ServerError`].
pub(crate) async fn run(
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    config: Config,
    data: &DataDir,
    on_ready: impl FnOnce(&Daemon),
    shutdown: CancellationToken,
) -> Result<(), ServerError> {
    let StorageConfig { url, durability, .. } = &config.storage;
    let engine = Engine::open(url.expose(), &data.database(), *durability).await?;
    let key = *data.secret()?.bytes();
    let pauses = Pauses::default();
    let _heartbeat = AbortOnDropHandle::new(tokio::spawn(pauses.clone().beat_on()));
    let store = engine.store();
    let parts = Parts { listener, metrics_listener, config, store, key, pauses, node: NodeParts::default() };
    let daemon = Daemon::start(parts).await?;
    on_ready(&daemon);
    let metrics = Arc::clone(&daemon.metrics);
    let checking = engine.unchecked().map(|store| tokio::spawn(look_through(store, metrics)));
    let served = daemon.run(shutdown).await;
    if let Some(checking) = checking {
        checking.abort();
        let _ = checking.await; // that it was cancelled is what was asked for
    }
    served?;
    match engine.close().await.map_err(ServerError::Unclosed)? {
        Closed::Cleanly => {}
        Closed::InUse => warn!("the database is still being read, the next start will check it"),
    }
    Ok(())
}

/// Looks through a database that was not closed and is too large to be looked through before it is served.
async fn look_through(store: Arc<SqliteStore>, metrics: Arc<Metrics>) {
    match store.audit_pages().await {
        Ok(findings) => {
            metrics.store_findings(findings.len());
            info!(findings = findings.len(), "the database was looked through");
            for finding in findings {
                error!(finding, "the database is damaged, restore a backup");
            }
        }
        Err(error) => error!(?error, "the database could not be looked through"),
    }
}

/// A daemon that is being served.
#[derive(Debug)]
pub struct Daemon {
    address: SocketAddr,
    services: Arc<Services>,
    competition: Competition,
    supervision: Supervision,
    backups: Backups,
    mailer: Option<Mailer>,
    nodes: Option<Arc<dyn NodeList>>,
    metrics: Arc<Metrics>,
    learning: Learning,
    transport: Transport,
    parts: KeptParts,
    writer: Writing,
    stop_actors: CancellationToken,
    /// An operator has ordered that it stops.
    leave: CancellationToken,
    restart_notice: Duration,
    /// Whether another node stands by.
    hands_over: Arc<AtomicBool>,
}

impl Daemon {
    /// Wires all parts, takes up the live games and starts to serve.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written, or the listener is broken.
    pub async fn start(parts: Parts) -> Result<Self, ServerError> {
        Self::start_with(parts, Directory::default()).await
    }

    /// The same for tests, with all rooms at another node than the sessions, over a bus in memory that fails like this.
    ///
    /// # Errors
    ///
    /// See [`Self::start`].
    #[doc(hidden)]
    pub async fn start_over_a_bus(parts: Parts, faults: Faults) -> Result<Self, ServerError> {
        Self::start_with(parts, Directory::over_a_bus(faults)).await
    }

    async fn start_with(parts: Parts, directory: Directory) -> Result<Self, ServerError> {
        let Parts { listener, metrics_listener, config, store, key, pauses, node } = parts;
        let (started, address) = (Instant::now(), listener.local_addr()?);
        let (mut ground, writer) = wings::ground(config, store, &key, node.list).await?;
        let house = wings::house(&ground).await?;
        wings::add_shipped_puzzles(&ground).await?;
        let thinking = wings::analysis(&ground);
        let learning = Learning::default();
        // Before the live games are taken up: learners and their versions may be playing some.
        let learners = wings::learning(&ground, &thinking, &house, &learning).await?;
        let (playing, host) = wings::play(&ground, &thinking, house, pauses, directory, node.thinkers);
        let (lobby, lobby_actor) = wings::lobby(&ground, &playing, address).await?;
        let live = LiveGames::read(&ground).await?;
        let services = wings::session(&ground, &playing, lobby, &live.sound).await?;
        let (competition, director, fair_play) = wings::competition(&ground, &thinking, &playing).await?;
        live.take_up(&ground, &playing, started).await?;
        let mail = wings::mailing(&mut ground, &services, &competition);
        let Ground { config, supervision, stop, .. } = &ground;

        let mut parts = KeptParts::new(supervision.clone(), stop.clone());
        parts.keep(host);
        parts.keep(lobby_actor);
        parts.keep(director);
        fair_play.keep(&mut parts);
        parts.keep(competition.revocations(&services));
        let leave = CancellationToken::new();
        parts.keep(OrderKeeper::new(Arc::clone(&services), leave.clone()));
        wings::keep_small_parts(&mut parts, &ground, &services, &thinking, &playing);
        if let Some(learners) = learners {
            // A planned stop waits for it: it stores what was learnt last.
            parts.keep_tracked(learners, &services.tasks);
        }
        if let Some(judge) = wings::judging(&ground, &thinking, &playing)? {
            parts.keep(judge);
        }
        competition.keep(&mut parts, &ground, &thinking, &playing);
        if let Some(mail) = mail {
            parts.keep(mail);
        }

        let transport = wings::transport(&ground, &services)?;
        let routes =
            wings::http(&ground, thinking, &services, &competition, learning.clone(), transport.clone());
        let listeners = Listeners { public: listener, nodes: node.listener, metrics: metrics_listener };
        listeners.keep(&mut parts, &ground, routes, &transport, &key)?;
        Ok(Self {
            address,
            services,
            competition,
            supervision: supervision.clone(),
            backups: ground.backups.clone(),
            mailer: ground.mailer.clone(),
            nodes: ground.nodes.clone(),
            metrics: Arc::clone(&ground.metrics),
            learning,
            transport,
            parts,
            writer,
            stop_actors: stop.clone(),
            leave,
            restart_notice: config.server.restart_notice(),
            hands_over: node.hands_over,
        })
    }

    /// Where it is served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its TLS, if it speaks it itself.
    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.transport.tls.as_ref()
    }

    /// What its sessions work with; the control socket uses it too.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The tournaments that it holds.
    pub fn tournaments(&self) -> &Tournaments {
        &self.competition.tournaments
    }

    /// What writes mails, if the operator has a server for them.
    pub(crate) fn mailer(&self) -> Option<&Mailer> {
        self.mailer.as_ref()
    }

    /// The nodes of a cluster; none where one is alone.
    pub(crate) fn nodes(&self) -> Option<&Arc<dyn NodeList>> {
        self.nodes.as_ref()
    }

    /// The bots that learn.
    pub(crate) fn learning(&self) -> &Learning {
        &self.learning
    }

    /// Rated games that look given away.
    pub fn rating_alarms(&self) -> &RatingAlarms {
        &self.competition.fair_play.rating_alarms
    }

    /// Who decides better than people of their rating; none where games are not judged.
    pub(crate) fn evidence(&self) -> Option<&EvidenceReader> {
        self.competition.fair_play.evidence.as_ref()
    }

    /// What was played in the first moves of all games.
    pub(crate) fn explorer(&self) -> &Arc<Explorer> {
        &self.competition.explorer
    }

    /// What keeps its parts going.
    pub(crate) fn supervision(&self) -> &Supervision {
        &self.supervision
    }

    /// How the copies of its store stand.
    pub(crate) fn backups(&self) -> &Backups {
        &self.backups
    }

    /// Its tests of remote bots.
    pub fn self_tests(&self) -> &SelfTests {
        &self.competition.self_tests
    }

    /// Serves until `shutdown`, then stops as planned: no new games, a notice to everybody, clocks stored, sockets
    /// closed with 1012, everything written.
    ///
    /// # Errors
    ///
    /// The store failed: nothing more was acknowledged, and the process must end.
    pub async fn run(mut self, shutdown: CancellationToken) -> Result<(), ServerError> {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            // Whoever else waits for the end of the daemon, as the control socket, hears of it so.
            () = self.leave.cancelled() => shutdown.cancel(),
            ended = &mut self.writer => {
                let cause = match ended {
                    Ok(Err(cause)) => cause,
                    Ok(Ok(())) | Err(_) => Arc::new(StoreError::Closed),
                };
                return Err(ServerError::Write(cause));
            }
        }
        self.stop().await
    }

    async fn stop(self) -> Result<(), ServerError> {
        let hands_over = self.hands_over.load(Ordering::Relaxed);
        let restart_notice = if hands_over { Duration::ZERO } else { self.restart_notice };
        let Self { services, competition, transport, parts, writer, stop_actors, .. } = self;
        info!("stopping: no new games");
        services.host.stop();
        stop_actors.cancel();
        let obstacle = services.writer.obstacle();
        let patience_for_writes = if obstacle.is_some() { OBSTRUCTED_MAX } else { PAUSE_MAX };
        if services.sessions.online() > 0 {
            for session in services.sessions.all() {
                session.tell(ServerMessage::Notice(Notice::due(NoticeCode::Restarting, restart_notice)));
            }
            wait_for_games(&services, restart_notice).await;
        }
        let rooms = services.host.rooms();
        let count = rooms.len();
        let pausing =
            futures::future::join_all(rooms.into_iter().map(|room| async move { room.pause().await }));
        if tokio::time::timeout(patience_for_writes, pausing).await.is_err() {
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
        if tokio::time::timeout(patience_for_writes, services.tasks.wait()).await.is_err() {
            warn!(tasks = services.tasks.len(), "tasks did not end in time");
        }
        note_left_sessions(&services, patience_for_writes).await;
        parts.shutdown().await;
        drop((services, competition, transport));
        info!(games = count, "stopping: what waits is written");
        last_writes(writer, patience_for_writes, obstacle).await
    }
}

/// What a daemon listens on.
struct Listeners {
    public: TcpListener,
    nodes: Option<TcpListener>,
    metrics: Option<TcpListener>,
}

impl Listeners {
    /// Serves players, other nodes, and whoever reads the figures.
    fn keep(
        self,
        parts: &mut KeptParts,
        ground: &Ground,
        routes: axum::Router,
        transport: &Transport,
        key: &[u8; KEY_BYTES],
    ) -> std::io::Result<()> {
        if let Some(nodes) = self.nodes {
            let sealed = transport.clone().for_nodes(Signer::new(key));
            parts.keep(listening(Part::NodeListener, nodes, routes.clone(), &sealed));
        }
        parts.keep(listening(Part::Listener, self.public, routes, transport));
        if let Some(metrics) = self.metrics {
            parts.keep(wings::metrics_listening(ground, metrics, transport)?);
        }
        Ok(())
    }
}

/// Lets clients hear of the end, and games that are played come to theirs, for at most so long.
async fn wait_for_games(services: &Services, restart_notice: Duration) {
    tokio::time::sleep(restart_notice.min(NOTICE_MIN)).await;
    let all_over = async {
        while !services.directory.live().is_empty() {
            tokio::time::sleep(GAMES_LOOK).await;
        }
    };
    // What is not over by then is kept.
    let _kept = tokio::time::timeout(restart_notice.saturating_sub(NOTICE_MIN), all_over).await;
}

/// Stores how far each session has been told, so that the next process need not tell again what was heard.
async fn note_left_sessions(services: &Services, patience: Duration) {
    let left = services.left_sessions();
    if left.is_empty() {
        return;
    }
    let sessions = left.len();
    let noting = services.writer.write(Write::SetLeftSessions(left));
    match tokio::time::timeout(patience, noting).await {
        Ok(Ok(_)) => info!(sessions, "sessions are left for the next process"),
        Ok(Err(cause)) => warn!(%cause, "who comes back may be told again how games ended"),
        Err(_) => warn!("who comes back may be told again how games ended: it could not be stored in time"),
    }
}

/// With every holder of the writer gone, its actor writes what is queued and ends; unless it cannot write at all.
async fn last_writes(
    mut writer: Writing,
    patience: Duration,
    obstacle: Option<Obstacle>,
) -> Result<(), ServerError> {
    let written = tokio::time::timeout(patience, &mut writer).await;
    info!("stopped");
    match (written, obstacle) {
        (Ok(Ok(Err(cause))), _) => Err(ServerError::Write(cause)),
        (Ok(Ok(Ok(())) | Err(_)), _) => Ok(()),
        (Err(_), Some(obstacle)) => {
            writer.abort();
            Err(ServerError::Obstructed(obstacle))
        }
        (Err(_), None) => {
            warn!("somebody still holds the writer");
            Ok(())
        }
    }
}

/// The games that go on.
struct LiveGames {
    sound: Vec<StoredGame>,
    /// How many could not be read.
    damaged: usize,
}

impl LiveGames {
    /// Reads them. Each that is damaged has a line in the log, and harms no other.
    async fn read(ground: &Ground) -> Result<Self, ServerError> {
        let mut games = Self { sound: Vec::new(), damaged: 0 };
        for loaded in ground.store.unfinished_games().await? {
            match loaded {
                Ok(game) => games.sound.push(game),
                Err(game) => {
                    games.damaged += 1;
                    error!(game = game.id, what = game.what, "game is damaged and left out");
                }
            }
        }
        Ok(games)
    }

    /// Lets them go on.
    async fn take_up(self, ground: &Ground, playing: &Playing, started: Instant) -> Result<(), ServerError> {
        playing.host.remember_departures().await?;
        let (games, impossible) = playing.host.restore(self.sound).await?;
        let broken = self.damaged + impossible;
        ground.metrics.quarantined(broken);
        info!(games, broken, ms = started.elapsed().as_millis(), "live games taken up");
        Ok(playing.host.take_up_series().await?)
    }
}

fn listening(part: Part, listener: TcpListener, router: axum::Router, transport: &Transport) -> Listening {
    Listening { part, listener: Some(listener), router, transport: transport.clone() }
}
