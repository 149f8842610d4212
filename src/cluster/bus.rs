//! What carries packets from node to node. Nothing on it need arrive, once or in order: what must, is asked for again.

mod memory;

use bytes::Bytes;
use tokio::sync::mpsc;

pub use self::memory::Faults;
pub(crate) use self::memory::MemoryBus;
use super::Incarnation;

/// Packets that wait for a node to take them. One more is lost, as by any net: who counts notices, and asks again.
pub(crate) const INBOX_PACKETS_MAX: usize = 4_096;

/// One node's way to the others. Whoever joins a bus gets its end, and an [`Inbox`].
pub(crate) trait Bus: Send + Sync {
    /// Sends a packet on its way to a node, without waiting.
    fn publish(&self, to: Incarnation, packet: Bytes);
}

/// Where the packets to one node come in.
pub(crate) type Inbox = mpsc::Receiver<Bytes>;
