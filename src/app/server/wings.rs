//! The daemon put together: one function a wing, in the order in which the wings stand.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ServerError;
use crate::accounts::Accounts;
use crate::analysis::compute::ComputePool;
use crate::analysis::live_value::LiveValues;
use crate::analysis::values::Analysis;
use crate::app::arena_view::LiveArena;
use crate::competition::leaderboard::{Leaderboard, LeaderboardActor, LeaderboardDeps};
use crate::competition::matchmaker::{MatchmakerActor, MatchmakerDeps, MatchmakerSettings, Troubles};
use crate::competition::self_test::SelfTests;
use crate::competition::self_test::trial::SelfTestDeps;
use crate::competition::tournament::{Director, DirectorDeps, Tournaments};
use crate::http::listener::Transport;
use crate::http::site::Site;
use crate::http::{AppState, pages, router, upgrade};
use crate::lobby::actor::LobbyDeps;
use crate::lobby::director::TvDirector;
use crate::lobby::{LobbyActor, LobbyHandle};
use crate::model::signing::{KEY_BYTES, Signer};
use crate::model::time::UnixMillis;
use crate::play::feeds::Feeds;
use crate::play::host::admission::Requirement;
use crate::play::host::{Host, HostActor, HostDeps};
use crate::play::house::HouseBots;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::session::limits::TransportLimits;
use crate::session::line_feed::LineFeeds;
use crate::session::port::Gateway;
use crate::session::{Services, SessionGateway};
use crate::storage::puzzles::Harvest;
use crate::storage::store::Write;
use crate::storage::{Store, StoreError, Writer};
use crate::study::judging::{JudgingActor, JudgingDeps, JudgingSettings};
use crate::study::learning::{Learning, LearningActor, LearningDeps, LearningSettings};
use crate::study::puzzles::service::Puzzles;
use crate::study::puzzles::shipped;
use crate::system::config::Config;
use crate::system::metrics::Metrics;

/// The writer's task: it ends when no one holds the writer any more, or when the store fails.
pub(super) type Writing = JoinHandle<Result<(), Arc<StoreError>>>;

/// What all wings stand on: settings, the store and its writer, and how tasks are told to stop.
pub(super) struct Ground {
    pub(super) config: Config,
    pub(super) store: Arc<dyn Store>,
    pub(super) writer: Writer,
    pub(super) metrics: Arc<Metrics>,
    pub(super) stop: CancellationToken,
    signer: Signer,
    accounts: Accounts,
    site: Arc<Site>,
    tasks: TaskTracker,
}

/// Storage and accounts.
pub(super) fn ground(config: Config, store: Arc<dyn Store>, key: &[u8; KEY_BYTES]) -> (Ground, Writing) {
    let metrics = Arc::new(Metrics::new());
    let (writer, actor) = Writer::new(Arc::clone(&store));
    let observed = Arc::clone(&metrics);
    let writing = tokio::spawn(actor.on_commit(move |took| observed.committed(took)).run());
    let signer = Signer::new(key);
    let ground = Ground {
        accounts: Accounts::new(Arc::clone(&store), writer.clone(), signer.clone()),
        site: Arc::new(site_of(&config)),
        stop: CancellationToken::new(),
        tasks: TaskTracker::new(),
        config,
        store,
        writer,
        metrics,
        signer,
    };
    (ground, writing)
}

/// The threads that think, and the solver for whoever asks.
pub(super) struct Thinking {
    pool: ComputePool,
    analysis: Analysis,
}

pub(super) fn analysis(config: &Config) -> Thinking {
    let pool = ComputePool::new(config.compute.threads());
    Thinking { analysis: Analysis::new(pool.clone()), pool }
}

/// Games being played.
pub(super) struct Playing {
    pub(super) host: Host,
    directory: Directory,
    sessions: Sessions,
    pub(super) feeds: Feeds,
}

