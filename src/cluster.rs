//! The rules by which several nodes keep one arena. Built for tests alone so far: no daemon runs them yet.
//!
//! A database holds all truth; nodes tell each other things over a bus on which nothing need arrive. What a node has
//! to decide by itself is in here, as plain code that takes time and chance as arguments: [`places`] who owns what,
//! [`membership`] who lives, [`roster`] who is where, [`links`] what did not arrive, [`orders`] what nobody answered.
//! [`simulation`] lets three nodes live by these rules while everything around them fails.

pub(crate) mod links;
pub(crate) mod membership;
pub(crate) mod orders;
pub(crate) mod places;
pub(crate) mod roster;
mod simulation;

use std::fmt;

/// One life of a node. The database numbers them, so that a process which is started again is another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Incarnation(pub(crate) u64);

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}
