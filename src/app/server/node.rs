//! A node of a cluster: it stands by, passing connections on to whoever leads, and leads when its turn comes.

mod membership;
mod turn;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error, info, warn};

use self::membership::Membership;
use self::turn::Turn;
use super::{Daemon, NodeParts, Parts, ServerError, wings};
use crate::analysis::compute::ComputePool;
use crate::cluster::hints::Hints;
use crate::cluster::nats;
use crate::cluster::thinking::Thinkers;
use crate::http::connection_limits::ConnectionLimits;
use crate::http::listener;
use crate::http::metrics::Observed;
use crate::http::relay::Relay;
use crate::model::durability::Durability;
use crate::model::signing::{KEY_BYTES, Purpose, Signer};
use crate::play::elsewhere;
use crate::storage::StoreError;
use crate::storage::engine::Engine;
use crate::storage::members::{BadMember, NewMember, Standing};
use crate::storage::postgres::{ListedMembers, Members, PostgresOpenError, PostgresStore};
use crate::system::config::Config;
use crate::system::data_dir::DataDir;
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::pauses::Pauses;
use crate::system::supervision::{Kept as _, Supervision};
use crate::system::tasks::Tasks;

/// How long to wait for a node that is just making the first tables.
const TABLES_MAX: Duration = Duration::from_secs(30);

/// Who joins while nobody leads says after so long that it listens.
const READY_AFTER: Duration = Duration::from_secs(2);

/// Before a node tries again to lead whose program does not know the database's form.
const UNFIT_RETRY: Duration = Duration::from_secs(10);

/// Between two attempts to take the right to write again.
const RECLAIM_EVERY: Duration = Duration::from_millis(500);

/// Between two attempts to do what another node may be doing too.
const RETRY: Duration = Duration::from_millis(100);

/// What a node does.
pub(crate) enum Doing<'d> {
    /// Games are played here, until the token is cancelled.
    Leading(&'d Daemon, &'d CancellationToken),
    /// Connections to this address are passed on.
    StandingBy(SocketAddr),
}

/// What a node does after it has led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It was told to end.
    End,
    /// It has made way for another one.
    StandBy,
}

/// What a node has as long as it runs, whether it leads or not.
struct Node {
    /// Where players and bots connect.
    public: TcpListener,
    /// Where figures are read: of the daemon if this node leads, else of those whose connections it passes on.
    metrics: Option<TcpListener>,
    /// Whose connections are passed on.
    places: Arc<ConnectionLimits>,
    /// Where other nodes pass connections on to.
    inner: TcpListener,
    config: Config,
    key: [u8; KEY_BYTES],
    pauses: Pauses,
    membership: Membership,
    relay: Relay,
    /// Who thinks for the bots of the house: all nodes but the one that leads, and workers.
    thinkers: Thinkers,
    tasks: Tasks,
}

