//! Which addresses are anybody's, and which are of this machine and those beside it. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::system::config::IpNetwork;

/// Networks that no message goes to, as the registries of special addresses have them: what is here, beside us, for
/// documents and tests, for groups, or for nobody.
const SPECIAL_V4: [(Ipv4Addr, u32); 14] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The same of those that are given out at all, `2000::/3`: what stands for an IPv4 address is left out whole.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Leading bits of an IPv6 address that somebody may have.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Whether messages go to an address: one of the Internet's, or of the operator's own networks.
pub(in crate::operations) fn may_reach(address: IpAddr, allowed: &[IpNetwork]) -> bool {
    is_public(address) || allowed.iter().any(|network| network.contains(address))
}

/// Whether an address is one of the Internet's.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|network| is_in_v4(address, *network)),
        IpAddr::V6(address) => {
            is_in_v6(address, GLOBAL_V6) && !SPECIAL_V6.iter().any(|network| is_in_v6(address, *network))
        }
    }
}

fn is_in_v4(address: Ipv4Addr, (network, prefix): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (u32::BITS - prefix) == 0
}

fn is_in_v6(address: Ipv6Addr, (network, prefix): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (u128::BITS - prefix) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_and_beside_us_is_not_public() {
        for private in [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "fe80::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "4000::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "198.17.0.1",
            "223.255.255.255",
            "::ffff:1.1.1.1",
            "2606:4700::1111",
            "2a00::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn the_operator_lets_networks_in() {
        let allowed = ["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()];
        for (address, may) in
            [("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("::1", true), ("127.0.0.1", false)]
        {
            assert_eq!(may_reach(address.parse().unwrap(), &allowed), may, "{address}");
        }
    }
}
