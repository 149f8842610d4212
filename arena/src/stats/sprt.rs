//! The sequential probability ratio test on pairs: stops a match as soon as it is known which of two strengths fits.
//!
//! The generalised test in its exact form: each hypothesis is represented by the distribution of pair scores that fits
//! the counts best among those with its mean (M. Van den Bergh, "The generalised maximum likelihood ratio for the
//! expectation value of a distribution", the method of fishtest).

use serde::{Deserialize, Serialize};

use super::elo;
use super::pairs::{PairCounts, SCORES};
use super::real;

/// What an empty cell counts: without it, a score that never came up yet would be taken for impossible.
const EMPTY_CELL: f64 = 1e-3;

/// Halvings in the search for the multiplier.
const HALVINGS: u32 = 80;

/// Rounds of the fixed point for the normalised model; each gains about two digits.
const ROUNDS: u32 = 12;

/// The pairs that are always played: before, the approximations behind the bounds do not hold.
pub const PAIRS_MIN: u64 = 16;

/// A test between two differences in strength.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sprt {
    /// Hypothesis 0: so much stronger is the first player.
    pub elo0: f64,
    /// Hypothesis 1, above it.
    pub elo1: f64,
    pub model: Model,
    /// The probability to accept hypothesis 1 though 0 is true, and the other way round.
    pub error: f64,
    pub pairs_min: u64,
}

/// What the points of a hypothesis measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Elo.
    Logistic,
    /// The difference in units of its own noise, which does not depend on how often games are drawn.
    Normalised,
}

/// What a test accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Hypothesis {
    H0,
    H1,
}

impl Sprt {
    /// A test in Elo points with error probabilities of 5 %.
    pub fn logistic(elo0: f64, elo1: f64) -> Self {
        Self { elo0, elo1, model: Model::Logistic, error: 0.05, pairs_min: PAIRS_MIN }
    }

    /// The log likelihood ratio below which 0, and above which 1 is accepted.
    pub fn bounds(&self) -> (f64, f64) {
        let upper = ((1.0 - self.error) / self.error).ln();
        (-upper, upper)
    }

    /// The log likelihood ratio of hypothesis 1 to 0. Repeated pairs weigh nothing.
    pub fn llr(&self, pairs: &PairCounts) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let cells = shares(pairs);
        let [p0, p1] = [self.elo0, self.elo1].map(|elo| self.fitted(&cells, elo));
        let one = |((share, p0), p1): ((&f64, f64), f64)| share * (p1 / p0).ln();
        real(pairs.informative()) * cells.iter().zip(p0).zip(p1).map(one).sum::<f64>()
    }

    /// What the counts decide, if anything yet.
    pub fn verdict(&self, pairs: &PairCounts) -> Option<Hypothesis> {
        if pairs.informative() < self.pairs_min {
            return None;
        }
        let (lower, upper) = self.bounds();
        let llr = self.llr(pairs);
        if llr >= upper {
            Some(Hypothesis::H1)
        } else if llr <= lower {
            Some(Hypothesis::H0)
        } else {
            None
        }
    }

    /// The mean scores of a pair that the hypotheses stand for, given the variance that was seen.
    pub(super) fn means(&self, variance: f64) -> (f64, f64) {
        let mean = |elo: f64| match self.model {
            Model::Logistic => elo::expected_score(elo),
            Model::Normalised => 0.5 + per_pair(elo) * variance.sqrt(),
        };
        (mean(self.elo0), mean(self.elo1))
    }

    /// The distribution of pair scores of this strength that fits the shares best.
    fn fitted(&self, shares: &[f64; 5], elo: f64) -> [f64; 5] {
        match self.model {
            Model::Logistic => {
                let mean = elo::expected_score(elo);
                tilted(shares, &SCORES.map(|score| score - mean))
            }
            Model::Normalised => normalised(shares, per_pair(elo)),
        }
    }
}

/// Normalised points as the ratio of mean to deviation of a pair: a pair has twice the points of a game and twice the
/// variance.
fn per_pair(normalised_elo: f64) -> f64 {
    normalised_elo / (2.0 * elo::POINTS) * std::f64::consts::SQRT_2
}

fn shares(pairs: &PairCounts) -> [f64; 5] {
    let cells = pairs.counts.map(|count| if count == 0 { EMPTY_CELL } else { real(count) });
    let sum: f64 = cells.iter().sum();
    cells.map(|cell| cell / sum)
}

/// The distribution nearest to `shares` under which `offsets`, some of them above and some below zero, have mean
/// zero: each share divided by `1 + t * offset`, with the `t` at which the mean is right.
fn tilted(shares: &[f64; 5], offsets: &[f64; 5]) -> [f64; 5] {
    let top = offsets.iter().copied().fold(f64::MIN, f64::max);
    let bottom = offsets.iter().copied().fold(f64::MAX, f64::min);
    let slope = |t: f64| -> f64 { shares.iter().zip(offsets).map(|(p, a)| p * a / (1.0 + t * a)).sum() };
    // The slope falls from infinity to minus infinity between the ends.
    let (mut low, mut high) = (-1.0 / top, -1.0 / bottom);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    let t = f64::midpoint(low, high);
    std::array::from_fn(|cell| shares[cell] / (1.0 + t * offsets[cell]))
}