/// Play: presence, feeds, and the host over the bots of the house.
pub(super) fn play(ground: &Ground, thinking: &Thinking, house: HouseBots) -> (Playing, HostActor) {
    let directory = Directory::default();
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
        feeds: feeds.clone(),
        tasks: ground.tasks.clone(),
        metrics: Arc::clone(&ground.metrics),
        pair_limit: ground.config.limits.rated_games_per_pair_and_day.number(),
        self_test: requirement(&ground.config),
        live_values: live_values(&ground.config, &thinking.analysis),
    });
    (Playing { host, directory, sessions, feeds }, actor)
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

/// The lobby. Links to challenges lead to `address` unless the site has a name.
pub(super) fn lobby(ground: &Ground, playing: &Playing, address: SocketAddr) -> (LobbyHandle, LobbyActor) {
    LobbyActor::new(LobbyDeps {
        store: Arc::clone(&ground.store),
        sessions: playing.sessions.clone(),
        host: playing.host.clone(),
        feeds: playing.feeds.clone(),
        tasks: ground.tasks.clone(),
        site_url: site_url(&ground.site, address),
    })
}

/// What sessions work with.
pub(super) fn session(ground: &Ground, playing: &Playing, lobby: LobbyHandle) -> Arc<Services> {
    let config = &ground.config;
    Arc::new(Services {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        accounts: ground.accounts.clone(),
        signer: ground.signer.clone(),
        directory: playing.directory.clone(),
        sessions: playing.sessions.clone(),
        host: playing.host.clone(),
        lobby,
        feeds: playing.feeds.clone(),
        tasks: ground.tasks.clone(),
        stop: ground.stop.clone(),
        sockets_stop: CancellationToken::new(),
        started_at: UnixMillis::now(),
        heartbeat: config.server.heartbeat(),
        connections_per_account: config.limits.connections_per_account.count(),
        messages_per_20s: config.limits.messages_per_20s.number(),
        durability: config.storage.durability.as_str(),
    })
}

