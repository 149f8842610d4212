//! How the nodes of one arena reach each other, and the rules by which they keep it.
//!
//! What the daemon runs: [`succession`] says who leads, [`lease`] how a node knows that it lives, [`distance`] how
//! far it is from the database, and over one connection to NATS ([`nats`]) go words that something has changed
//! ([`hints`]) and moves that others think of ([`thinking`]).
//!
//! A database holds all truth; nodes tell each other things over a [`bus`] on which nothing need arrive. A [`port`]
//! puts what is told into numbered [`packet`]s and refuses what is old. What a node has to decide by itself is plain
//! code that takes time and chance as arguments: [`links`] what did not arrive, [`orders`] what nobody answered.
//!
//! Rooms are reached by these over a bus in memory, in tests of the whole daemon. Built for tests alone, and run by no
//! daemon yet, are the rules for several nodes: `places` who owns what, `membership` who lives, `roster` who is where,
//! and `simulation`, which lets three nodes live by them while everything around them fails.

pub mod bus;
pub(crate) mod distance;
pub(crate) mod hints;
pub(crate) mod lease;
pub(crate) mod links;
#[cfg(test)]
pub(crate) mod membership;
pub mod nats;
pub(crate) mod orders;
pub(crate) mod packet;
#[cfg(test)]
pub(crate) mod places;
pub mod port;
#[cfg(test)]
pub(crate) mod roster;
#[cfg(test)]
mod simulation;
pub(crate) mod succession;
pub(crate) mod thinking;

use std::fmt;

use serde::{Deserialize, Serialize};

/// One life of a node. The database numbers them from 1, so that a process which is started again is another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Incarnation(pub(crate) u64);

impl Incarnation {
    /// This very process, for what never leaves it.
    pub(crate) const HERE: Self = Self(0);
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}
