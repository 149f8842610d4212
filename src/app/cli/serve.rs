//! `fourfold serve`: settings, listeners, signals; the daemon itself is `crate::app::server`.

use std::convert::Infallible;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::server::node::{self, Doing};
use crate::app::server::{self, ServerError};
use crate::http;
use crate::http::control::{Control, ControlServer, RunningDaemon};
use crate::http::tls::Tls;
use crate::system::config::{Config, ListenAddr, LogFilter, LogFormat};
use crate::system::data_dir::DataDir;
use clap::ValueEnum;

use crate::app::server::Daemon;
use crate::system::telemetry;

use crate::system::telemetry::Telemetry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::runtime;
use crate::app::terminal::service_manager::{ServiceManager, handed_on_listener};
use crate::app::terminal::signals::SignalHeard;
use crate::app::terminal::signals::Signals;

/// Run the daemon: pages, HTTP interface, WebSocket, house bots.
///
/// Prints one line `listening on http://HOST:PORT` (or https, with `server.tls_cert`) on standard output when it is
/// ready; logs go to standard error.
/// SIGTERM or Ctrl-C stops it so that live games are kept; a second one stops at once, which loses nothing either.
/// Every setting can also be given in a file or as an environment variable: see docs/operating.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold serve
  fourfold serve --config fourfold.toml --listen 0.0.0.0:80")]
pub(super) struct ServeCommand {
    /// Read settings from this file.
    #[arg(long, value_name = "FILE", env = "FOURFOLD_CONFIG")]
    config: Option<PathBuf>,
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:4444].
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<ListenAddr>,
    /// Where to keep everything [default: ./fourfold-data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keep everything in this PostgreSQL database instead: <postgres://USER@HOST/DATABASE>. Others see what is written
    /// here; `FOURFOLD_STORAGE_URL` keeps a password to itself.
    #[arg(long, value_name = "URL")]
    storage_url: Option<String>,
    /// Begin with an empty database where an earlier one is gone.
    #[arg(long)]
    init: bool,
    /// What to log: error, warn, info, debug, trace, or levels by module.
    #[arg(long, value_name = "LEVEL")]
    log: Option<LogFilter>,
    /// The form of a log line.
    #[arg(long, value_enum)]
    log_format: Option<LogFormatArgument>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LogFormatArgument {
    Text,
    Json,
}

impl ServeCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.settings()?;
        let telemetry = telemetry::start(&config.log);
        let runtime = runtime()?;
        let result = runtime.block_on(self.serve(config, &telemetry));
        runtime.shutdown_background(); // after a second signal, tasks may still wait
        result
    }

    fn settings(&self) -> anyhow::Result<Config> {
        let config = Config::load(self.config.as_deref(), std::env::vars_os())?;
        let settings = config.with_flags(|config| {
            if let Some(listen) = &self.listen {
                config.server.listen = listen.clone();
            }
            if let Some(data) = &self.data {
                config.server.data.clone_from(data);
            }
            if let Some(url) = &self.storage_url {
                config.storage.url = url.clone().into();
            }
            if let Some(level) = &self.log {
                config.log.level = level.clone();
            }
            match self.log_format {
                Some(LogFormatArgument::Text) => config.log.format = LogFormat::Text,
                Some(LogFormatArgument::Json) => config.log.format = LogFormat::Json,
                None => {}
            }
        });
        Ok(settings?)
    }

    async fn serve(&self, config: Config, telemetry: &Telemetry) -> anyhow::Result<()> {
        let mut signals = Signals::listen()?;
        let data = DataDir::open(&config.server.data)?;
        if !self.init && config.storage.url.expose().is_none() {
            data.expect_database()?;
        }
        let manager = ServiceManager::of_the_environment();
        let listener = listener(&config).await?;
        let metrics_listener = bind_metrics(&config).await;
        let shutdown = CancellationToken::new();
        let (mut announced, mut control, tls) = (None, None, watch::Sender::new(None));
        let scheme = if config.server.tls().is_some() { "https" } else { "http" };
        let on_change = |doing: Doing<'_>| {
            let (address, how) = match doing {
                Doing::Leading(daemon, term) => {
                    control = start_control(&data, daemon, term.clone());
                    tls.send_replace(daemon.tls().cloned());
                    (daemon.address(), "listening on")
                }
                Doing::StandingBy(address) => {
                    control = None; // the leader's
                    (address, "standing by on")
                }
            };
            let url = format!("{scheme}://{address}");
            announced.get_or_insert_with(|| announce(&url));
            manager.tell_ready(&format!("STATUS={how} {url}"));
        };
        let serving = serve(listener, metrics_listener, config, &data, on_change, shutdown.clone());
        let ended = tokio::select! {
            ended = serving => Some(ended),
            () = self.heed(&mut signals, &shutdown, telemetry, &tls) => None,
            () = manager.beat_on() => None,
            never = farewell(&manager, &shutdown) => match never {},
        };
        drop(control);
        if let Some(Err(error)) = announced {
            warn!(%error, "the line that says where the daemon listens could not be written");
        }
        let Some(ended) = ended else {
            warn!("stopped at once; everything that was acknowledged is stored");
            return Ok(());
        };
        Ok(ended?)
    }

    /// Reacts to signals; returns at the second one that asks to stop.
    async fn heed(
        &self,
        signals: &mut Signals,
        shutdown: &CancellationToken,
        telemetry: &Telemetry,
        tls: &watch::Sender<Option<Tls>>,
    ) {
        loop {
            match signals.next().await {
                SignalHeard::Stop if shutdown.is_cancelled() => return,
                SignalHeard::Stop => shutdown.cancel(),
                SignalHeard::HangUp => self.reload(telemetry, tls.borrow().as_ref()),
            }
        }
    }

    /// Reads the settings again. Only the log level and the certificate can change while the daemon runs.
    fn reload(&self, telemetry: &Telemetry, tls: Option<&Tls>) {
        match self.settings() {
            Ok(config) => {
                renew_certificate(&config, tls);
                telemetry.set_level(&config.log.level);
                info!(
                    level = %config.log.level,
                    "settings read: the log level holds now, what is not said here at the next start"
                );
            }
            Err(error) => error!(error = format_args!("{error:#}"), "settings refused, the old ones stay"),
        }
    }
}

