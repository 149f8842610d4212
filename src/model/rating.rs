//! Ratings: pure arithmetic on results.

pub(crate) mod eligibility;
pub(crate) mod elo;
pub(crate) mod level;
pub(crate) mod newcomers;
pub(crate) mod strength;
