//! A bus between nodes of one process, for tests. It fails as it is told to, by a seed: the same packets in the same
//! order have the same fates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc;

use super::{Bus, INBOX_PACKETS_MAX, Inbox};
use crate::cluster::Incarnation;

/// What a bus in memory does to packets, each in so many of a hundred cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults {
    /// What decides which packets it happens to.
    pub seed: u64,
    /// A packet is lost.
    pub lost_percent: u8,
    /// It comes twice, one copy after the other.
    pub repeated_percent: u8,
    /// It comes late, and perhaps after those that were sent after it.
    pub late_percent: u8,
    /// How late a packet may come.
    pub late_max: Duration,
}

impl Faults {
    /// A bus that does what it should.
    pub const NONE: Self =
        Self { seed: 0, lost_percent: 0, repeated_percent: 0, late_percent: 0, late_max: Duration::ZERO };
}

struct Nodes {
    faults: Faults,
    chance: ChaCha8Rng,
    inboxes: BTreeMap<Incarnation, mpsc::Sender<Bytes>>,
    /// From whom nothing gets to whom.
    cut: BTreeSet<(Incarnation, Incarnation)>,
}

impl Nodes {
    fn happens(&mut self, percent: u8) -> bool {
        percent > 0 && self.chance.random_range(0..100) < percent
    }

    /// After which times a packet arrives, as often as it does.
    fn fates(&mut self) -> Vec<Duration> {
        let Faults { lost_percent, repeated_percent, late_percent, late_max, .. } = self.faults;
        if self.happens(lost_percent) {
            return Vec::new();
        }
        let copies = if self.happens(repeated_percent) { 2 } else { 1 };
        let mut fate = || {
            if self.happens(late_percent) {
                late_max.mul_f64(self.chance.random_range(0.0..=1.0))
            } else {
                Duration::ZERO
            }
        };
        (0..copies).map(|_| fate()).collect()
    }
}

/// Connects the nodes that join it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct MemoryBus(Arc<Mutex<Nodes>>);

impl MemoryBus {
    pub(crate) fn new(faults: Faults) -> Self {
        let chance = ChaCha8Rng::seed_from_u64(faults.seed);
        let (inboxes, cut) = (BTreeMap::new(), BTreeSet::new());
        Self(Arc::new(Mutex::new(Nodes { faults, chance, inboxes, cut })))
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A node's end of it, and where its packets come in.
    pub(crate) fn join(&self, node: Incarnation) -> (MemoryEnd, Inbox) {
        let (sender, inbox) = mpsc::channel(INBOX_PACKETS_MAX);
        self.nodes().inboxes.insert(node, sender);
        (MemoryEnd { node, bus: self.clone() }, inbox)
    }

    /// From now on nothing gets from one node to another, or everything does again.
    #[cfg(test)]
    pub(crate) fn set_cut(&self, from: Incarnation, to: Incarnation, is_cut: bool) {
        let mut nodes = self.nodes();
        if is_cut {
            nodes.cut.insert((from, to));
        } else {
            nodes.cut.remove(&(from, to));
        }
    }
}

/// One node's end of a bus in memory.
pub(crate) struct MemoryEnd {
    node: Incarnation,
    bus: MemoryBus,
}

impl Bus for MemoryEnd {
    fn publish(&self, to: Incarnation, packet: Bytes) {
        let mut nodes = self.bus.nodes();
        if nodes.cut.contains(&(self.node, to)) {
            return;
        }
        let Some(inbox) = nodes.inboxes.get(&to).cloned() else { return };
        for late in nodes.fates() {
            if late.is_zero() {
                // A full inbox, or a node that is gone, loses it.
                let _ = inbox.try_send(packet.clone());
                continue;
            }
            let (inbox, packet) = (inbox.clone(), packet.clone());
            tokio::spawn(async move {
                tokio::time::sleep(late).await;
                let _ = inbox.try_send(packet); // as above
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Incarnation = Incarnation(1);
    const B: Incarnation = Incarnation(2);

    /// What of a hundred numbered packets arrives, in the order of arrival.
    async fn arriving(faults: Faults) -> Vec<u8> {
        let bus = MemoryBus::new(faults);
        let (end, _own) = bus.join(A);
        let (_end, mut inbox) = bus.join(B);
        for number in 0..100 {
            end.publish(B, Bytes::copy_from_slice(&[number]));
        }
        tokio::time::sleep(faults.late_max + Duration::from_millis(1)).await;
        std::iter::from_fn(|| inbox.try_recv().ok()).map(|packet| packet[0]).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn without_faults_all_arrive_once_and_in_order() {
        assert_eq!(arriving(Faults::NONE).await, (0..100).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn packets_are_lost_repeated_and_overtaken_as_the_seed_has_it() {
        let lossy = Faults { seed: 1, lost_percent: 20, ..Faults::NONE };
        let lost = arriving(lossy).await;
        assert!((60..95).contains(&lost.len()) && lost.is_sorted(), "{lost:?}");
        let repeated = arriving(Faults { repeated_percent: 20, ..Faults::NONE }).await;
        assert!((105..140).contains(&repeated.len()) && repeated.is_sorted(), "{repeated:?}");
        let late = Faults { late_percent: 20, late_max: Duration::from_secs(1), ..Faults::NONE };
        let mut late = arriving(late).await;
        assert!(!late.is_sorted());
        late.sort_unstable();
        assert_eq!(late, (0..100).collect::<Vec<_>>());
        assert_eq!(arriving(lossy).await, lost, "the same seed, the same fates");
        assert_ne!(arriving(Faults { seed: 2, ..lossy }).await, lost);
    }

    #[tokio::test]
    async fn a_cut_has_a_direction_and_heals_and_nobody_is_waited_for() {
        let bus = MemoryBus::new(Faults::NONE);
        let ((a, mut to_a), (b, mut to_b)) = (bus.join(A), bus.join(B));
        bus.set_cut(A, B, true);
        a.publish(B, Bytes::from_static(b"1"));
        b.publish(A, Bytes::from_static(b"2"));
        bus.set_cut(A, B, false);
        a.publish(B, Bytes::from_static(b"3"));
        a.publish(Incarnation(9), Bytes::from_static(b"4"));
        assert_eq!((to_a.try_recv().unwrap(), to_b.try_recv().unwrap()), ("2".into(), "3".into()));
        for _ in 0..=INBOX_PACKETS_MAX {
            a.publish(B, Bytes::from_static(b"5"));
        }
        assert_eq!(to_b.len(), INBOX_PACKETS_MAX, "one more is lost");
    }
}
