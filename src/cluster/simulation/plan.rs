//! What befalls the nodes of a run, drawn from its seed.

use std::fmt;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Nodes of a run.
pub(super) const NODES: usize = 3;

/// How long faults go on, in milliseconds.
pub(super) const TROUBLE_MS: u64 = 60_000;

/// Faults of a run.
const FAULTS: std::ops::Range<usize> = 5..16;

/// What befalls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blow {
    /// `kill -9`; another process begins after a while.
    Kill { node: usize, down_ms: u64 },
    /// The process stands still, its connections stay.
    Suspend { node: usize, for_ms: u64 },
    /// Packets between two nodes are lost, one way.
    CutBus { from: usize, to: usize, for_ms: u64 },
    /// The bus is gone for all.
    NoBus { for_ms: u64 },
    /// Packets are late by up to so much, so that they overtake each other.
    SlowBus { delay_ms: u64, for_ms: u64 },
    /// A node does not reach the database, or is not reached by it.
    CutDatabase { node: usize, for_ms: u64 },
    /// Nobody reaches the database.
    NoDatabase { for_ms: u64 },
    /// Commits take up to so long to arrive.
    SlowDatabase { delay_ms: u64, for_ms: u64 },
    /// A client loses its connection.
    Disconnect { client: usize },
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) clients: usize,
    /// Packets of a thousand that are lost, and that come twice.
    pub(super) lost: u32,
    pub(super) doubled: u32,
    pub(super) blows: Vec<(u64, Blow)>,
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let clients = chance.random_range(4..9);
        let count = chance.random_range(FAULTS);
        let mut blows: Vec<(u64, Blow)> = (0..count)
            .map(|_| (chance.random_range(2_000..TROUBLE_MS), blow(&mut chance, clients)))
            .collect();
        blows.sort_by_key(|(at_ms, _)| *at_ms);
        let (lost, doubled) = (chance.random_range(0..40), chance.random_range(0..60));
        Self { seed, clients, lost, doubled, blows }
    }
}

fn blow(chance: &mut ChaCha8Rng, clients: usize) -> Blow {
    let node = chance.random_range(0..NODES);
    let short_ms = chance.random_range(200..6_000);
    match chance.random_range(0..20) {
        0..4 => Blow::Kill { node, down_ms: chance.random_range(500..9_000) },
        4..8 => Blow::Suspend { node, for_ms: chance.random_range(500..18_000) },
        8..11 => {
            Blow::CutBus { from: node, to: (node + chance.random_range(1..NODES)) % NODES, for_ms: short_ms }
        }
        11 => Blow::NoBus { for_ms: short_ms },
        12..14 => Blow::SlowBus { delay_ms: chance.random_range(20..3_000), for_ms: short_ms },
        14..16 => Blow::CutDatabase { node, for_ms: chance.random_range(500..12_000) },
        16 => Blow::NoDatabase { for_ms: chance.random_range(500..9_000) },
        17..19 => Blow::SlowDatabase { delay_ms: chance.random_range(100..7_000), for_ms: short_ms },
        _ => Blow::Disconnect { client: chance.random_range(0..clients) },
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, clients, lost, doubled, blows } = self;
        write!(
            f,
            "seed {seed}: {clients} clients, of a thousand packets {lost} are lost and {doubled} doubled"
        )?;
        blows.iter().try_for_each(|(at_ms, blow)| write!(f, "\n  {at_ms} ms: {blow:?}"))
    }
}
