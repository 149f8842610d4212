//! Addresses in settings: origins, networks, where to listen, what to log.

use fourfold::system::config::{IpNetwork, ListenAddr, LogFilter, SiteOrigin};

pub(crate) fn hold(text: &str) {
    if let Ok(origin) = text.parse::<SiteOrigin>() {
        assert_eq!(origin.to_string().parse::<SiteOrigin>().unwrap(), origin);
    }
    if let Ok(network) = text.parse::<IpNetwork>() {
        assert_eq!(network.to_string().parse::<IpNetwork>().unwrap(), network);
    }
    let _ = text.parse::<ListenAddr>();
    let _ = text.parse::<LogFilter>();
}
