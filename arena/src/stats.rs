//! Results as numbers.
//!
//! Everything here is pure and gives finite numbers only: a perfect score is a bound, not infinity. The unit is
//! the pair of games, one opening played with both colours, because from most positions the colour decides more
//! than the player does.

pub mod elo;
pub mod fit;
pub mod ledger;
pub mod normal;
pub mod pairs;
pub mod performance;
pub mod sprt;
pub mod stopped;
pub mod student;

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^53 games")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}
