//! Ratings: pure arithmetic on results.

pub mod eligibility;
pub mod elo;
pub mod strength;
