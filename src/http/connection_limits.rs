//! How many connections there may be, in all and from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use crate::session::limits::TransportLimits;
use crate::system::shares::network;

/// Files that are not connections: store, logs, listeners, the control socket, bots' pipes.
const RESERVED_FILES: u64 = 256;
/// Connections if the limit on open files cannot be read or is absurdly small.
const CONNECTIONS_MIN: usize = 64;

/// Connections of balancers, while all places are taken, of which it is not known yet whether one asks how this node
/// does: players who find no place come by them, too, by the hundreds a second, and are known within milliseconds.
/// Less than [`RESERVED_FILES`].
const ASKING_MAX: usize = 64;

/// No place for a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum TooManyConnections {
    /// All places are taken.
    #[error("too many connections")]
    Total,
    /// This address has its share.
    #[error("too many connections from this address")]
    Address,
}

/// Counts connections. Cheap to share; a [`ConnectionPlace`] gives its place back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    total: usize,
    per_address: usize,
    caps_loopback: bool,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    asking: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// What a place is one of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PlaceKind {
    /// The places in all.
    Connection,
    /// The places for balancers that ask.
    Asking,
    /// None of them: its connection has one already.
    Share,
}

/// One connection's place.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    limits: Arc<ConnectionLimits>,
    kind: PlaceKind,
    address: Option<IpAddr>,
}

impl ConnectionLimits {
    /// As many places as the limits say, or as the process may open files.
    pub(crate) fn new(limits: &TransportLimits) -> Arc<Self> {
        Arc::new(Self {
            total: limits.connections.unwrap_or_else(connections_by_files),
            per_address: limits.per_address,
            caps_loopback: limits.caps_loopback,
            taken: Mutex::default(),
        })
    }

    /// Places in all.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Connections that hold a place now.
    pub(crate) fn taken(&self) -> usize {
        self.lock().total
    }

    /// A place for a connection from `address`, or from a proxy, which speaks for many addresses.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn take(
        self: &Arc<Self>,
        address: Option<IpAddr>,
    ) -> Result<ConnectionPlace, TooManyConnections> {
        let mut taken = self.lock();
        if taken.total >= self.total {
            return Err(TooManyConnections::Total);
        }
        let address = self.count_address(&mut taken, address)?;
        taken.total += 1;
        Ok(ConnectionPlace { limits: self.clone(), kind: PlaceKind::Connection, address })
    }

    /// A place for a balancer that asks how this node does, where all others are taken: one that is not answered takes
    /// all players away from here.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn take_to_ask(self: &Arc<Self>) -> Result<ConnectionPlace, TooManyConnections> {
        let mut taken = self.lock();
        if taken.asking >= ASKING_MAX {
            return Err(TooManyConnections::Total);
        }
        taken.asking += 1;
        Ok(ConnectionPlace { limits: self.clone(), kind: PlaceKind::Asking, address: None })
    }

    /// A place among those of `address` for something that a proxy's connection carries, which is counted already.
    ///
    /// # Errors
    ///
    /// The address has its share.
    pub(crate) fn take_behind_proxy(
        self: &Arc<Self>,
        address: IpAddr,
    ) -> Result<ConnectionPlace, TooManyConnections> {
        let address = self.count_address(&mut self.lock(), Some(address))?;
        Ok(ConnectionPlace { limits: self.clone(), kind: PlaceKind::Share, address })
    }

    /// Counts one more for the address, if addresses like it are counted.
    fn count_address(
        &self,
        taken: &mut Taken,
        address: Option<IpAddr>,
    ) -> Result<Option<IpAddr>, TooManyConnections> {
        let Some(key) = address.map(network).filter(|key| self.caps_loopback || !key.is_loopback()) else {
            return Ok(None);
        };
        let count = taken.by_address.entry(key).or_default();
        if *count >= self.per_address {
            return Err(TooManyConnections::Address);
        }
        *count += 1;
        Ok(Some(key))
    }

    /// The lock is held to add or subtract one.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut taken = self.limits.lock();
        match self.kind {
            PlaceKind::Connection => taken.total -= 1,
            PlaceKind::Asking => taken.asking -= 1,
            PlaceKind::Share => {}
        }
        let Some(address) = self.address else { return };
        if let Some(count) = taken.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(&address);
            }
        }
    }
}

