//! Ratings: pure arithmetic on results.

pub mod elo;
