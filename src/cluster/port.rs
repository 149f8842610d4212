//! A node's port to a bus: numbers what it sends, and lets nothing through that came before, was overtaken, is too old
//! or cannot be read. What it refuses has no effect but to be counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::debug;

use super::Incarnation;
use super::bus::Bus;
use super::links::{Links, Receipt};
use super::orders::TOO_OLD_AFTER;
use super::packet::{BadPacket, Packet};
use crate::model::clock::now;

/// For so long the quickest packet says how far two nodes' clocks are apart; clocks drift.
const OFFSET_KEPT: Duration = Duration::from_mins(1);

/// What came in at a port, by what became of it.
#[derive(Debug, Default)]
pub struct Counts {
    taken: AtomicU64,
    holes: AtomicU64,
    replayed: AtomicU64,
    stale: AtomicU64,
    unknown: AtomicU64,
    unreadable: AtomicU64,
    unsent: AtomicU64,
}

impl Counts {
    /// Words that had their effect.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// How often something before a packet was missing.
    pub fn holes(&self) -> u64 {
        self.holes.load(Ordering::Relaxed)
    }

    /// Packets that came before, or were overtaken.
    pub fn replayed(&self) -> u64 {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Packets that were under way for too long.
    pub fn stale(&self) -> u64 {
        self.stale.load(Ordering::Relaxed)
    }

    /// Packets of another version.
    pub fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    /// What was no packet, too large, or said what cannot be.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// What could not be sent, for it was too long.
    pub fn unsent(&self) -> u64 {
        self.unsent.load(Ordering::Relaxed)
    }

    /// What a packet says cannot be.
    pub(crate) fn add_unreadable(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }
}

/// How far another node's clock is behind this one's and how long the quickest packet took, both together.
#[derive(Clone, Copy, Debug)]
struct Offset {
    before: i64,
    lately: i64,
    since: Instant,
}

impl Offset {
    fn new(offset: i64, now: Instant) -> Self {
        Self { before: offset, lately: offset, since: now }
    }

