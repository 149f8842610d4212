//! Strength after a sequential test has stopped.
//!
//! A test stops when luck and strength have added up, so the plain mean is too far out. The median-unbiased estimate
//! is the strength at which stopping this soon on this side has probability 1/2. The log likelihood ratio is taken as a
//! Brownian motion between the bounds, whose times of arrival are known (Cox and Miller, "The theory of stochastic
//! processes", section 5.7).

use std::f64::consts::PI;

use super::elo;
use super::pairs::PairCounts;
use super::real;
use super::sprt::{Hypothesis, Sprt};

/// Terms of the series at most; they fall like exp(-n^2 t).
const TERMS_MAX: u32 = 400;

/// Halvings in the search for the score.
const HALVINGS: u32 = 60;

/// The difference in Elo that a stopped test points to; `None` while it has not stopped.
pub fn median_unbiased_elo(sprt: &Sprt, pairs: &PairCounts) -> Option<f64> {
    let accepted = sprt.verdict(pairs)?;
    // One pseudo-variance for pairs that are all alike, as for one pair that went otherwise.
    let variance = pairs.variance().max(1.0 / (4.0 * real(pairs.informative() + 1)));
    let (s0, s1) = sprt.means(variance);
    let (lower, upper) = sprt.bounds();
    // From the side that was reached: distances to it and to the other, and the motion towards it.
    let (near, far, towards) = match accepted {
        Hypothesis::H1 => (upper, -lower, 1.0),
        Hypothesis::H0 => (-lower, upper, -1.0),
    };
    let chance = |score: f64| {
        let drift = towards * (s1 - s0) * (2.0 * score - s0 - s1) / (2.0 * variance);
        let diffusion = (s1 - s0).powi(2) / variance;
        arrives_within(real(pairs.informative()), drift, diffusion, near, far)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let is_below = match accepted {
            Hypothesis::H1 => chance(middle) < 0.5,
            Hypothesis::H0 => chance(middle) > 0.5,
        };
        if is_below { low = middle } else { high = middle }
    }
    Some(elo::from_score(f64::midpoint(low, high)))
}

/// The probability that a Brownian motion from 0, with this drift and variance per unit of time, reaches `near` before
/// `-far` and within `time`.
fn arrives_within(time: f64, drift: f64, diffusion: f64, near: f64, far: f64) -> f64 {
    let width = near + far;
    let push = drift / diffusion;
    let tilt = (push * near).exp();
    let ever = if push.abs() * width < 1e-9 {
        far / width
    } else {
        // exp(push * near) * sinh(push * far) / sinh(push * width), written so that nothing overflows.
        let fall = |x: f64| (-2.0 * push.abs() * x).exp();
        let ratio = (1.0 - fall(far)) / (1.0 - fall(width));
        ratio * (push * near - push.abs() * near).exp()
    };
    let mut late = 0.0;
    for n in 1..=TERMS_MAX {
        let wave = f64::from(n) * PI / width;
        let rate = drift * drift / (2.0 * diffusion) + wave * wave * diffusion / 2.0;
        let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
        let weight = (-rate * time).exp() / rate * f64::from(n);
        late += sign * (wave * far).sin() * weight;
        if weight < 1e-15 {
            break;
        }
    }
    let late = tilt * PI * diffusion / (width * width) * late;
    (ever - late).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::rng;
    use rand::RngExt;

    use super::*;

    #[test]
    fn arrivals_agree_with_a_random_walk() {
        let mut rng = rng::seeded(5);
        let (steps, walks) = (400_u32, 20_000_u32);
        for drift in [-0.01, 0.0, 0.02] {
            let mut arrived = 0;
            for _ in 0..walks {
                let mut at = 0.0;
                for _ in 0..steps {
                    at += drift + if rng.random::<bool>() { 0.25 } else { -0.25 };
                    if at >= 3.0 {
                        arrived += 1;
                        break;
                    }
                    if at <= -4.0 {
                        break;
                    }
                }
            }
            let share = f64::from(arrived) / f64::from(walks);
            let expected = arrives_within(f64::from(steps), drift, 0.0625, 3.0, 4.0);
            // The walk overshoots by a part of a step, so it arrives a little later.
            assert!((share - expected).abs() < 0.02, "drift {drift}: {share}, {expected}");
        }
    }

    #[test]
    fn a_stopped_test_claims_less_than_its_mean() {
        let sprt = Sprt::logistic(0.0, 60.0);
        let pairs = PairCounts { counts: [1, 4, 12, 14, 9], repeated: 0 };
        assert_eq!(sprt.verdict(&pairs), Some(Hypothesis::H1));
        let (mean, median) = (elo::from_score(pairs.mean()), median_unbiased_elo(&sprt, &pairs).unwrap());
        assert!(median > 0.0 && median < mean, "{median} {mean}");
        let mut turned = pairs;
        turned.counts.reverse();
        let mirrored = Sprt::logistic(-60.0, 0.0);
        assert_eq!(mirrored.verdict(&turned), Some(Hypothesis::H0));
        let other = median_unbiased_elo(&mirrored, &turned).unwrap();
        assert!((median + other).abs() < 1e-6, "{median} {other}");
        assert_eq!(median_unbiased_elo(&sprt, &PairCounts::default()), None);
    }

    #[test]
    fn half_of_the_estimates_are_too_high() {
        let mut rng = rng::seeded(11);
        let sprt = Sprt::logistic(0.0, 40.0);
        let truth = 30.0;
        let score = elo::expected_score(truth);
        let (mut above, mut stopped) = (0, 0);
        for _ in 0..400 {
            let mut pairs = PairCounts::default();
            while sprt.verdict(&pairs).is_none() {
                let points = (0..2).filter(|_| rng.random_bool(score)).count();
                pairs.counts[2 * points] += 1;
            }
            stopped += 1;
            above += u32::from(median_unbiased_elo(&sprt, &pairs).unwrap() > truth);
        }
        let share = f64::from(above) / f64::from(stopped);
        assert!((0.42..0.58).contains(&share), "{share}");
    }
}
