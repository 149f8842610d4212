//! The daemon put together: one function a wing, in the order in which the wings stand.

mod competition;
mod fair_play;
mod housekeeping;
mod http;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

pub(super) use self::competition::{Competition, competition};
use self::housekeeping::{keep_backups, keep_dumps, keep_forgetting, keep_packing};
pub(super) use self::http::{figures_listening, http, metrics_listening, relay_transport, transport};
use super::kept::KeptParts;
use super::{Listening, ServerError, listening};
use crate::accounts::{Accounts, NameRules};
use crate::analysis::compute::ComputePool;
use crate::analysis::live_value::LiveValues;
use crate::analysis::values::Analysis;
use crate::cluster::thinking::Thinkers;
use crate::http::letters::Letters;
use crate::http::notices::Notices;
use crate::http::site::{Papers, Site};
use crate::lobby::actor::{LinkedSite, LobbyDeps};
use crate::lobby::director::TvDirector;
use crate::lobby::{LobbyActor, LobbyHandle};
use crate::model::ids::PuzzleId;
use crate::model::signing::{KEY_BYTES, Signer};
use crate::model::time::UnixMillis;
use crate::operations::backups::Backups;
use crate::operations::mail::actor::{MailActor, MailOccasions};
use crate::operations::mail::{Login, MailDeps, MailServer, Mailer, Outgoing, RETRIES as MAIL_RETRIES};
use crate::operations::push::actor::{PushActor, PushOccasions};
use crate::operations::push::{PushDeps, Pusher, RETRIES as PUSH_RETRIES, Sender};
use crate::operations::webhooks::{RETRIES, WebhookDeps, Webhooks};
use crate::play::feeds::Feeds;
use crate::play::host::admission::Requirement;
use crate::play::host::{Host, HostActor, HostDeps};
use crate::play::house::{HouseBots, HouseError};
use crate::play::orders::Orders;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::protocol::FEATURES;
use crate::session::Services;
use crate::session::departed::Departed;
use crate::session::doors::Doors;
use crate::storage::members::NodeList;
use crate::storage::puzzles::{Harvest, NewPuzzle};
use crate::storage::record::StoredGame;
use crate::storage::store::{GameQuery, Write};
use crate::storage::{Store, StoreError, Writer};
use crate::study::judging::{JudgingActor, JudgingDeps, JudgingSettings, WHILE_PLAYERS_RETURN};
use crate::study::learning::{Learning, LearningActor, LearningDeps, LearningSettings};
use crate::study::puzzles::shipped;
use crate::system::config::Config;
use crate::system::metrics::Metrics;
use crate::system::part::Part;
use crate::system::pauses::Pauses;
use crate::system::shares::{ShareSettings, Shares};
use crate::system::supervision::{Kept, Supervision, remade};
use crate::system::tasks::Tasks;

/// How often the gauges are read.
const GAUGE_EVERY: Duration = Duration::from_secs(1);

/// The writer's task: it ends when no one holds the writer any more, or when the store fails.
pub(super) type Writing = JoinHandle<Result<(), Arc<StoreError>>>;

/// What all wings stand on: settings, the store and its writer, and how tasks are told to stop.
pub(super) struct Ground {
    pub(super) config: Config,
    pub(super) store: Arc<dyn Store>,
    pub(super) writer: Writer,
    pub(super) metrics: Arc<Metrics>,
    pub(super) supervision: Supervision,
    pub(super) stop: CancellationToken,
    pub(super) shares: Shares,
    webhooks: Option<Webhooks>,
    pub(super) mailer: Option<Mailer>,
    /// Until whoever sends them takes it.
    outgoing: Option<Outgoing>,
    /// What browsers are told by, if the operator has keys.
    pusher: Option<Pusher>,
    signer: Signer,
    accounts: Accounts,
    site: Arc<Site>,
    tasks: Tasks,
    pub(super) orders: Orders,
    pub(super) backups: Backups,
    /// The nodes of a cluster; none where one is alone.
    pub(super) nodes: Option<Arc<dyn NodeList>>,
}

