//! Where the site is, as browsers see it, and which proxies speak for others.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, header};
use thiserror::Error;

/// Settings of the site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Where browsers find it. `None`: wherever they asked for it, by whatever name.
    pub public_url: Option<PublicUrl>,
    /// Further origins whose pages may act for signed-in people.
    pub extra_origins: Vec<Origin>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
}

/// A setting that is not what it should be.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidSite {
    /// Not an origin.
    #[error("`{0}` is not an origin such as https://example.org or http://localhost:4444")]
    Origin(String),
    /// Not a network.
    #[error("`{0}` is not an address or network such as 10.0.0.1 or 10.0.0.0/8")]
    Network(String),
}

/// Scheme, host and port, in the form in which browsers send `Origin`: lower case, default port left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin(Box<str>);

impl Origin {
    /// The origin as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether browsers reach it over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl FromStr for Origin {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Self, InvalidSite> {
        let invalid = || InvalidSite::Origin(text.to_owned());
        let lower = text.to_ascii_lowercase();
        let (scheme, authority) = lower.split_once("://").ok_or_else(invalid)?;
        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(invalid()),
        };
        let authority = authority.strip_suffix(default_port).unwrap_or(authority);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        if authority.is_empty() || !authority.bytes().all(is_plain) {
            return Err(invalid());
        }
        Ok(Self(format!("{scheme}://{authority}").into()))
    }
}

/// The address of the front page. The site always stands at the root of its host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl(Origin);

impl PublicUrl {
    /// Its origin.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Self, InvalidSite> {
        text.strip_suffix('/').unwrap_or(text).parse().map(Self)
    }
}

/// An address, or all addresses that share its first bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether the address is in it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(mine), IpAddr::V4(theirs)) => {
                let differing = mine.to_bits() ^ theirs.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(mine), IpAddr::V6(theirs)) => {
                let differing = mine.to_bits() ^ theirs.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Self, InvalidSite> {
        let invalid = || InvalidSite::Network(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(longest), str::parse).map_err(|_| invalid())?;
        if prefix > longest {
            return Err(invalid());
        }
        Ok(Self { address, prefix })
    }
}

impl Site {
    /// Whether this is the address of a proxy that is believed.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// Whether browsers reach the site over TLS, as far as we were told.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.origin().is_secure())
    }

    /// Whether the value of an `Origin` header is the site's own. `null`, which sandboxed pages send, never is.
    ///
    /// Without a public URL, a page is our own if it came from the host that its request now goes to: a foreign page
    /// cannot make a browser send another `Host`.
    #[must_use]
    pub fn is_own_origin(&self, origin: &str, headers: &HeaderMap) -> bool {
        let Ok(origin) = origin.parse::<Origin>() else { return false };
        if self.extra_origins.contains(&origin) {
            return true;
        }
        match &self.public_url {
            Some(url) => *url.origin() == origin,
            None => host(headers).is_some_and(|host| {
                ["http", "https"]
                    .iter()
                    .any(|scheme| format!("{scheme}://{host}").parse() == Ok(origin.clone()))
            }),
        }
    }

    /// The address of a path, whole if it is known where the site is. `path` starts with `/`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let base = self.public_url.as_ref().map_or("", |url| url.origin().as_str());
        format!("{base}{path}")
    }
}

/// The host that the request names.
pub(super) fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_host(host: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::HOST, host.parse().unwrap())])
    }

    #[test]
    fn the_public_url_alone_says_what_is_our_own() {
        let site =
            Site { public_url: Some("https://Play.Example.org:443/".parse().unwrap()), ..Site::default() };
        let check = |origin, expected| {
            assert_eq!(site.is_own_origin(origin, &with_host("evil.example")), expected, "{origin}");
        };
        check("https://play.example.org", true);
        check("http://play.example.org", false);
        check("https://play.example.org:8443", false);
        check("https://play.example.org.evil.example", false);
        check("http://evil.example", false);
        check("null", false);
        check("", false);
    }

    #[test]
    fn without_a_public_url_the_host_that_was_asked_is_our_own() {
        let site = Site { extra_origins: vec!["https://other.example".parse().unwrap()], ..Site::default() };
        let check = |origin, expected| {
            assert_eq!(site.is_own_origin(origin, &with_host("localhost:4444")), expected, "{origin}");
        };
        check("http://localhost:4444", true);
        check("http://localhost:5555", false);
        check("http://evil.example", false);
        check("https://other.example", true);
        assert!(!site.is_own_origin("http://localhost:4444", &HeaderMap::new()));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in
            ["", "example.org", "ftp://example.org", "https://", "https://a/b", "https://a b", "https://u@a"]
        {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check_network(network: &str, address: &str, expected: bool) {
        let network: Network = network.parse().unwrap();
        assert_eq!(network.contains(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn networks_contain_what_shares_their_first_bits() {
        check_network("10.0.0.0/8", "10.255.0.1", true);
        check_network("10.0.0.0/8", "11.0.0.1", false);
        check_network("10.0.0.1", "10.0.0.1", true);
        check_network("10.0.0.1", "::ffff:10.0.0.1", true);
        check_network("0.0.0.0/0", "203.0.113.9", true);
        check_network("0.0.0.0/0", "::1", false);
        check_network("2001:db8::/32", "2001:db8:ffff::1", true);
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.1/-1", "example.org"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
