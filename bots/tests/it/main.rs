//! House bots through the registry, as the daemon uses them.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod limits;
mod memory;
mod perfect;
mod strength;
mod support;
mod tournament_tables;
