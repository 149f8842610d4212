//! Where a request comes from: the peer, or what a trusted proxy says about it.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName};
use thiserror::Error;

/// The header in which proxies name whom they speak for, one more at the end for each proxy.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A request's origin, as an extension of every request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientAddress {
    /// The client's address.
    pub address: IpAddr,
    /// Whether a trusted proxy named it. Otherwise it is the peer's own.
    pub by_proxy: bool,
}

/// Text that is no range of addresses.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is neither an address nor a network such as 10.0.0.0/8")]
pub struct InvalidRange {
    text: String,
}

/// One address, or all that share their first bits with it: `192.0.2.1`, `10.0.0.0/8`, `2001:db8::/32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressRange {
    base: IpAddr,
    bits: u32,
}

impl AddressRange {
    /// Whether `address` is in it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let invalid = || InvalidRange { text: text.chars().take(64).collect() };
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let base: IpAddr = address.parse().map_err(|_| invalid())?;
        let bits_max = if base.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(bits_max), str::parse).map_err(|_| invalid())?;
        if bits > bits_max { Err(invalid()) } else { Ok(Self { base, bits }) }
    }
}

/// Whom to believe about addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TrustedProxies(Vec<AddressRange>);

impl TrustedProxies {
    /// Proxies at these addresses are believed.
    #[must_use]
    pub fn new(ranges: Vec<AddressRange>) -> Self {
        Self(ranges)
    }

    /// Whether `address` is a proxy's.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(address))
    }

    /// Where a request of `peer` comes from: behind trusted proxies, the right-most address that is not one of them.
    ///
    /// What stands further left was written by whoever is at that address. Something that is no address ends the
    /// search at the last proxy, and a peer that is no proxy is not believed at all.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let mut client = ClientAddress { address: peer.to_canonical(), by_proxy: false };
        let values = headers.get_all(FORWARDED_FOR).iter().rev();
        let hops = values.flat_map(|value| value.to_str().unwrap_or("?").rsplit(','));
        for hop in hops {
            if !self.trusts(client.address) {
                break;
            }
            let Ok(address) = hop.trim().parse::<IpAddr>() else { break };
            client = ClientAddress { address: address.to_canonical(), by_proxy: true };
        }
        client
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_client(peer: &str, forwarded: &[&str], expected: &str) {
        let ranges = ["10.0.0.0/8", "2001:db8::1"].map(|range| range.parse().unwrap());
        let proxies = TrustedProxies::new(ranges.to_vec());
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let client = proxies.client(peer.parse().unwrap(), &headers);
        assert_eq!(client.address, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        assert_eq!(client.by_proxy, peer != expected, "{peer} {forwarded:?}");
    }

    #[test]
    fn a_peer_that_is_no_proxy_is_not_believed() {
        check_client("192.0.2.1", &["198.51.100.7"], "192.0.2.1");
    }

    #[test]
    fn the_right_most_address_that_is_no_proxy_counts() {
        check_client("10.0.0.1", &[], "10.0.0.1");
        check_client("10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check_client("10.0.0.1", &["203.0.113.9, 198.51.100.7, 10.9.9.9"], "198.51.100.7");
        check_client("10.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7");
        check_client("2001:db8::1", &["198.51.100.7"], "198.51.100.7");
        check_client("::ffff:10.0.0.1", &["::ffff:198.51.100.7"], "198.51.100.7");
    }

    #[test]
    fn what_is_no_address_ends_the_search() {
        check_client("10.0.0.1", &["198.51.100.7, unknown, 10.9.9.9"], "10.9.9.9");
        check_client("10.0.0.1", &["\u{e4}"], "10.0.0.1");
        check_client("10.0.0.1", &[""], "10.0.0.1");
    }

    #[test]
    fn ranges_are_read_and_nonsense_is_refused() {
        let range: AddressRange = "10.1.0.0/16".parse().unwrap();
        assert!(range.contains("10.1.255.255".parse().unwrap()) && !range.contains("10.2.0.0".parse().unwrap()));
        let all: AddressRange = "::/0".parse().unwrap();
        assert!(all.contains("2001:db8::1".parse().unwrap()) && !all.contains("192.0.2.1".parse().unwrap()));
        for text in ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "example.org"] {
            assert!(text.parse::<AddressRange>().is_err(), "{text:?}");
        }
    }
}