/// The distribution nearest to `shares` whose mean is `ratio` deviations above 1/2.
///
/// The condition `mean - 1/2 - ratio * deviation = 0` is not linear in the probabilities. Its derivative is taken at
/// the last solution, which makes it linear, until nothing changes.
fn normalised(shares: &[f64; 5], ratio: f64) -> [f64; 5] {
    let mut fitted = *shares;
    for _ in 0..ROUNDS {
        let mean: f64 = fitted.iter().zip(SCORES).map(|(p, a)| p * a).sum();
        let variance: f64 = fitted.iter().zip(SCORES).map(|(p, a)| p * (a - mean).powi(2)).sum();
        let deviation = variance.sqrt().max(f64::MIN_POSITIVE);
        let offset = |a: f64| a - 0.5 - ratio * deviation / 2.0 * (1.0 + ((a - mean) / deviation).powi(2));
        let offsets = SCORES.map(offset);
        let has_both = offsets.iter().any(|a| *a > 0.0) && offsets.iter().any(|a| *a < 0.0);
        if !has_both {
            return fitted; // so extreme a hypothesis fits no distribution better
        }
        fitted = tilted(shares, &offsets);
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: [u64; 5]) -> PairCounts {
        PairCounts { counts, repeated: 0 }
    }

    #[track_caller]
    fn check(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn bounds_of_five_percent_are_well_known() {
        let (lower, upper) = Sprt::logistic(0.0, 5.0).bounds();
        check(upper, 2.944, 1e-3);
        check(lower, -2.944, 1e-3);
    }

    #[test]
    fn wins_and_losses_alone_can_be_worked_by_hand() {
        // Two cells only: the fitted distribution is (1 - s, s), so the ratio is that of binomials.
        let pairs = counts([40, 0, 0, 0, 60]);
        let sprt = Sprt::logistic(0.0, 100.0);
        let s1: f64 = elo::expected_score(100.0);
        let expected = 60.0 * (s1 / 0.5).ln() + 40.0 * ((1.0 - s1) / 0.5).ln();
        check(sprt.llr(&pairs), expected, 0.02);
    }

    #[test]
    fn near_hypotheses_agree_with_the_normal_approximation() {
        let pairs = counts([20, 90, 180, 120, 40]);
        let (s, v, n) = (pairs.mean(), pairs.variance(), 450.0);
        let sprt = Sprt::logistic(0.0, 10.0);
        let (s0, s1) = (0.5, elo::expected_score(10.0));
        check(sprt.llr(&pairs), n * (s1 - s0) * (2.0 * s - s0 - s1) / (2.0 * v), 0.06);
        let normalised = Sprt { model: Model::Normalised, ..sprt };
        // (games / 2) ln((1 + (x - x0)^2) / (1 + (x - x1)^2)) with x the mean in deviations of a game.
        let deviation = (2.0 * v).sqrt();
        let (x, x1) = ((s - 0.5) / deviation, 10.0 / 347.4356);
        let expected = n * ((1.0 + x * x) / (1.0 + (x - x1).powi(2))).ln();
        check(normalised.llr(&pairs), expected, 0.06);
    }

    #[test]
    fn decisions_wait_for_enough_pairs() {
        let sprt = Sprt::logistic(0.0, 200.0);
        assert_eq!(sprt.verdict(&counts([0, 0, 0, 0, 15])), None);
        assert_eq!(sprt.verdict(&counts([0, 0, 0, 0, 16])), Some(Hypothesis::H1));
        assert_eq!(sprt.verdict(&counts([16, 0, 0, 0, 0])), Some(Hypothesis::H0));
        assert_eq!(Sprt::logistic(0.0, 20.0).verdict(&counts([4, 8, 8, 8, 4])), None);
        let repeated = PairCounts { counts: [0, 0, 0, 0, 500], repeated: 499 };
        assert_eq!(sprt.verdict(&repeated), None, "the same pair again and again decides nothing");
    }

    #[test]
    fn every_ratio_is_finite() {
        for model in [Model::Logistic, Model::Normalised] {
            for pairs in [[0; 5], [9, 0, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 0, 9], [1, 0, 0, 0, 1]] {
                for (elo0, elo1) in [(0.0, 5.0), (-800.0, 800.0)] {
                    let sprt = Sprt { model, ..Sprt::logistic(elo0, elo1) };
                    assert!(sprt.llr(&counts(pairs)).is_finite(), "{model:?} {pairs:?} {elo0} {elo1}");
                }
            }
        }
    }
}