    /// How much longer than the quickest packet this one took.
    fn age(&mut self, offset: i64, now: Instant) -> Duration {
        if now.saturating_duration_since(self.since) >= OFFSET_KEPT {
            (self.before, self.lately, self.since) = (self.lately, offset, now);
        }
        self.lately = self.lately.min(offset);
        let age = offset.saturating_sub(self.lately.min(self.before));
        Duration::from_millis(u64::try_from(age).unwrap_or_default())
    }
}

#[derive(Default)]
struct Lines {
    links: Links,
    offsets: BTreeMap<Incarnation, Offset>,
    round_trips: BTreeMap<Incarnation, Duration>,
}

/// A node's port.
pub(crate) struct Port {
    node: Incarnation,
    bus: Box<dyn Bus>,
    began: Instant,
    /// A lock, for rooms and sessions send without waiting. It is held until the packet is on the bus, so that numbers
    /// leave in their order; nothing else is locked meanwhile but the bus.
    lines: Mutex<Lines>,
    counts: Counts,
}

/// What a packet says.
#[derive(Debug)]
pub(crate) struct Received<M> {
    pub(crate) from: Incarnation,
    /// Something before it is missing.
    pub(crate) after_a_hole: bool,
    pub(crate) word: Option<M>,
}

impl Port {
    pub(crate) fn new(node: Incarnation, bus: impl Bus + 'static) -> Self {
        Self { node, bus: Box::new(bus), began: now(), lines: Mutex::default(), counts: Counts::default() }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock_ms(&self) -> u64 {
        u64::try_from(now().saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells a node something, which may not arrive.
    pub(crate) fn send<M: Serialize>(&self, to: Incarnation, word: M) {
        let mut lines = self.lines();
        let number = lines.links.number(to);
        self.publish(to, &Packet::new(self.node, number, self.clock_ms(), Some(word)));
    }

    /// Tells a node what it should have heard, which also measures how far it is.
    pub(crate) fn beat(&self, to: Incarnation) {
        let last = self.lines().links.last(to);
        self.publish::<()>(to, &Packet::new(self.node, last, self.clock_ms(), None));
    }

    fn echo(&self, to: Incarnation, sent_ms: u64) {
        let last = self.lines().links.last(to);
        let answer = Packet::<()>::new(self.node, last, self.clock_ms(), None);
        self.publish(to, &answer.echoing(sent_ms));
    }

    fn publish<M: Serialize>(&self, to: Incarnation, packet: &Packet<M>) {
        match packet.seal() {
            Ok(text) => self.bus.publish(to, text),
            Err(error) => {
                debug!(%to, %error, "a packet cannot be sent");
                self.counts.unsent.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The measured way to a node and back.
    pub(crate) fn round_trip(&self, node: Incarnation) -> Duration {
        self.lines().round_trips.get(&node).copied().unwrap_or_default()
    }

    /// Reads what has come. `None` if it must have no effect.
    pub(crate) fn receive<M: DeserializeOwned>(&self, text: &[u8]) -> Option<Received<M>> {
        let packet = match Packet::<M>::open(text) {
            Ok(packet) => packet,
            Err(error) => {
                debug!(%error, "a packet is refused");
                let counted = match error {
                    BadPacket::UnknownVersion(_) => &self.counts.unknown,
                    BadPacket::TooLarge { .. } | BadPacket::Unreadable => &self.counts.unreadable,
                };
                counted.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        let Packet { from, number, sent_ms, echo_ms, word, .. } = packet;
        let mut lines = self.lines();
        if self.age(&mut lines, from, sent_ms) > TOO_OLD_AFTER {
            self.counts.stale.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let receipt = match word {
            Some(_) => lines.links.receive(from, number),
            None if lines.links.told(from, number) => Receipt::AfterAHole,
            None => Receipt::InOrder,
        };
        if let Some(echo_ms) = echo_ms {
            let measured = Duration::from_millis(self.clock_ms().saturating_sub(echo_ms));
            let average = lines.round_trips.get(&from).map_or(measured, |old| (*old * 3 + measured) / 4);
            lines.round_trips.insert(from, average);
        }
        drop(lines);
        if word.is_none() && echo_ms.is_none() {
            self.echo(from, sent_ms);
        }
        self.counted(receipt, from, word)
    }

    fn counted<M>(&self, receipt: Receipt, from: Incarnation, word: Option<M>) -> Option<Received<M>> {
        if receipt == Receipt::Old {
            self.counts.replayed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let after_a_hole = receipt == Receipt::AfterAHole;
        self.counts.holes.fetch_add(after_a_hole.into(), Ordering::Relaxed);
        self.counts.taken.fetch_add(word.is_some().into(), Ordering::Relaxed);
        Some(Received { from, after_a_hole, word })
    }

    fn age(&self, lines: &mut Lines, from: Incarnation, sent_ms: u64) -> Duration {
        let whole = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        let (offset, now) = (whole(self.clock_ms()).saturating_sub(whole(sent_ms)), now());
        lines.offsets.entry(from).or_insert_with(|| Offset::new(offset, now)).age(offset, now)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::cluster::bus::{Faults, Inbox, MemoryBus};

    const A: Incarnation = Incarnation(1);
    const B: Incarnation = Incarnation(2);

    fn pair() -> (Port, Inbox, Port, Inbox) {
        let bus = MemoryBus::new(Faults::NONE);
        let ((a, to_a), (b, to_b)) = (bus.join(A), bus.join(B));
        (Port::new(A, a), to_a, Port::new(B, b), to_b)
    }

    fn word(port: &Port, packet: &Bytes) -> Option<String> {
        port.receive(packet).and_then(|received| received.word)
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_before_or_was_overtaken_has_no_effect() {
        let (a, _, b, mut inbox) = pair();
        for said in ["one", "two", "three"] {
            a.send(B, said);
        }
        let packets: Vec<Bytes> = std::iter::from_fn(|| inbox.try_recv().ok()).collect();
        assert_eq!(word(&b, &packets[0]).as_deref(), Some("one"));
        assert_eq!(word(&b, &packets[0]), None, "it came before");
        let third = b.receive::<String>(&packets[2]).unwrap();
        assert!(third.after_a_hole);
        assert_eq!(word(&b, &packets[1]), None, "it was overtaken");
        assert_eq!((b.counts().taken(), b.counts().replayed(), b.counts().holes()), (2, 2, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_under_way_for_too_long_has_no_effect() {
        let (a, _, b, mut inbox) = pair();
        a.send(B, "one");
        assert!(word(&b, &inbox.try_recv().unwrap()).is_some());
        a.send(B, "two");
        let late = inbox.try_recv().unwrap();
        tokio::time::advance(TOO_OLD_AFTER + Duration::from_millis(1)).await;
        assert_eq!(word(&b, &late), None);
        assert_eq!((b.counts().stale(), b.counts().replayed()), (1, 0));
        a.send(B, "three");
        let third = b.receive::<String>(&inbox.try_recv().unwrap()).unwrap();
        assert!(third.after_a_hole, "it counts as lost");
        // A clock that goes wrong for good is got used to.
        let wrong = |number: u64, ms: u64| Packet::new(A, number, ms, Some("x")).seal().unwrap();
        assert_eq!(word(&b, &wrong(4, 0)), None);
        tokio::time::advance(OFFSET_KEPT * 2).await;
        assert_eq!(word(&b, &wrong(5, 0)), None);
        tokio::time::advance(OFFSET_KEPT).await;
        assert!(word(&b, &wrong(6, 60_000)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_of_another_version_or_no_packet_is_counted() {
        let (_, _, b, _) = pair();
        assert!(word(&b, &Bytes::from_static(br#"{"v":9,"from":1}"#)).is_none());
        assert!(word(&b, &Bytes::from_static(b"hello")).is_none());
        assert_eq!((b.counts().unknown(), b.counts().unreadable(), b.counts().taken()), (1, 1, 0));
        b.send(A, "x".repeat(crate::cluster::packet::PACKET_BYTES_MAX));
        assert_eq!(b.counts().unsent(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_beat_tells_of_the_last_packet_and_measures_the_way() {
        let (a, mut to_a, b, mut to_b) = pair();
        a.send(B, "lost");
        to_b.try_recv().unwrap();
        a.beat(B);
        tokio::time::advance(Duration::from_millis(20)).await;
        assert!(b.receive::<String>(&to_b.try_recv().unwrap()).unwrap().after_a_hole);
        tokio::time::advance(Duration::from_millis(10)).await;
        let answer = a.receive::<String>(&to_a.try_recv().unwrap()).unwrap();
        assert!(!answer.after_a_hole && answer.word.is_none());
        assert_eq!(a.round_trip(B), Duration::from_millis(30));
        assert!(to_b.try_recv().is_err(), "an answer is not answered");
    }
}