/// Storage and accounts.
pub(super) async fn ground(
    config: Config,
    store: Arc<dyn Store>,
    key: &[u8; KEY_BYTES],
    nodes: Option<Arc<dyn NodeList>>,
) -> Result<(Ground, Writing), StoreError> {
    let orders = Orders::read(store.as_ref()).await?;
    let metrics = Arc::new(Metrics::new());
    let supervision = Supervision::new(Arc::clone(&metrics));
    let (writer, actor) = Writer::new(Arc::clone(&store));
    let (observed, failing) = (Arc::clone(&metrics), Arc::clone(&metrics));
    let actor = actor.on_commit(move |took| observed.committed(took));
    let writing = actor.on_failure(move || failing.write_failed()).start();
    let signer = Signer::new(key);
    let shares = Shares::new(share_settings(&config), Arc::clone(&metrics));
    let accounts = Accounts::new(Arc::clone(&store), writer.clone(), signer.clone(), shares.clone())
        .supervised(supervision.clone())
        .naming(NameRules::from(&config.access));
    accounts.read_blocks().await?;
    let mut ground = Ground {
        accounts,
        site: Arc::new(site_of(&config)),
        stop: CancellationToken::new(),
        tasks: Tasks::new(supervision.clone(), Part::Session),
        supervision,
        config,
        store,
        writer,
        metrics,
        shares,
        webhooks: None,
        mailer: None,
        outgoing: None,
        pusher: None,
        signer,
        orders,
        backups: Backups::default(),
        nodes,
    };
    ground.webhooks = ground.config.webhooks.enabled.then(|| ground.new_webhooks());
    (ground.mailer, ground.outgoing) = ground.new_mailer().unzip();
    ground.pusher = ground.new_pusher();
    Ok((ground, writing))
}

impl Ground {
    fn new_webhooks(&self) -> Webhooks {
        Webhooks::new(WebhookDeps {
            store: Arc::clone(&self.store),
            writer: self.writer.clone(),
            signer: self.signer.clone(),
            shares: self.shares.clone(),
            metrics: Arc::clone(&self.metrics),
            allowed: self.config.webhooks.networks.clone(),
            tasks: self.tasks.of(Part::Webhooks),
            stop: self.stop.clone(),
            retries: RETRIES.to_vec(),
        })
    }

    /// What writes mails, if the operator has a server for them. That the settings go together was checked when they
    /// were read.
    fn new_mailer(&self) -> Option<(Mailer, Outgoing)> {
        let settings = &self.config.mail;
        let (address, from) = (settings.server.0.as_ref()?, settings.from.0.clone()?);
        let site = self.config.server.public_url.clone()?;
        let (host, port) = address.as_pair();
        let login = Login { user: settings.user.clone(), password: settings.password() };
        let server = MailServer {
            host: host.to_owned(),
            port,
            security: settings.security,
            login: Some(login).filter(|login| !login.user.is_empty()),
            greeting: site.host().to_owned(),
            trust: None,
        };
        Some(Mailer::new(MailDeps {
            server,
            from,
            site,
            words: Arc::new(Letters),
            shares: self.shares.clone(),
            metrics: Arc::clone(&self.metrics),
            retries: MAIL_RETRIES.to_vec(),
        }))
    }

    /// What browsers are told by, if the operator has keys. That they are some was checked when they were read.
    fn new_pusher(&self) -> Option<Pusher> {
        let settings = &self.config.push;
        let key = settings.key().ok().flatten()?;
        Some(Pusher::new(PushDeps {
            store: Arc::clone(&self.store),
            writer: self.writer.clone(),
            sender: Sender::new(key, settings.subject.clone()),
            words: Arc::new(Notices),
            shares: self.shares.clone(),
            metrics: Arc::clone(&self.metrics),
            allowed: Vec::new(),
            tasks: self.tasks.of(Part::Push),
            stop: self.stop.clone(),
            retries: PUSH_RETRIES.to_vec(),
        }))
    }
}

/// Whoever tells people who are away, if any are told.
fn pushing(ground: &Ground, services: &Services) -> Option<PushActor> {
    let seen = PushOccasions {
        directory: services.directory.clone(),
        sessions: services.sessions.clone(),
        challenged: services.lobby.challenged_away(),
    };
    Some(PushActor::new(ground.pusher.clone()?, Arc::clone(&ground.store), seen))
}

