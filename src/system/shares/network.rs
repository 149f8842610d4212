//! Whom an address is counted for.

use std::net::{IpAddr, Ipv6Addr};

/// A network address as limits count it: IPv6 by /64, which is what one subscriber has at least.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &str) {
        assert_eq!(network(address.parse().unwrap()), expected.parse::<IpAddr>().unwrap(), "{address}");
    }

    #[test]
    fn addresses_are_counted_by_subscriber() {
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("127.0.0.1", "127.0.0.1");
        check("::1", "::1");
        check("::ffff:127.0.0.1", "127.0.0.1");
    }
}
