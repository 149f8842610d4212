//! Seeds that nobody named.

use rand::RngExt;

/// They are below this: short enough to be typed again.
const LIMIT: u64 = 1 << 32;

/// One that whoever draws it prints, so that a run can be repeated.
pub(in crate::app) fn draw() -> u64 {
    rand::rng().random_range(0..LIMIT)
}
