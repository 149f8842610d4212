//! Where a request comes from.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::site::Site;
use super::state::AppState;

/// The other end of the connection. Whoever accepts connections puts it into the extensions of each request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The client's network address: the peer's, or what trusted proxies say about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl ClientAddress {
    /// Finds the client behind `peer`.
    ///
    /// Of `X-Forwarded-For` it takes the right-most address that is not a trusted proxy's: those to the left of it
    /// were written by somebody we do not know. An entry that cannot be read ends the search at the proxy before it.
    pub(crate) fn find(site: &Site, peer: IpAddr, headers: &HeaderMap) -> Self {
        let mut address = peer.to_canonical();
        // As bytes: a client may have written some that are no text, to the left of what its proxy has added.
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        for hop in lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')) {
            if !site.trusts(address) {
                break;
            }
            let Some(before) = address_in(hop) else { break };
            address = before.to_canonical();
        }
        Self(address)
    }

    /// The client of a request, from its extensions. Without a [`Peer`], as in tests, it is nowhere (`0.0.0.0`).
    pub(crate) fn of(site: &Site, parts: &Parts) -> Self {
        let peer = parts.extensions.get::<Peer>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
        Self::find(site, peer, &parts.headers)
    }
}

fn address_in(hop: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(hop.trim_ascii()).ok()?.parse().ok()
}

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(&state.site, parts))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[impl AsRef<[u8]> + std::fmt::Debug], expected: &str) {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let site = Site { trusted_proxies, ..Site::default() };
        let headers: HeaderMap = forwarded
            .iter()
            .map(|value| {
                ("x-forwarded-for".parse().unwrap(), HeaderValue::from_bytes(value.as_ref()).unwrap())
            })
            .fold(HeaderMap::new(), |mut headers: HeaderMap, (name, value): (axum::http::HeaderName, _)| {
                headers.append(name, value);
                headers
            });
        let found = ClientAddress::find(&site, peer.parse().unwrap(), &headers);
        assert_eq!(found.0, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
    }

    #[test]
    fn a_stranger_cannot_say_who_they_are() {
        check("192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check("192.0.2.1", &[""; 0], "192.0.2.1");
    }

    #[test]
    fn the_right_most_untrusted_hop_is_the_client() {
        check("10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["1.2.3.4, 203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check("10.0.0.1", &["1.2.3.4", "203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
    }

    #[test]
    fn bytes_that_are_no_text_hide_nobody() {
        check("10.0.0.1", &[b"\xff, 203.0.113.9".as_slice()], "203.0.113.9");
        check("10.0.0.1", &[b"\xff".as_slice(), b"\xe9, 203.0.113.9, 10.0.0.2".as_slice()], "203.0.113.9");
        check("10.0.0.1", &[b"203.0.113.9, \xff".as_slice()], "10.0.0.1");
    }

    #[test]
    fn nonsense_ends_the_search() {
        check("10.0.0.1", &["203.0.113.9, unknown"], "10.0.0.1");
        check("10.0.0.1", &["", "203.0.113.9, ,"], "10.0.0.1");
    }
}
