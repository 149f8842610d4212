//! The Fourfold arena: rooms, matchmaking, sessions, storage, ratings, HTTP, and the command line.
//!
//! The modules are wings in one order, from the words that all use to the program that uses all: nothing imports from a
//! wing below its own in this list. `ARCHITECTURE.md` has the map. The rules of the game are in `fourfold_engine`, the
//! house bots in `fourfold_bots`, matches without a daemon in `fourfold_arena`.

#![forbid(unsafe_code)]

pub mod model;

pub mod protocol;

pub mod system;

pub(crate) mod analysis;

pub mod storage;

pub mod accounts;

pub mod cluster;

pub(crate) mod play;

pub(crate) mod lobby;

pub mod session;

pub mod study;

pub mod client;

pub mod competition;

pub mod operations;

pub mod http;

pub mod app;

#[cfg(test)]
pub(crate) mod testing;

/// The version of this build.
pub(crate) fn fourfold_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