/// As many connections as the process may open files, less a reserve. Raises the soft limit to the hard one first:
/// the soft limit is 1,024 on many systems, for the sake of programs from before 1990.
fn connections_by_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let files = if raised { maximum } else { current };
    let connections = files.map_or(usize::MAX, |files| {
        usize::try_from(files.saturating_sub(RESERVED_FILES)).unwrap_or(usize::MAX)
    });
    connections.max(CONNECTIONS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections: usize, per_address: usize) -> Arc<ConnectionLimits> {
        ConnectionLimits::new(&TransportLimits {
            connections: Some(connections),
            per_address,
            ..TransportLimits::default()
        })
    }

    fn take(limits: &Arc<ConnectionLimits>, address: &str) -> Result<ConnectionPlace, TooManyConnections> {
        limits.take(Some(address.parse().unwrap()))
    }

    #[test]
    fn a_dropped_slot_gives_its_place_back() {
        let limits = limits(2, 9);
        let first = take(&limits, "192.0.2.1").unwrap();
        let second = take(&limits, "192.0.2.2").unwrap();
        assert_eq!(take(&limits, "192.0.2.3").unwrap_err(), TooManyConnections::Total);
        drop(first);
        let third = take(&limits, "192.0.2.3").unwrap();
        drop((second, third));
        assert_eq!(limits.taken(), 0);
        assert!(limits.lock().by_address.is_empty(), "addresses must not pile up");
    }

    #[test]
    fn a_few_may_ask_where_all_places_are_taken() {
        let limits = limits(1, 9);
        let _held = take(&limits, "192.0.2.1").unwrap();
        let mut asking: Vec<_> = (0..ASKING_MAX).map(|_| limits.take_to_ask().unwrap()).collect();
        assert_eq!(limits.take_to_ask().unwrap_err(), TooManyConnections::Total);
        assert_eq!(limits.taken(), 1, "they are no players");
        asking.pop();
        assert!(limits.take_to_ask().is_ok());
    }

    #[test]
    fn one_address_has_its_share_and_a_refusal_takes_no_place() {
        let limits = limits(100, 2);
        let held = [(); 2].map(|()| take(&limits, "192.0.2.1").unwrap());
        assert_eq!(take(&limits, "192.0.2.1").unwrap_err(), TooManyConnections::Address);
        assert_eq!(take(&limits, "::ffff:192.0.2.1").unwrap_err(), TooManyConnections::Address);
        assert!(take(&limits, "192.0.2.2").is_ok());
        assert_eq!(limits.taken(), 2);
        drop(held);
    }

    #[test]
    fn an_ipv6_network_of_64_bits_is_one_address() {
        let limits = limits(100, 1);
        let _held = take(&limits, "2001:db8:0:1::1").unwrap();
        assert_eq!(take(&limits, "2001:db8:0:1:ffff::2").unwrap_err(), TooManyConnections::Address);
        assert!(take(&limits, "2001:db8:0:2::1").is_ok());
    }

    #[test]
    fn loopback_and_proxies_have_no_share_unless_asked() {
        let free = limits(100, 1);
        let held: Vec<_> = ["127.0.0.1", "127.0.0.1", "::1", "::1"]
            .map(|address| take(&free, address))
            .into_iter()
            .collect();
        assert!(held.iter().all(Result::is_ok));
        assert!(free.take(None).is_ok() && free.take(None).is_ok());
        let capped = ConnectionLimits::new(&TransportLimits {
            connections: Some(100),
            per_address: 1,
            caps_loopback: true,
            ..TransportLimits::default()
        });
        let _held = take(&capped, "127.0.0.1").unwrap();
        assert_eq!(take(&capped, "127.0.0.1").unwrap_err(), TooManyConnections::Address);
    }

    #[test]
    fn without_a_number_the_limit_on_open_files_counts() {
        let total = ConnectionLimits::new(&TransportLimits::default()).total();
        assert!(total >= CONNECTIONS_MIN);
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = text.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let files: usize = line.split_whitespace().nth(3).unwrap().parse().unwrap();
        assert_eq!(total, (files - 256).max(CONNECTIONS_MIN));
    }
}
