//! Several machines that are one arena.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::value::serde_as_text;
use super::{ConfigError, ListenAddr, StorageConfig};

/// Longest name of a cluster or of a node.
const NAME_CHARS_MAX: usize = 64;

/// Several machines that are one arena.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClusterConfig {
    /// Where nodes hear of each other; empty for an arena of one node.
    pub(crate) bus: BusUrls,
    /// What the nodes' messages begin with, should others use the bus too.
    pub(crate) name: NodeName,
    /// What this node is called; empty for its address.
    pub(crate) node: NodeName,
    /// Whether games are ever played at this node; without, it passes connections on.
    pub(crate) holds: bool,
    /// Where other nodes pass connections on to.
    pub(crate) listen: ListenAddr,
    /// The same as they reach it, `HOST:PORT`; empty for what it listens on.
    pub(crate) advertise: PeerAddr,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            bus: BusUrls::default(),
            name: NodeName("fourfold".to_owned()),
            node: NodeName::default(),
            holds: true,
            listen: ListenAddr::local(0),
            advertise: PeerAddr::default(),
        }
    }
}

impl ClusterConfig {
    /// Whether there are other nodes.
    pub(crate) fn is_on(&self) -> bool {
        !self.bus.is_empty()
    }

    /// The same for those who only need know whether there is a bus.
    pub(super) fn masked(&self) -> Self {
        Self { bus: self.bus.masked(), ..self.clone() }
    }

    /// Refuses nodes that share nothing, or that nobody would find.
    pub(super) fn check(&self, storage: &StorageConfig) -> Result<(), ConfigError> {
        let refused =
            |keys, message: &str| Err(ConfigError::Contradiction { keys, message: message.to_owned() });
        if !self.is_on() {
            return Ok(());
        }
        if storage.url.expose().is_none() {
            let message = "nodes share a PostgreSQL database, a file is one node's alone";
            return refused("cluster.bus and storage.url", message);
        }
        if self.listen.is_anywhere() && self.advertise.0.is_none() {
            let message = "say by which address of this machine the others reach it";
            return refused("cluster.listen and cluster.advertise", message);
        }
        if self.bus.is_elsewhere() && self.listen.is_local() && self.advertise.0.is_none() {
            let message =
                "other machines cannot reach this one's loopback: say where they do, such as 10.0.0.5:4446";
            return refused("cluster.listen", message);
        }
        if self.name.0.is_empty() {
            return refused("cluster.name", "it is empty");
        }
        match self.bus.exposure() {
            None => Ok(()),
            Some(message) => Err(ConfigError::Unsafe { keys: "cluster.bus", message }),
        }
    }
}

/// Servers of a bus, with commas between them. They may have passwords, so that they are never printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct BusUrls(Vec<BusUrl>);

#[derive(Clone, PartialEq, Eq)]
struct BusUrl {
    text: String,
    server: ListenAddr,
    is_encrypted: bool,
    has_user: bool,
}

/// A text that names no servers of a bus.
#[derive(Debug, Error)]
#[error("it must be nats://HOST:PORT or tls://USER:PASSWORD@HOST:PORT, or some of them with commas between")]
pub(crate) struct InvalidBusUrl;

impl BusUrls {
    /// The URLs as they are, for who connects.
    pub(crate) fn expose(&self) -> Vec<String> {
        self.0.iter().map(|url| url.text.clone()).collect()
    }

    /// The same for those who only need know whether there are any.
    pub(crate) fn masked(&self) -> Self {
        let masked = |url: &BusUrl| BusUrl { text: format!("nats://{}", url.server), ..url.clone() };
        Self(self.0.iter().map(masked).collect())
    }

    /// Whether none is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them are on other machines, and so are nodes.
    fn is_elsewhere(&self) -> bool {
        !self.0.iter().any(|url| url.server.is_local())
    }

    /// Why it would be unsafe: a server on another machine that anybody could speak to, or listen to.
    pub(crate) fn exposure(&self) -> Option<String> {
        let is_open = |url: &&BusUrl| !(url.server.is_local() || url.is_encrypted && url.has_user);
        let server = &self.0.iter().find(is_open)?.server;
        Some(format!(
            "{server} is another machine: whoever can speak there could make nodes look at the database all the time, \
             and answer the moves that bots ask for. Give tls://USER:PASSWORD@HOST"
        ))
    }
}

impl fmt::Debug for BusUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|url| url.server.to_string())).finish()
    }
}

impl FromStr for BusUrl {
    type Err = InvalidBusUrl;

    fn from_str(text: &str) -> Result<Self, InvalidBusUrl> {
        /// Where NATS listens unless it is told otherwise.
        const PORT: u16 = 4222;
        let (scheme, rest) = text.split_once("://").ok_or(InvalidBusUrl)?;
        let is_encrypted = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(InvalidBusUrl),
        };
        let (user, host) = rest.rsplit_once('@').map_or((None, rest), |(user, host)| (Some(user), host));
        let host = host.trim_end_matches('/');
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let server = if has_port { host.to_owned() } else { format!("{host}:{PORT}") };
        let server: ListenAddr = server.parse().map_err(|_| InvalidBusUrl)?;
        if server.as_pair().1 == 0 {
            return Err(InvalidBusUrl);
        }
        Ok(Self {
            text: text.to_owned(),
            server,
            is_encrypted,
            has_user: user.is_some_and(|user| !user.is_empty()),
        })
    }
}