/// The bots that learn, if there are to be any.
pub(super) async fn learning(
    ground: &Ground,
    thinking: &Thinking,
    house: &HouseBots,
    learning: &Learning,
) -> Result<Option<LearningActor>, ServerError> {
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

/// The judge, if there is to be one.
pub(super) fn judging(ground: &Ground, thinking: &Thinking) -> Result<Option<JudgingActor>, ServerError> {
    let settings = &ground.config.judging;
    if !settings.enabled {
        return Ok(None);
    }
    let deps = JudgingDeps {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        pool: thinking.pool.clone(),
        metrics: Arc::clone(&ground.metrics),
        settings: JudgingSettings {
            cpu_percent: settings.cpu_percent.number(),
            puzzles: settings.puzzles.number(),
        },
    };
    Ok(Some(JudgingActor::new(deps)?))
}

/// Adds the puzzles that came with the program and are not there yet.
pub(super) async fn add_shipped_puzzles(ground: &Ground) -> Result<(), ServerError> {
    let harvest = Harvest { puzzles: shipped::puzzles(), keep: ground.config.judging.puzzles.number() };
    let added = ground.writer.write(Write::AddPuzzles(harvest)).await;
    added.map_err(|error| ServerError::Judging(error.into()))?;
    Ok(())
}

/// What competition shows to pages.
pub(super) struct Competition {
    pub(super) self_tests: SelfTests,
    pub(super) tournaments: Tournaments,
    leaderboard: Leaderboard,
    troubles: Troubles,
}

/// Competition: self-tests, tournaments, the published ratings. The tournaments' director must hear how the live games
/// end, so this comes before they are taken up.
pub(super) async fn competition(
    ground: &Ground,
    playing: &Playing,
) -> Result<(Competition, Director), ServerError> {
    let (director, tournaments) = Director::new(
        DirectorDeps {
            host: playing.host.clone(),
            store: Arc::clone(&ground.store),
            writer: ground.writer.clone(),
            sessions: playing.sessions.clone(),
        },
        ground.config.tournaments.0.clone(),
    )
    .await?;
    let self_tests = SelfTests::new(SelfTestDeps {
        host: playing.host.clone(),
        sessions: playing.sessions.clone(),
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        tasks: ground.tasks.clone(),
        stop: ground.stop.clone(),
    });
    let competition = Competition {
        self_tests,
        tournaments,
        leaderboard: Leaderboard::default(),
        troubles: Troubles::default(),
    };
    Ok((competition, director))
}

impl Competition {
    /// Starts what goes on by itself: the published ratings, the matchmaker, and tests where rated games need them.
    pub(super) fn spawn(
        &self,
        actors: &mut JoinSet<()>,
        ground: &Ground,
        thinking: &Thinking,
        playing: &Playing,
    ) {
        match requirement(&ground.config) {
            Requirement::BeforeRated => drop(actors.spawn(self.self_tests.clone().run())),
            Requirement::Optional => {}
        }
        let follower = LeaderboardActor::new(LeaderboardDeps {
            store: Arc::clone(&ground.store),
            writer: ground.writer.clone(),
            leaderboard: self.leaderboard.clone(),
        });
        actors.spawn(follower.run(ground.stop.clone()));
        if ground.config.ladder.enabled {
            let matchmaker = self.matchmaker(ground, thinking, playing);
            actors.spawn(matchmaker.run(ground.stop.clone()));
        }
    }

    fn matchmaker(&self, ground: &Ground, thinking: &Thinking, playing: &Playing) -> MatchmakerActor {
        let deps = MatchmakerDeps {
            host: playing.host.clone(),
            store: Arc::clone(&ground.store),
            sessions: playing.sessions.clone(),
            directory: playing.directory.clone(),
            feeds: playing.feeds.clone(),
            pool: thinking.pool.clone(),
            troubles: self.troubles.clone(),
            leaderboard: self.leaderboard.clone(),
        };
        let ladder = &ground.config.ladder;
        let settings = MatchmakerSettings {
            time: ladder.time(),
            cpu_share: ladder.cpu_share.number(),
            house_pairs: ladder.concurrency.count(),
            pairs_per_day: ladder.pairs_per_day.number(),
        };
        MatchmakerActor::new(deps, settings)
    }
}

/// Which game is on TV.
pub(super) fn tv(thinking: &Thinking, playing: &Playing) -> TvDirector {
    TvDirector::new(playing.directory.clone(), playing.feeds.clone(), thinking.analysis.clone())
}

/// The limits of the listener.
pub(super) fn transport(ground: &Ground, services: &Services) -> Transport {
    let stop = services.sockets_stop.clone();
    Transport::new(transport_limits(&ground.config), Arc::clone(&ground.site), stop)
}

/// HTTP: pages, interface, WebSocket.
pub(super) fn http(
    ground: &Ground,
    thinking: Thinking,
    services: &Arc<Services>,
    competition: &Competition,
    learning: Learning,
    transport: Transport,
) -> axum::Router {
    let Services { directory, feeds, .. } = &**services;
    let arena = LiveArena {
        host: services.host.clone(),
        directory: directory.clone(),
        sessions: services.sessions.clone(),
        feeds: feeds.clone(),
        lobby: services.lobby.clone(),
        troubles: competition.troubles.clone(),
        self_tests: competition.self_tests.clone(),
        line_feeds: LineFeeds::new(directory.clone(), feeds.clone(), ground.stop.clone()),
    };
    let analysis = thinking.analysis;
    let puzzles = Puzzles::new(
        Arc::clone(&ground.store),
        ground.writer.clone(),
        ground.accounts.clone(),
        analysis.clone(),
    );
    let state = AppState {
        store: Arc::clone(&ground.store),
        accounts: ground.accounts.clone(),
        site: Arc::clone(&ground.site),
        analysis,
        explorer: Arc::default(),
        arena: Arc::new(arena),
        learning,
        tournaments: competition.tournaments.clone(),
        leaderboard: competition.leaderboard.clone(),
        puzzles,
    };
    let gateway: Arc<dyn Gateway> = Arc::new(SessionGateway::new(Arc::clone(services)));
    let socket = upgrade::route(gateway, transport);
    router::router(state, pages::router(), Arc::clone(&ground.metrics)).merge(socket)
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
        tells_values: config.watching.truth,
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