/// Joins the cluster that the settings name, and serves until `shutdown`.
///
/// # Errors
///
/// It cannot join, or has lost the lead to another node: then it must end, and may be started again.
pub(crate) async fn run(
    public: TcpListener,
    metrics: Option<TcpListener>,
    config: Config,
    data: &DataDir,
    mut tell: impl FnMut(Doing<'_>),
    shutdown: CancellationToken,
) -> Result<(), ServerError> {
    let pauses = Pauses::default();
    let _heartbeat = AbortOnDropHandle::new(tokio::spawn(pauses.clone().beat_on()));
    let node = Node::join(public, metrics, config, data, pauses).await?;
    let address = node.public.local_addr()?;
    loop {
        let Some((engine, incarnation)) =
            node.stand_by(|| tell(Doing::StandingBy(address)), &shutdown).await?
        else {
            node.membership.leave().await;
            return Ok(());
        };
        let led = node.lead(&engine, incarnation, &mut tell, &shutdown).await;
        if matches!(led, Err(ServerError::Replaced)) {
            // Its lock is gone, and the database may be out of reach: its players shall go elsewhere at once.
            error!("another node leads: this one leads no more, and ends");
            return Err(ServerError::Replaced);
        }
        // Whatever has happened: nobody shall wait for a lock that is of no use to anybody.
        let released = engine.release().await;
        node.membership.stand(Standing::default());
        let then = led.inspect_err(|error| error!(%error, "this node leads no more, and ends"))?;
        match released {
            Ok(()) => {}
            // The lock went with its connection, and whoever leads next has ended this node's term.
            Err(StoreError::Unreachable(error)) => {
                warn!(%error, "the database could not be told that this node leads no more: it notices");
            }
            Err(error) => return Err(ServerError::Unclosed(error)),
        }
        if then == Then::End {
            node.membership.leave().await;
            return Ok(());
        }
        info!("another node leads from now on");
    }
}

impl Node {
    async fn join(
        public: TcpListener,
        metrics: Option<TcpListener>,
        config: Config,
        data: &DataDir,
        pauses: Pauses,
    ) -> Result<Self, ServerError> {
        let cluster = &config.cluster;
        let url = config.storage.url.expose().unwrap_or_default().to_owned();
        let inner = listener::bind(&cluster.listen).await?;
        let advertised = match &cluster.advertise.0 {
            Some(address) => address.to_string(),
            None => cluster.listen.at_port(inner.local_addr()?.port()).to_string(),
        };
        let key = *data.secret()?.bytes();
        let signer = Signer::new(&key);
        let bus = nats::connect(&cluster.bus.expose()).await?;
        let hints = Hints::new(bus.clone(), &cluster.name.0);
        let thinkers = Thinkers::new(bus, &cluster.name.0);
        let mut members = Members::of(&url).map_err(ServerError::Cluster)?;
        make_tables(&mut members, &url).await?;
        let node = NewMember {
            name: if cluster.node.0.is_empty() { advertised.clone() } else { cluster.node.0.clone() },
            address: advertised,
            holds: cluster.holds,
            key_digest: signer.digest(Purpose::Key, "cluster"),
        };
        let place = members.join(&node).await.map_err(|bad| refusal(bad, data))?;
        info!(node = node.name, address = node.address, holds = node.holds, "joined the cluster");
        let membership = Membership::keep(members, hints, place)?;
        let tasks = Tasks::new(Supervision::default(), Part::Connection);
        let transport = wings::relay_transport(&config, tasks.clone());
        let places = Arc::clone(&transport.connection_limits);
        let relay = Relay::new(transport, signer, membership.upstream.clone());
        Ok(Self { public, metrics, places, inner, config, key, pauses, membership, relay, thinkers, tasks })
    }

    /// Passes connections on until it is this node's turn; gives the store that it may write to then. `None` if it is
    /// to stop before.
    async fn stand_by(
        &self,
        on_ready: impl FnOnce(),
        shutdown: &CancellationToken,
    ) -> Result<Option<(Engine, i64)>, ServerError> {
        let (mut on_ready, began) = (Some(on_ready), Instant::now());
        let mut view = self.membership.view.clone();
        let waiting = async {
            loop {
                let turn = view.borrow_and_update().turn;
                match turn {
                    Turn::Lead => {
                        if let Some(taken) = self.take_the_lead().await? {
                            return Ok(Some(taken));
                        }
                        sleep(RETRY).await;
                        continue;
                    }
                    Turn::Replaced => return Err(ServerError::Replaced),
                    Turn::Stay | Turn::MakeWay | Turn::Reclaim => {}
                }
                // Who has to wait for a leader is there all the same.
                let is_ready = self.membership.upstream.borrow().is_some() || began.elapsed() >= READY_AFTER;
                if is_ready && let Some(on_ready) = on_ready.take() {
                    on_ready();
                }
                tokio::select! {
                    biased;
                    // Its thread has panicked: nothing would ever change again.
                    changed = view.changed() => changed.map_err(|_| ServerError::Replaced)?,
                    () = sleep(READY_AFTER), if on_ready.is_some() => {}
                }
            }
        };
        tokio::select! {
            biased;
            // Also while it tries to lead: what it has begun then ends with its connection.
            () = shutdown.cancelled() => Ok(None),
            ended = waiting => ended,
            never = self.relay.run(&self.public) => match never {},
            never = self.think() => match never {},
            never = self.show_figures() => match never {},
        }
    }

    /// Serves the figures of a node that stands by, which it counts itself.
    async fn show_figures(&self) -> Infallible {
        let metrics = Arc::new(Metrics::new());
        metrics.follow(self.membership.pulse.clone());
        let stop = CancellationToken::new();
        let _ends_with_this = stop.clone().drop_guard();
        let listener = self.metrics.as_ref().map(copy_of).transpose();
        let listening = listener.and_then(|listener| {
            let observed = Observed {
                metrics: Arc::clone(&metrics),
                places: Arc::clone(&self.places),
                data: self.config.server.data.clone(),
            };
            let (config, tasks) = (&self.config, self.tasks.of(Part::Connection));
            let on = |listener| wings::figures_listening(config, observed, listener, tasks, stop.clone());
            listener.map(on).transpose()
        });
        let serving = async {
            match listening {
                Ok(Some(mut listening)) => drop(listening.run(&stop).await),
                Ok(None) => {}
                Err(error) => error!(%error, "this node shows no figures"),
            }
            std::future::pending::<Infallible>().await
        };
        let mut view = self.membership.view.clone();
        let counting = async {
            loop {
                metrics.nodes(view.borrow_and_update().living, false);
                if view.changed().await.is_err() {
                    return std::future::pending::<Infallible>().await; // the process ends
                }
            }
        };
        tokio::select! {
            biased;
            never = counting => never,
            never = serving => never,
        }
    }

    /// Thinks for whoever leads, with the threads that this node would have for its own games.
    async fn think(&self) -> Infallible {
        let pool = ComputePool::new(self.config.compute.threads());
        let goes_on = CancellationToken::new();
        elsewhere::think_for_others(&self.thinkers, &pool, &self.tasks.of(Part::Compute), &goes_on).await;
        // Without the bus nobody asks; the node has more to do.
        std::future::pending().await
    }

    /// Takes the right to write if nobody has it.
    async fn take_the_lead(&self) -> Result<Option<(Engine, i64)>, ServerError> {
        let storage = &self.config.storage;
        match Engine::open_now(storage.url.expose().unwrap_or_default(), storage.durability).await {
            Ok(taken) => Ok(Some(taken)),
            Err(PostgresOpenError::InUse { .. } | PostgresOpenError::Unreachable { .. }) => Ok(None),
            // As that of a later version, which has led before: connections are passed on all the same.
            Err(PostgresOpenError::Unfit(why)) => {
                error!(why, "this node cannot lead");
                sleep(UNFIT_RETRY).await;
                Ok(None)
            }
            Err(error) => Err(ServerError::Cluster(error)),
        }
    }

    /// Plays all games until it is told to stop, to make way, or finds itself replaced.
    async fn lead(
        &self,
        engine: &Engine,
        incarnation: i64,
        tell: &mut impl FnMut(Doing<'_>),
        shutdown: &CancellationToken,
    ) -> Result<Then, ServerError> {
        let began = Instant::now();
        self.membership.stand(Standing { writes_as: Some(incarnation), serves: false });
        let hands_over = Arc::new(AtomicBool::new(false));
        let daemon = Daemon::start(self.parts(engine, &hands_over)?).await?;
        self.membership.stand(Standing { writes_as: Some(incarnation), serves: true });
        self.note_lead(incarnation, began.elapsed());
        let term = shutdown.child_token();
        tell(Doing::Leading(&daemon, &term));
        let metrics = self.figures_of(&daemon);
        let mut serving = std::pin::pin!(daemon.run(term.clone()));
        let mut view = self.membership.view.clone();
        let mut then = Then::End;
        loop {
            let seen = *view.borrow_and_update();
            hands_over.store(seen.has_heir, Ordering::Relaxed);
            metrics.nodes(seen.living, true);
            match seen.turn {
                Turn::Replaced => return Err(ServerError::Replaced),
                Turn::MakeWay if !term.is_cancelled() => {
                    then = Then::StandBy;
                    term.cancel();
                }
                Turn::Reclaim => self.reclaim(engine),
                Turn::MakeWay | Turn::Stay | Turn::Lead => {}
            }
            tokio::select! {
                biased;
                ended = &mut serving => return ended.map(|()| then),
                () = term.cancelled(), if self.membership.serves() => {
                    self.membership.stand(Standing { writes_as: Some(incarnation), serves: false });
                }
                changed = view.changed() => changed.map_err(|_| ServerError::Replaced)?,
                () = self.membership.deposed(incarnation) => return Err(ServerError::Replaced),
                // Until it has succeeded.
                () = sleep(RECLAIM_EVERY), if seen.turn == Turn::Reclaim => {}
            }
        }
    }

    /// Says that this node leads, so long after it could.
    fn note_lead(&self, incarnation: i64, took: Duration) {
        self.membership.pulse.leads_after(took);
        info!(incarnation, took_ms = took.as_millis(), "this node leads");
    }

    /// The figures of the daemon, which tell from now on how its node lives.
    fn figures_of(&self, daemon: &Daemon) -> Arc<Metrics> {
        daemon.metrics.follow(self.membership.pulse.clone());
        Arc::clone(&daemon.metrics)
    }

    /// What a daemon is built from that leads now.
    fn parts(&self, engine: &Engine, hands_over: &Arc<AtomicBool>) -> Result<Parts, ServerError> {
        let url = self.config.storage.url.expose().unwrap_or_default();
        Ok(Parts {
            listener: copy_of(&self.public)?,
            metrics_listener: self.metrics.as_ref().map(copy_of).transpose()?,
            config: self.config.clone(),
            store: engine.store(),
            key: self.key,
            pauses: self.pauses.clone(),
            node: NodeParts {
                listener: Some(copy_of(&self.inner)?),
                hands_over: Arc::clone(hands_over),
                thinkers: Some(self.thinkers.clone()),
                list: Some(Arc::new(ListedMembers::of(url).map_err(ServerError::Cluster)?)),
            },
        })
    }

    /// Has the writing connection made again, should nobody write for a while: with it goes the lock.
    fn reclaim(&self, engine: &Engine) {
        let store = engine.store();
        self.tasks.spawn(async move {
            if let Err(error) = store.probe().await {
                debug!(%error, "the right to write could not be taken again yet");
            }
        });
    }
}

/// The same listener once more: whoever has it last closes it.
fn copy_of(listener: &TcpListener) -> io::Result<TcpListener> {
    use std::os::fd::AsFd as _;
    let copy = std::net::TcpListener::from(listener.as_fd().try_clone_to_owned()?);
    TcpListener::from_std(copy)
}

/// Makes the first tables in an empty database, unless another node is at it.
async fn make_tables(members: &mut Members, url: &str) -> Result<(), ServerError> {
    let deadline = Instant::now() + TABLES_MAX;
    while !members.has_list().await? {
        match PostgresStore::open_now(url, Durability::Strict).await {
            Ok(store) => store.close().await.map_err(ServerError::Unclosed)?,
            Err(PostgresOpenError::InUse { .. }) if Instant::now() < deadline => sleep(RETRY).await,
            Err(error) => return Err(ServerError::Cluster(error)),
        }
    }
    Ok(())
}

/// Why a node cannot join, for an operator.
fn refusal(bad: BadMember, data: &DataDir) -> ServerError {
    match bad {
        BadMember::OtherKey => ServerError::OtherKey(data.secret_path()),
        BadMember::Unasked(error) => ServerError::Read(error),
    }
}
