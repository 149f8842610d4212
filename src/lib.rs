//! The Fourfold daemon: rooms, matchmaking, sessions, storage, ratings, HTTP.
//!
//! `ARCHITECTURE.md` has the map. The rules of the game are in `fourfold_engine`, the house bots in `fourfold_bots`.

#![forbid(unsafe_code)]

pub mod accounts;
pub mod clock;
pub mod http;
pub mod ids;
pub mod protocol;
pub mod rating;
pub mod room;
pub mod secret;
pub mod signing;
pub mod storage;
