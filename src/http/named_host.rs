//! By which names the site may be asked for.
//!
//! A page of a stranger can give its own name our address: the browser then takes us for that page's site, and lets it
//! read all that a daemon for one machine alone says. So whoever listens on loopback alone answers to the names of
//! loopback, and to those that the settings give it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::uri::Authority;

use super::site::Site;

/// The names that `Host` may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NamedHosts {
    /// All: strangers reach the site anyway.
    Any,
    /// Those of loopback, and these.
    Loopback(Arc<[String]>),
}

impl NamedHosts {
    /// What a listener at this address may be asked for.
    pub(super) fn of(address: SocketAddr, site: &Site) -> Self {
        if !address.ip().to_canonical().is_loopback() {
            return Self::Any;
        }
        let origins = site.public_url.iter().chain(&site.extra_origins);
        let named = origins.filter_map(|origin| origin.as_str().split_once("://"));
        Self::Loopback(named.filter_map(|(_, authority)| name_of(authority)).collect())
    }

    /// Whether a request may name this host, with a port or without.
    pub(super) fn allow(&self, host: &str) -> bool {
        let Self::Loopback(named) = self else { return true };
        let Some(name) = name_of(host) else { return false };
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        name == "localhost"
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
            || named.contains(&name)
    }
}

/// The host without its port, in lower case.
fn name_of(authority: &str) -> Option<String> {
    Some(authority.parse::<Authority>().ok()?.host().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listen: &str, host: &str, expected: bool) {
        let site = Site {
            public_url: Some("https://Play.Example.org".parse().unwrap()),
            extra_origins: vec!["http://other.example:8080".parse().unwrap()],
            ..Site::default()
        };
        let hosts = NamedHosts::of(listen.parse().unwrap(), &site);
        assert_eq!(hosts.allow(host), expected, "{host} at {listen}");
    }

    #[test]
    fn on_loopback_a_foreign_name_is_not_ours() {
        for host in ["localhost", "LOCALHOST:4444", "127.0.0.1:4444", "127.0.0.2", "[::1]:4444", "[::1]"] {
            check("127.0.0.1:4444", host, true);
            check("[::1]:4444", host, true);
        }
        for host in ["play.example.org", "PLAY.example.org:443", "other.example"] {
            check("127.0.0.1:4444", host, true);
        }
        let foreign = [
            "evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "127.0.0.1.evil.example",
            "192.0.2.1",
        ];
        for host in foreign.into_iter().chain(["", "a b", "0.0.0.0", "play.example.org.evil.example"]) {
            check("127.0.0.1:4444", host, false);
            check("[::1]:4444", host, false);
        }
    }

    #[test]
    fn whom_strangers_reach_is_called_by_any_name() {
        check("0.0.0.0:80", "evil.example", true);
        check("192.0.2.1:80", "whatever", true);
    }
}
