//! The Fourfold daemon: rooms, matchmaking, sessions, storage, ratings, HTTP.
//!
//! `ARCHITECTURE.md` has the map. The rules of the game are in `fourfold_engine`, the house bots in `fourfold_bots`.

#![forbid(unsafe_code)]

pub mod accounts;
pub mod analysis;
pub mod arena_view;
mod background;
pub mod bot_files;
pub mod bot_seat;
pub mod bridge;
pub mod client;
pub mod clock;
pub mod compute;
pub mod config;
pub mod control;
pub mod data_dir;
pub mod explorer;
pub mod feeds;
pub mod files;
pub mod host;
pub mod house;
pub mod http;
pub mod ids;
pub mod incident;
pub mod judging;
pub mod ladder;
pub mod leaderboard;
pub mod learning;
pub mod line_feed;
pub mod load;
pub mod lobby;
pub mod metrics;
pub mod model;
pub mod presence;
pub mod protocol;
pub mod puzzles;
pub mod rating;
pub mod reasons;
pub mod records;
pub mod room;
pub mod secret;
pub mod self_test;
pub mod server;
pub mod session;
pub mod signing;
pub mod storage;
pub mod telemetry;
#[cfg(test)]
pub(crate) mod testing;
pub mod tournament;
pub mod truth;
pub mod verify;

/// The version of this build.
#[must_use]
pub fn fourfold_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
