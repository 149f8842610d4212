//! Builds the daemon, wires its parts, runs it until it is told to stop, and stops it so that nothing is lost.

mod revoked;
mod wings;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use self::wings::{Ground, Writing};
use crate::competition::self_test::SelfTests;
use crate::competition::tournament::Tournaments;
use crate::http::listener::{self, Transport};
use crate::http::metrics::metrics_router;
use crate::model::signing::KEY_BYTES;
use crate::play::house::{HouseBots, HouseError};
use crate::protocol::CloseCode;
use crate::protocol::server::{Notice, NoticeCode, ServerMessage};
use crate::session::Services;
use crate::storage::sqlite::OpenError;
use crate::storage::{SqliteStore, Store, StoreError};
use crate::study::judging::service::JudgingError;
use crate::study::learning::Learning;
use crate::study::learning::LearningError;
use crate::system::config::Config;
use crate::system::data_dir::{DataDir, DataDirError};
use crate::system::metrics::Metrics;

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
pub(crate) async fn run(
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
    writer: Writing,
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
        let (ground, writer) = wings::ground(config, store, &key);
        let Ground { config, store, metrics, stop, .. } = &ground;
        let house =
            HouseBots::set_up(&config.house_bots.0, &config.server.data, store.as_ref(), &ground.writer);
        let house = house.await?;
        wings::add_shipped_puzzles(&ground).await?;
        let thinking = wings::analysis(config);
        let learning = Learning::default();
        // Before the live games are taken up: learners and their versions may be playing some.
        let learners = wings::learning(&ground, &thinking, &house, &learning).await?;
        let (playing, host) = wings::play(&ground, &thinking, house);
        let (lobby, lobby_actor) = wings::lobby(&ground, &playing, address);
        let services = wings::session(&ground, &playing, lobby);
        let (competition, director) = wings::competition(&ground, &playing).await?;
        let (games, broken) = playing.host.restore(store.live_games().await?).await?;
        info!(games, broken, ms = started.elapsed().as_millis(), "live games taken up");

        let mut actors = JoinSet::new();
        actors.spawn(host.run());
        actors.spawn(lobby_actor.run());
        actors.spawn(director.run(stop.clone()));
        actors.spawn(playing.feeds.clone().run(stop.clone()));
        actors.spawn(wings::tv(&thinking, &playing).run(stop.clone()));
        actors.spawn(revoked::end_revoked(Arc::clone(&services), stop.clone()));
        actors.spawn(read_gauges(Arc::clone(&services), Arc::clone(metrics), stop.clone()));
        if let Some(learners) = learners {
            // A planned stop waits for it: it stores what was learnt last.
            actors.spawn(services.tasks.track_future(learners.run(stop.clone())));
        }
        if let Some(judge) = wings::judging(&ground, &thinking)? {
            actors.spawn(judge.run(stop.clone()));
        }
        competition.spawn(&mut actors, &ground, &thinking, &playing);

        let transport = wings::transport(&ground, &services);
        let routes =
            wings::http(&ground, thinking, &services, &competition, learning.clone(), transport.clone());
        spawn_listener(&mut actors, listener, routes, transport.clone());
        if let Some(listener) = metrics_listener {
            info!(address = %listener.local_addr()?, "metrics are served");
            spawn_listener(&mut actors, listener, metrics_router(Arc::clone(metrics)), transport.clone());
        }
        Ok(Self {
            address,
            services,
            tournaments: competition.tournaments,
            self_tests: competition.self_tests,
            metrics: Arc::clone(metrics),
            learning,
            transport,
            actors,
            writer,
            stop_actors: stop.clone(),
            restart_notice: config.server.restart_notice(),
        })
    }

    /// Where it is served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What its sessions work with; the control socket uses it too.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The tournaments that it holds.
    pub fn tournaments(&self) -> &Tournaments {
        &self.tournaments
    }

    /// The bots that learn.
    pub(crate) fn learning(&self) -> &Learning {
        &self.learning
    }

    /// Its tests of remote bots.
    pub fn self_tests(&self) -> &SelfTests {
        &self.self_tests
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
                // Whoever else serves until then has to end too: operators' commands hold the writer.
                shutdown.cancel();
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

/// Keeps the gauges up to date that nobody else does.
async fn read_gauges(services: Arc<Services>, metrics: Arc<Metrics>, stop: CancellationToken) {
    let mut tick = tokio::time::interval(GAUGE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {
                metrics.writer_queue(services.writer.waiting());
                metrics.sessions(services.sessions.count());
            }
        }
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
