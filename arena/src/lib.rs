//! How bots meet: matches and tournaments in pairs of games, their log, and ratings that come with their error.
//!
//! - [`stats`] turns results into numbers: Elo with both ends of its interval, sequential tests, joint ratings.
//!   Pure.

#![forbid(unsafe_code)]

pub mod stats;
