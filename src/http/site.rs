//! Where the site is, as browsers see it, and which proxies speak for others.

use std::net::IpAddr;
use std::path::PathBuf;

use axum::http::{HeaderMap, header};

use crate::system::config::{Contact, IpNetwork, ProgramFolder, SiteOrigin, TextFile};

/// Settings of the site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Where browsers find it. `None`: wherever they asked for it, by whatever name.
    pub(crate) public_url: Option<SiteOrigin>,
    /// Further origins whose pages may act for signed-in people.
    pub(crate) extra_origins: Vec<SiteOrigin>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<IpNetwork>,
    /// Whom visitors write to.
    pub(crate) contact: Contact,
    /// What the operator says of the site.
    pub(crate) papers: Papers,
    /// Builds of this program that are given away.
    pub(crate) programs: ProgramFolder,
    /// Where files with all games are, if any are written.
    pub(crate) dumps: Option<PathBuf>,
    /// Whether the daemon itself speaks TLS.
    pub(crate) speaks_tls: bool,
    /// Whether watchers hear what positions are worth.
    pub(crate) tells_values: bool,
}

/// Pages that the operator writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Papers {
    /// In the place of ours.
    pub(crate) privacy: TextFile,
    pub(crate) terms: TextFile,
    pub(crate) imprint: TextFile,
}

impl Site {
    /// Whether this is the address of a proxy that is believed.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// Whether browsers reach the site over TLS, as far as we were told.
    pub(crate) fn is_secure(&self) -> bool {
        self.public_url.as_ref().map_or(self.speaks_tls, SiteOrigin::is_secure)
    }

    /// By which scheme the daemon is reached without what stands before it.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.speaks_tls { "https" } else { "http" }
    }

    /// Whether the value of an `Origin` header is the site's own. `null`, which sandboxed pages send, never is.
    ///
    /// Without a public URL, a page is our own if it came from the host that its request now goes to: a foreign page
    /// cannot make a browser send another `Host`.
    pub(crate) fn is_own_origin(&self, origin: &str, headers: &HeaderMap) -> bool {
        let Ok(origin) = origin.parse::<SiteOrigin>() else { return false };
        if self.extra_origins.contains(&origin) {
            return true;
        }
        match &self.public_url {
            Some(own) => *own == origin,
            None => host(headers).is_some_and(|host| {
                ["http", "https"]
                    .iter()
                    .any(|scheme| format!("{scheme}://{host}").parse() == Ok(origin.clone()))
            }),
        }
    }

    /// By which address this request has found the site. A proxy that is believed says whether it was over TLS.
    pub(crate) fn found_at(&self, headers: &HeaderMap, peer: IpAddr) -> Option<SiteOrigin> {
        let forwarded = headers.get("x-forwarded-proto").filter(|_| self.trusts(peer));
        let scheme = forwarded.and_then(|scheme| scheme.to_str().ok()).unwrap_or(self.scheme());
        format!("{scheme}://{}", host(headers)?).parse().ok()
    }

    /// The address of a path, whole if it is known where the site is. `path` starts with `/`.
    pub(crate) fn url(&self, path: &str) -> String {
        let base = self.public_url.as_ref().map_or("", SiteOrigin::as_str);
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
    fn a_request_says_where_it_has_found_the_site() {
        let proxy = "10.0.0.7";
        let site = Site { trusted_proxies: vec![proxy.parse().unwrap()], ..Site::default() };
        let check = |host: &str, scheme: Option<&str>, peer: &str, expected: Option<&str>| {
            let mut headers = with_host(host);
            if let Some(scheme) = scheme {
                headers.insert("x-forwarded-proto", scheme.parse().unwrap());
            }
            let found = site.found_at(&headers, peer.parse().unwrap());
            assert_eq!(found.as_ref().map(SiteOrigin::as_str), expected, "{host} {scheme:?} {peer}");
        };
        check("192.168.0.5:4444", None, "192.168.0.9", Some("http://192.168.0.5:4444"));
        check("[fd00::5]:4444", None, "fd00::9", Some("http://[fd00::5]:4444"));
        check("Play.Example.org", Some("https"), proxy, Some("https://play.example.org"));
        check("play.example.org", Some("https"), "10.0.0.8", Some("http://play.example.org"));
        check("play.example.org", Some("javascript"), proxy, None);
        check("a/b", None, proxy, None);
        check("a@b", None, proxy, None);
        check("", None, proxy, None);
        assert_eq!(site.found_at(&HeaderMap::new(), proxy.parse().unwrap()), None);
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
}