/// Whoever sends mails, if any are sent.
pub(super) fn mailing(
    ground: &mut Ground,
    services: &Services,
    competition: &Competition,
) -> Option<MailActor> {
    let (mailer, outgoing) = (ground.mailer.clone()?, ground.outgoing.take()?);
    let seen = MailOccasions {
        troubles: competition.troubles.clone(),
        directory: services.directory.clone(),
        sessions: services.sessions.clone(),
        pusher: ground.pusher.clone(),
    };
    Some(MailActor::new(mailer, outgoing, Arc::clone(&ground.store), seen))
}

/// The threads that think, and the solver for whoever asks.
pub(super) struct Thinking {
    pool: ComputePool,
    analysis: Analysis,
}

pub(super) fn analysis(ground: &Ground) -> Thinking {
    let (threads, supervision) = (ground.config.compute.threads(), &ground.supervision);
    Thinking {
        pool: ComputePool::new(threads).supervised(supervision.clone()),
        analysis: Analysis::new(threads, &ground.shares).supervised(supervision.clone()),
    }
}

/// Games being played.
pub(super) struct Playing {
    pub(super) host: Host,
    directory: Directory,
    sessions: Sessions,
    pub(super) feeds: Feeds,
}

/// Play: presence, feeds, and the host over the bots of the house.
pub(super) fn play(
    ground: &Ground,
    thinking: &Thinking,
    house: HouseBots,
    pauses: Pauses,
    directory: Directory,
    thinkers: Option<Thinkers>,
) -> (Playing, HostActor) {
    let sessions = Sessions::new(ground.config.limits.games_per_player.number());
    let feeds = Feeds::new(directory.clone(), {
        let sessions = sessions.clone();
        move || sessions.online()
    });
    let (host, actor) = Host::new(HostDeps {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        accounts: ground.accounts.clone(),
        directory: directory.clone(),
        sessions: sessions.clone(),
        house,
        pool: thinking.pool.clone(),
        thinkers,
        feeds: feeds.clone(),
        tasks: ground.tasks.of(Part::Host),
        metrics: Arc::clone(&ground.metrics),
        pair_limit: ground.config.limits.rated_games_per_pair_and_day.number(),
        self_test: requirement(&ground.config),
        live_values: live_values(&ground.config, &thinking.analysis),
        watch_delay: ground.config.watching.delay(),
        shares: ground.shares.clone(),
        games_max: ground.config.limits.games.count(),
        pauses,
        orders: ground.orders.clone(),
    });
    (Playing { host, directory, sessions, feeds }, actor)
}

/// The bots that the daemon itself plays.
pub(super) async fn house(ground: &Ground) -> Result<HouseBots, HouseError> {
    let Ground { config, store, writer, .. } = ground;
    let (bots, files) = (&config.house_bots.0, &config.server.data);
    HouseBots::set_up(bots, &config.programs, files, store.as_ref(), writer).await
}

/// Whether rated games need a passed self-test.
pub(super) fn requirement(config: &Config) -> Requirement {
    if config.limits.rated_requires_selftest { Requirement::BeforeRated } else { Requirement::Optional }
}

/// What watchers are told about the value of games.
fn live_values(config: &Config, analysis: &Analysis) -> LiveValues {
    let settings = &config.watching;
    if settings.truth {
        LiveValues::new(analysis.clone(), settings.truth_delay())
    } else {
        LiveValues::default()
    }
}

/// The lobby. Links to challenges lead to where their makers have found the site, unless it has a name.
pub(super) async fn lobby(
    ground: &Ground,
    playing: &Playing,
    address: SocketAddr,
) -> Result<(LobbyHandle, LobbyActor), StoreError> {
    let (handle, mut actor) = LobbyActor::new(LobbyDeps {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        sessions: playing.sessions.clone(),
        host: playing.host.clone(),
        feeds: playing.feeds.clone(),
        tasks: ground.tasks.of(Part::Lobby),
        shares: ground.shares.clone(),
        site: match &ground.site.public_url {
            Some(site) => LinkedSite::Named(site.clone()),
            None => LinkedSite::Found { listener: format!("{}://{address}", ground.site.scheme()) },
        },
    });
    actor.take_up_links().await?;
    Ok((handle, actor))
}

