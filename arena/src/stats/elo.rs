//! The Elo scale: 400 points are odds of ten to one.

use std::f64::consts::LN_10;

/// Elo points in one unit of log odds: 173.72.
pub const POINTS: f64 = 400.0 / LN_10;

/// The largest difference that is ever shown: 999 of 1000 points. A perfect score has no upper end.
pub const LIMIT: f64 = 1200.0;

/// The score that a player with this many more points expects.
pub fn expected_score(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference / POINTS).exp())
}

/// The difference at which this score, from 0 to 1, is expected: between `-LIMIT` and `LIMIT`.
pub fn from_score(score: f64) -> f64 {
    if score <= 0.0 {
        -LIMIT
    } else if score >= 1.0 {
        LIMIT
    } else {
        (POINTS * (score / (1.0 - score)).ln()).clamp(-LIMIT, LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_hundred_points_are_ten_to_one() {
        assert!((expected_score(400.0) - 10.0 / 11.0).abs() < 1e-12);
        assert!((from_score(10.0 / 11.0) - 400.0).abs() < 1e-9);
        assert!((from_score(0.75) - 190.848_5).abs() < 1e-4);
        assert!(from_score(0.5).abs() < 1e-12);
    }

    #[test]
    fn perfect_scores_are_finite() {
        assert_eq!((from_score(1.0), from_score(0.0)), (LIMIT, -LIMIT));
        assert!(expected_score(1e9) <= 1.0 && expected_score(-1e9) >= 0.0);
    }
}
