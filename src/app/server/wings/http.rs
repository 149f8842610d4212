//! Listeners, and what they serve: pages, interface, WebSocket, metrics.

use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{Competition, Ground, Listening, Thinking, listening, site_of};
use crate::analysis::values::Analysis;
use crate::app::arena_view::LiveArena;
use crate::competition::correspondence::CorrespondenceBook;
use crate::http::admin::AdminState;
use crate::http::control::{Control, RunningDaemon};
use crate::http::listener::Transport;
use crate::http::metrics::{Observed, metrics_router};
use crate::http::preview::Previews;
use crate::http::tls::{Tls, TlsError};
use crate::http::{AppState, admin, pages, router, upgrade};
use crate::session::limits::TransportLimits;
use crate::session::line_feed::LineFeeds;
use crate::session::port::Gateway;
use crate::session::{Services, SessionGateway};
use crate::study::learning::Learning;
use crate::study::puzzles::service::Puzzles;
use crate::study::studies::Studies;
use crate::system::config::Config;
use crate::system::part::Part;
use crate::system::tasks::Tasks;

/// Connections to the metrics at the same time: a collector or two, and whoever looks by hand.
const METRICS_CONNECTIONS_MAX: usize = 16;

/// The limits of the listener.
pub(in crate::app::server) fn transport(ground: &Ground, services: &Services) -> Result<Transport, TlsError> {
    let stop = services.sockets_stop.clone();
    let tasks = Tasks::new(ground.supervision.clone(), Part::Connection);
    let transport = Transport::new(transport_limits(&ground.config), Arc::clone(&ground.site), stop, tasks);
    let tls = ground.config.server.tls().map(|files| Tls::load(&files)).transpose()?;
    Ok(transport.behind(tls).balanced_by(&ground.config.server.proxy_protocol))
}

/// The same of a node that passes connections on, with these tasks.
pub(in crate::app::server) fn relay_transport(config: &Config, tasks: Tasks) -> Transport {
    let site = Arc::new(site_of(config));
    let transport = Transport::new(transport_limits(config), site, CancellationToken::new(), tasks);
    transport.balanced_by(&config.server.proxy_protocol)
}

/// The listener of the metrics of a daemon.
pub(in crate::app::server) fn metrics_listening(
    ground: &Ground,
    listener: TcpListener,
    transport: &Transport,
) -> io::Result<Listening> {
    let tasks = Tasks::new(ground.supervision.clone(), Part::Connection);
    let observed = Observed {
        metrics: Arc::clone(&ground.metrics),
        places: Arc::clone(&transport.connection_limits),
        data: ground.config.server.data.clone(),
    };
    figures_listening(&ground.config, observed, listener, tasks, transport.stop.clone())
}

/// It has places of its own, so that a full house does not hide what goes on in it.
pub(in crate::app::server) fn figures_listening(
    config: &Config,
    observed: Observed,
    listener: TcpListener,
    tasks: Tasks,
    stop: CancellationToken,
) -> io::Result<Listening> {
    info!(address = %listener.local_addr()?, "metrics are served");
    let limits = TransportLimits {
        connections: Some(METRICS_CONNECTIONS_MAX),
        per_address: METRICS_CONNECTIONS_MAX,
        ..transport_limits(config)
    };
    let own = Transport::new(limits, Arc::new(site_of(config)), stop, tasks);
    Ok(listening(Part::MetricsListener, listener, metrics_router(observed), &own))
}

/// What goes on, for those who look.
fn live_arena(ground: &Ground, services: &Services, competition: &Competition) -> LiveArena {
    let Services { directory, feeds, .. } = services;
    LiveArena {
        host: services.host.clone(),
        directory: directory.clone(),
        sessions: services.sessions.clone(),
        feeds: feeds.clone(),
        lobby: services.lobby.clone(),
        troubles: competition.troubles.clone(),
        self_tests: competition.self_tests.clone(),
        duels: competition.duels.clone(),
        supervision: ground.supervision.clone(),
        backups: ground.backups.clone(),
        line_feeds: LineFeeds::new(
            directory.clone(),
            feeds.clone(),
            ground.tasks.of(Part::Feeds),
            ground.stop.clone(),
        ),
    }
}

/// HTTP: pages, interface, WebSocket.
pub(in crate::app::server) fn http(
    ground: &Ground,
    thinking: Thinking,
    services: &Arc<Services>,
    competition: &Competition,
    learning: Learning,
    transport: Transport,
) -> axum::Router {
    let arena = live_arena(ground, services, competition);
    let analysis = thinking.analysis;
    let puzzles = puzzles(ground, &analysis);
    let state = AppState {
        metrics: Arc::clone(&ground.metrics),
        previews: Previews::default(),
        store: Arc::clone(&ground.store),
        accounts: ground.accounts.clone(),
        access: ground.config.access.clone(),
        shares: ground.shares.clone(),
        site: Arc::clone(&ground.site),
        analysis,
        explorer: Arc::clone(&competition.explorer),
        arena: Arc::new(arena),
        learning,
        tournaments: competition.tournaments.clone(),
        classes: competition.classes.clone(),
        leaderboard: competition.leaderboard.clone(),
        evidence: competition.fair_play.evidence.clone(),
        correspondence: CorrespondenceBook::new(Arc::clone(&ground.store)),
        puzzles,
        studies: Studies::new(Arc::clone(&ground.store), ground.writer.clone(), ground.shares.clone()),
        webhooks: ground.webhooks.clone(),
        mailer: ground.mailer.clone(),
        pusher: ground.pusher.clone(),
    };
    let gateway: Arc<dyn Gateway> = Arc::new(SessionGateway::new(Arc::clone(services)));
    let control = control(ground, services, competition, &state.learning);
    let admin = admin::router(AdminState::new(control, ground.config.shown()));
    let pages = pages::router().merge(admin);
    let site = router::router(state, pages, Arc::clone(&ground.metrics));
    upgrade::beside(site, gateway, transport)
}

fn puzzles(ground: &Ground, analysis: &Analysis) -> Puzzles {
    let (store, writer) = (Arc::clone(&ground.store), ground.writer.clone());
    Puzzles::new(store, writer, ground.accounts.clone(), analysis.clone(), ground.shares.clone())
}

/// What operators act on in a browser.
fn control(
    ground: &Ground,
    services: &Arc<Services>,
    competition: &Competition,
    learning: &Learning,
) -> Control {
    Control {
        accounts: ground.accounts.clone(),
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        learning: learning.clone(),
        daemon: Some(RunningDaemon {
            services: Arc::clone(services),
            tournaments: competition.tournaments.clone(),
            rating_alarms: competition.fair_play.rating_alarms.clone(),
            evidence: competition.fair_play.evidence.clone(),
            supervision: ground.supervision.clone(),
            data: ground.config.server.data.clone(),
            backups: ground.backups.clone(),
            mailer: ground.mailer.clone(),
            explorer: Arc::clone(&competition.explorer),
        }),
        nodes: ground.nodes.clone(),
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
