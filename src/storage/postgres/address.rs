//! Where a database is: a URL, whose password nobody gets to see.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::model::durability::Durability;

/// How long to wait for a server that does not answer.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// After so much silence the other side is asked whether it is there, thrice in as many seconds. The server is told the
/// same, so that it lets go of what a lost daemon held.
const SILENCE_S: u64 = 5;

/// What is sent and not taken in this time says that the way is cut.
const UNTAKEN_MAX: Duration = Duration::from_secs(3);

/// What the server may spend on one statement: none of ours takes a second, but for those that go through all games.
const STATEMENT_MAX_S: u32 = 120;

/// A transaction in which nothing is asked for so long is given up by the server, for whoever stands still in one would
/// keep the next daemon from starting.
const IDLE_MAX_S: u32 = 10;

/// A database of a server.
#[derive(Clone)]
pub(super) struct Address {
    config: tokio_postgres::Config,
    shown: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Address {
    /// Reads `postgres://user:password@host:port/database`, with what [`tokio_postgres::Config`] knows behind `?`.
    ///
    /// # Errors
    ///
    /// Says what is wrong, without the URL.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err("it must begin with postgres://".into());
        }
        let mut config = tokio_postgres::Config::from_str(url).map_err(|error| {
            let cause = std::error::Error::source(&error);
            cause.map_or_else(|| error.to_string(), ToString::to_string)
        })?;
        if config.get_ssl_mode() == SslMode::Prefer {
            // What a server prefers may be a certificate that nobody trusts: TLS is for who asks for it.
            config.ssl_mode(SslMode::Disable);
        }
        if config.get_hosts().is_empty() {
            return Err("it names no host".into());
        }
        if config.get_dbname().is_none() {
            return Err("it names no database".into());
        }
        config
            .application_name("fourfold")
            .connect_timeout(CONNECT_MAX)
            .keepalives(true)
            .keepalives_idle(Duration::from_secs(SILENCE_S))
            .keepalives_interval(Duration::from_secs(1))
            .keepalives_retries(3)
            .tcp_user_timeout(UNTAKEN_MAX)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let shown = shown(&config);
        Ok(Self { config, shown })
    }

    /// How to connect: with the promise that commits must keep, whatever the server's own settings are.
    pub(super) fn config(&self, durability: Durability) -> tokio_postgres::Config {
        let synchronous_commit = match durability {
            Durability::Strict => "on",
            Durability::Relaxed => "off",
        };
        let mut config = self.config.clone();
        let given = config.get_options().unwrap_or_default().to_owned();
        config.options(format!(
            "{given} -c synchronous_commit={synchronous_commit} -c statement_timeout={STATEMENT_MAX_S}s \
             -c idle_in_transaction_session_timeout={IDLE_MAX_S}s -c tcp_keepalives_idle={SILENCE_S} \
             -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 -c timezone=UTC"
        ));
        config
    }
}

/// The address as it may be told: without a password, and without what else a URL may hold.
fn shown(config: &tokio_postgres::Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
    let ports = if ports.is_empty() { String::new() } else { format!(":{}", ports.join(",")) };
    let user = config.get_user().map_or(String::new(), |user| format!("{user}@"));
    let database = config.get_dbname().unwrap_or_default();
    format!("postgres://{user}{}{ports}/{database}", hosts.join(","))
}