impl FromStr for BusUrls {
    type Err = InvalidBusUrl;

    fn from_str(text: &str) -> Result<Self, InvalidBusUrl> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        text.split(',').map(|url| url.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for BusUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expose().join(","))
    }
}

serde_as_text!(BusUrls);

/// What a cluster or a node is called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeName(pub(crate) String);

/// A text that is no name.
#[derive(Debug, Error)]
#[error("`{0}` is no name: letters, digits, `-`, `_` and `.`, {NAME_CHARS_MAX} at most")]
pub(crate) struct InvalidNodeName(String);

impl FromStr for NodeName {
    type Err = InvalidNodeName;

    fn from_str(text: &str) -> Result<Self, InvalidNodeName> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.len() > NAME_CHARS_MAX || !text.chars().all(is_allowed) {
            return Err(InvalidNodeName(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serde_as_text!(NodeName);

/// How others reach a node, `HOST:PORT`; empty if it need not be said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PeerAddr(pub(crate) Option<ListenAddr>);

/// A text that is no address that others could connect to.
#[derive(Debug, Error)]
#[error("`{0}` is not HOST:PORT of one machine, such as 10.0.0.5:4446")]
pub(crate) struct InvalidPeerAddr(String);

impl FromStr for PeerAddr {
    type Err = InvalidPeerAddr;

    fn from_str(text: &str) -> Result<Self, InvalidPeerAddr> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let invalid = || InvalidPeerAddr(text.to_owned());
        let address: ListenAddr = text.parse().map_err(|_| invalid())?;
        if address.as_pair().1 == 0 || address.is_anywhere() {
            return Err(invalid());
        }
        Ok(Self(Some(address)))
    }
}

impl fmt::Display for PeerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |address| address.fmt(f))
    }
}

serde_as_text!(PeerAddr);

#[cfg(test)]
mod tests {
    use super::*;

    fn node(bus: &str) -> ClusterConfig {
        ClusterConfig { bus: bus.parse().unwrap(), ..ClusterConfig::default() }
    }

    /// The same on a machine that others reach.
    fn at(bus: &str) -> ClusterConfig {
        ClusterConfig { listen: "10.0.0.6:4446".parse().unwrap(), ..node(bus) }
    }

    fn shared() -> StorageConfig {
        StorageConfig {
            url: "postgres://arena@localhost/arena".to_owned().into(),
            ..StorageConfig::default()
        }
    }

    #[track_caller]
    fn check_refused(cluster: &ClusterConfig, storage: &StorageConfig, keys: &str) {
        let error = cluster.check(storage).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{keys}: ")), "{error}");
    }

    #[test]
    fn nodes_share_a_database_and_can_be_found() {
        node("").check(&StorageConfig::default()).unwrap();
        node("nats://127.0.0.1").check(&shared()).unwrap();
        check_refused(&node("nats://127.0.0.1"), &StorageConfig::default(), "cluster.bus and storage.url");
        let anywhere = ClusterConfig { listen: "0.0.0.0:4446".parse().unwrap(), ..node("nats://[::1]:4222") };
        check_refused(&anywhere, &shared(), "cluster.listen and cluster.advertise");
        let told = ClusterConfig { advertise: "10.0.0.5:4446".parse().unwrap(), ..anywhere };
        told.check(&shared()).unwrap();
    }

    #[test]
    fn a_bus_of_another_machine_asks_who_one_is_and_lets_nobody_listen() {
        for open in ["nats://10.0.0.5", "nats://me:secret@10.0.0.5", "tls://10.0.0.5", "tls://@10.0.0.5"] {
            check_refused(&at(open), &shared(), "cluster.bus");
            check_refused(&node(&format!("nats://127.0.0.1,{open}")), &shared(), "cluster.bus");
        }
        at("tls://me:secret@10.0.0.5,tls://token@bus.example:4223").check(&shared()).unwrap();
        check_refused(&node("tls://me:secret@10.0.0.5"), &shared(), "cluster.listen");
    }

    #[test]
    fn what_names_no_bus_is_refused_and_passwords_are_shown_nowhere() {
        for text in
            ["10.0.0.5", "http://10.0.0.5", "nats://", "nats://:4222", "nats://host:0", "nats://a,,nats://b"]
        {
            assert!(text.parse::<BusUrls>().is_err(), "{text}");
        }
        let bus: BusUrls = "tls://me:secret@10.0.0.5".parse().unwrap();
        for shown in [format!("{bus:?}"), bus.masked().to_string()] {
            assert!(!shown.contains("secret"), "{shown}");
            assert!(shown.contains("10.0.0.5:4222"), "{shown}");
        }
    }

    #[test]
    fn names_and_addresses_of_nodes_are_plain() {
        for name in ["a b", "a/b", "naïve", &"x".repeat(65)] {
            assert!(name.parse::<NodeName>().is_err(), "{name}");
        }
        for address in ["0.0.0.0:1", "[::]:1", "host:0", "host"] {
            assert!(address.parse::<PeerAddr>().is_err(), "{address}");
        }
        assert_eq!("node-1.example_2".parse::<NodeName>().unwrap().to_string(), "node-1.example_2");
    }
}
