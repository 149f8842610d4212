//! A real daemon in this process, and clients that speak to it over real sockets.
//!
//! Time stands still unless a test lets it pass: the runtime's clock is paused, and a thread that waits keeps it from
//! jumping to the next timer while bytes are under way. So clocks are exact to the millisecond and half a minute of
//! absence takes no time at all.

mod arena;
mod client;
mod games;
mod rough_line;

pub(crate) use arena::{Arena, advance, bearer, hello, merge, of_environment, over_a_bus, until_stored};
pub(crate) use client::Client;
pub(crate) use games::{Pair, blitz, house_bot_moves, pair_up, per_move, play_out, time};
pub(crate) use rough_line::RoughLine;
