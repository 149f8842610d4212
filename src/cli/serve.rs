//! `fourfold serve`: the daemon.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use fourfold::config::{Config, ListenAddr};
use fourfold::data_dir::DataDir;
use fourfold::server::{self, ServerError};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::exit::{Code, Exit};
use super::runtime;

/// Run the daemon: people and bots play, every move is kept, a leaderboard is published.
///
/// Without arguments it listens on 127.0.0.1:4444 and keeps its data in ./fourfold-data. Ctrl-C or SIGTERM stops it
/// as planned, with all live games kept for the next start; a second one stops at once, still safely.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold serve
  fourfold serve --config fourfold.toml --listen 0.0.0.0:4444 --data /var/lib/fourfold")]
pub(super) struct Serve {
    /// Settings file; see config/default.toml for all keys.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<ListenAddr>,
    /// Directory of database, secrets and control socket.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = Config::load(self.config.as_deref(), std::env::vars_os())?.with_flags(|config| {
            if let Some(listen) = self.listen {
                config.server.listen = listen;
            }
            if let Some(data) = self.data {
                config.server.data = data;
            }
        })?;
        let _telemetry = fourfold::telemetry::start(&config.log);
        let data = DataDir::open(&config.server.data)?;
        runtime()?.block_on(serve(config, data))
    }
}

async fn serve(config: Config, data: DataDir) -> anyhow::Result<()> {
    let listener = bind(&config.server.listen).await?;
    let metrics_listener = bind_metrics(&config).await;
    let shutdown = stop_on_signals()?;
    server::run(listener, metrics_listener, config, &data, |daemon| announce(daemon.address()), shutdown)
        .await
        .map_err(with_exit_code)
}

async fn bind(address: &ListenAddr) -> anyhow::Result<TcpListener> {
    let refused = |error| Exit::new(Code::System, format!("cannot listen on {address}: {error}"));
    Ok(TcpListener::bind(address.as_pair()).await.map_err(refused)?)
}

/// Metrics are worth less than games: without their port the daemon runs all the same.
async fn bind_metrics(config: &Config) -> Option<TcpListener> {
    if !config.metrics.enabled {
        return None;
    }
    let address = &config.metrics.listen;
    match TcpListener::bind(address.as_pair()).await {
        Ok(listener) => Some(listener),
        Err(error) => {
            warn!(%address, %error, "metrics are not served: their address is not free");
            None
        }
    }
}

/// The one line on standard output: scripts wait for it.
fn announce(address: std::net::SocketAddr) {
    let line = format!("listening on http://{address}\n");
    let mut out = std::io::stdout();
    // Nobody has to read it.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// The first signal stops as planned, the second at once: what is acknowledged is on disk either way.
fn stop_on_signals() -> anyhow::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate()).context("waiting for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("waiting for SIGINT")?;
    let stop = shutdown.clone();
    tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if first {
                info!("told to stop");
                stop.cancel();
            } else {
                std::process::exit(0);
            }
        }
    });
    Ok(shutdown)
}

fn with_exit_code(error: ServerError) -> anyhow::Error {
    match error {
        ServerError::DataDir(error) => error.into(),
        ServerError::Open(error) => error.into(),
        ServerError::Write(_) | ServerError::Read(_) | ServerError::House(_) => {
            let message = format!("{:#}", anyhow::Error::from(error));
            Exit::new(Code::Io, message).into()
        }
        ServerError::Listener(error) => Exit::new(Code::System, error.to_string()).into(),
    }
}