/// When an earlier process stored something for the last time, as far as games tell.
async fn last_stored(store: &dyn Store, live: &[StoredGame]) -> Result<UnixMillis, StoreError> {
    let newest = GameQuery { newest_first: true, limit: 1, ..GameQuery::default() };
    let finished = store.finished_games(&newest).await?;
    let moments = live.iter().chain(&finished).map(StoredGame::last_change);
    Ok(moments.max().unwrap_or_default())
}

/// The sessions that the process before has left when it was stopped as planned. Each is known to one process alone: to
/// the one after it they would say nothing of what was heard meanwhile.
async fn departed(ground: &Ground) -> Result<Departed, StoreError> {
    let left = ground.store.left_sessions().await?;
    if left.is_empty() {
        return Ok(Departed::default());
    }
    info!(sessions = left.len(), "sessions may go on where the last process left them");
    if let Err(cause) = ground.writer.write(Write::SetLeftSessions(Vec::new())).await {
        warn!(%cause, "players who come back may be told again how games ended");
        return Ok(Departed::default());
    }
    Ok(Departed::after(left))
}

/// What sessions work with, and the live games, of which one tells when the daemon ran last.
pub(super) async fn session(
    ground: &Ground,
    playing: &Playing,
    lobby: LobbyHandle,
    live: &[StoredGame],
) -> Result<Arc<Services>, StoreError> {
    let config = &ground.config;
    Ok(Arc::new(Services {
        guests_play: ground.config.access.guests,
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        accounts: ground.accounts.clone(),
        signer: ground.signer.clone(),
        directory: playing.directory.clone(),
        sessions: playing.sessions.clone(),
        departed: departed(ground).await?,
        host: playing.host.clone(),
        lobby,
        feeds: playing.feeds.clone(),
        doors: Doors::new(&ground.shares),
        shares: ground.shares.clone(),
        metrics: Arc::clone(&ground.metrics),
        tasks: ground.tasks.clone(),
        stop: ground.stop.clone(),
        sockets_stop: CancellationToken::new(),
        started_at: UnixMillis::now(),
        last_stored: last_stored(ground.store.as_ref(), live).await?,
        heartbeat: config.server.heartbeat(),
        connections_per_account: config.limits.connections_per_account.count(),
        messages_per_20s: config.limits.messages_per_20s.number(),
        illegal_retries: config.limits.illegal_retries(),
        durability: config.storage.durability.as_str(),
        features: features(config),
    }))
}

/// What is spoken here beyond the smallest exchange.
fn features(config: &Config) -> Vec<&'static str> {
    let by_setting = [
        config.access.guests.then_some("guests"),
        config.watching.truth.then_some("truth"),
        (!config.watching.delay().is_zero()).then_some("watch_delay"),
    ];
    FEATURES.iter().copied().chain(by_setting.into_iter().flatten()).collect()
}