/// Serves the operator's commands. Games are worth more: without the socket the daemon runs all the same.
fn start_control(data: &DataDir, daemon: &Daemon, shutdown: CancellationToken) -> Option<ControlServer> {
    let services = Arc::clone(daemon.services());
    let control = Control {
        accounts: services.accounts.clone(),
        store: Arc::clone(&services.store),
        writer: services.writer.clone(),
        learning: daemon.learning().clone(),
        daemon: Some(RunningDaemon {
            services,
            tournaments: daemon.tournaments().clone(),
            rating_alarms: daemon.rating_alarms().clone(),
            evidence: daemon.evidence().cloned(),
            supervision: daemon.supervision().clone(),
            mailer: daemon.mailer().cloned(),
            backups: daemon.backups().clone(),
            explorer: Arc::clone(daemon.explorer()),
            data: data.path().to_owned(),
        }),
        nodes: daemon.nodes().cloned(),
    };
    let path = data.control_socket();
    ControlServer::start(&path, control, shutdown)
        .inspect_err(|error| warn!(path = %path.display(), %error, "the control socket cannot be made"))
        .ok()
}

/// Shows whoever connects from now on the certificate that the settings name.
fn renew_certificate(config: &Config, tls: Option<&Tls>) {
    match (config.server.tls(), tls) {
        (Some(files), Some(tls)) => match tls.reload(&files) {
            Ok(()) => info!(path = %files.certificate.display(), "the certificate was read again"),
            Err(error) => error!(%error, "the certificate is refused, the old one stays"),
        },
        (None, None) => {}
        (Some(_), None) => warn!("TLS begins at the next start"),
        (None, Some(_)) => warn!("TLS ends at the next start"),
    }
}

/// Tells the supervisor once that the daemon stops, and ends never.
async fn farewell(manager: &ServiceManager, shutdown: &CancellationToken) -> Infallible {
    shutdown.cancelled().await;
    manager.tell_stopping();
    std::future::pending().await
}

/// Says where the daemon can be reached, for people and for programs that started it.
fn announce(url: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "listening on {url}")?;
    out.flush()
}

/// Serves alone, or as one node of a cluster.
async fn serve(
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    config: Config,
    data: &DataDir,
    mut on_change: impl FnMut(Doing<'_>),
    shutdown: CancellationToken,
) -> Result<(), ServerError> {
    if config.cluster.is_on() {
        return node::run(listener, metrics_listener, config, data, on_change, shutdown).await;
    }
    let term = shutdown.clone();
    let on_ready = |daemon: &Daemon| on_change(Doing::Leading(daemon, &term));
    // It has all parts of a daemon in it.
    Box::pin(server::run(listener, metrics_listener, config, data, on_ready, shutdown)).await
}

/// What was handed on, or else what the settings say.
async fn listener(config: &Config) -> anyhow::Result<TcpListener> {
    match handed_on_listener().map_err(|error| Exit::usage(error.to_string()))? {
        Some(listener) => {
            info!("listening on the socket that was handed on, whatever the settings say");
            Ok(TcpListener::from_std(listener)?)
        }
        None => Ok(bind(&config.server.listen).await?),
    }
}

async fn bind(address: &ListenAddr) -> Result<TcpListener, Exit> {
    http::listener::bind(address)
        .await
        .map_err(|error| Exit::new(Code::System, format!("cannot listen on {address}: {error}")))
}

/// A second daemon on the machine finds the port taken: it plays all the same.
async fn bind_metrics(config: &Config) -> Option<TcpListener> {
    if !config.metrics.enabled {
        return None;
    }
    let bound = bind(&config.metrics.listen).await;
    bound.inspect_err(|error| warn!(%error, "no metrics are served")).ok()
}