/// The bots that learn, if there are to be any.
pub(super) async fn learning(
    ground: &Ground,
    thinking: &Thinking,
    house: &HouseBots,
    learning: &Learning,
) -> Result<Option<impl Kept + use<>>, ServerError> {
    let settings = &ground.config.learning;
    if !settings.enabled {
        return Ok(None);
    }
    let deps = LearningDeps {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        house: house.clone(),
        pool: thinking.pool.clone(),
        metrics: Arc::clone(&ground.metrics),
        supervision: ground.supervision.clone(),
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
    let mut first = Some(LearningActor::new(deps.clone()).await?);
    Ok(Some(remade(Part::Learners, move |stop| {
        let (first, deps) = (first.take(), deps.clone());
        async move {
            let learners = match first {
                Some(first) => first,
                None => LearningActor::new(deps).await?,
            };
            learners.run(stop).await;
            Ok(())
        }
    })))
}

/// The judge, if there is to be one.
pub(super) fn judging(
    ground: &Ground,
    thinking: &Thinking,
    playing: &Playing,
) -> Result<Option<impl Kept + use<>>, ServerError> {
    let settings = &ground.config.judging;
    if !settings.enabled {
        return Ok(None);
    }
    let deps = JudgingDeps {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        pool: thinking.pool.clone(),
        metrics: Arc::clone(&ground.metrics),
        supervision: ground.supervision.clone(),
        settings: JudgingSettings {
            cpu_percent: settings.cpu_percent.number(),
            puzzles: settings.puzzles.number(),
            // Only games that were taken up can go on by now.
            rests: if playing.directory.count() > 0 { WHILE_PLAYERS_RETURN } else { Duration::ZERO },
        },
    };
    let mut first = Some(JudgingActor::new(deps.clone())?);
    Ok(Some(remade(Part::Judge, move |stop| {
        let made = first.take().map_or_else(|| JudgingActor::new(deps.clone()), Ok);
        async move {
            made?.run(stop).await;
            Ok(())
        }
    })))
}

/// Adds the puzzles that came with the program and are not there yet, or with another grade.
pub(super) async fn add_shipped_puzzles(ground: &Ground) -> Result<(), ServerError> {
    let entries = ground.store.puzzles().await?.into_iter();
    let known: HashSet<(PuzzleId, u32)> = entries.map(|entry| (entry.id, entry.prior)).collect();
    let is_new = |puzzle: &NewPuzzle| !known.contains(&(puzzle.id.clone(), puzzle.prior));
    let puzzles = shipped::puzzles().into_iter().filter(is_new).collect();
    let harvest = Harvest { puzzles, keep: ground.config.judging.puzzles.number() };
    let added = ground.writer.write(Write::AddPuzzles(harvest)).await;
    added.map_err(|error| ServerError::Judging(error.into()))?;
    Ok(())
}

/// Keeps what has no state of its own worth a name: which game is on TV, what tells of changes in feeds, what looks for
/// guests whom nobody comes back to, and what keeps the gauges up to date that nobody else does.
pub(super) fn keep_small_parts(
    parts: &mut KeptParts,
    ground: &Ground,
    services: &Arc<Services>,
    thinking: &Thinking,
    playing: &Playing,
) {
    keep_backups(parts, ground);
    keep_dumps(parts, ground);
    let (directory, feeds) = (playing.directory.clone(), playing.feeds.clone());
    let analysis = thinking.analysis.clone();
    parts.keep(remade(Part::Tv, move |stop| {
        TvDirector::new(directory.clone(), feeds.clone(), analysis.clone()).run(stop).map(Ok)
    }));
    let feeds = playing.feeds.clone();
    parts.keep(remade(Part::Feeds, move |stop| feeds.clone().run(stop).map(Ok)));
    let accounts = ground.accounts.clone();
    parts.keep(remade(Part::IdleGuests, move |stop| accounts.clone().look_for_idle_guests(stop).map(Ok)));
    keep_forgetting(parts, ground);
    keep_packing(parts, ground);
    if let Some(push) = pushing(ground, services) {
        parts.keep(push);
    }
    let (metrics, services) = (Arc::clone(&ground.metrics), Arc::clone(services));
    parts.keep(remade(Part::Gauges, move |stop| {
        read_gauges(Arc::clone(&services), Arc::clone(&metrics), stop).map(Ok)
    }));
}

async fn read_gauges(services: Arc<Services>, metrics: Arc<Metrics>, stop: CancellationToken) {
    let mut tick = tokio::time::interval(GAUGE_EVERY);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = tick.tick() => {
                metrics.writer_queue(services.writer.waiting());
                metrics.sessions(services.sessions.count());
            }
        }
    }
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
        contact: config.site.contact.clone(),
        papers: Papers {
            privacy: config.site.privacy.clone(),
            terms: config.site.terms.clone(),
            imprint: config.site.imprint.clone(),
        },
        programs: config.site.programs.clone(),
        dumps: config.dump.folder(),
        speaks_tls: config.server.tls().is_some(),
        tells_values: config.watching.truth,
    }
}

fn share_settings(config: &Config) -> ShareSettings {
    ShareSettings {
        per_network: config.limits.shares_per_address.number(),
        counts_loopback: !config.limits.loopback_exempt,
    }
}
