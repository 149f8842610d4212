//! Scores of pairs, and what they say about who is stronger.

use super::elo;
use super::normal;
use super::real;
use super::student::t95;

/// What a pair can be worth to a player, in shares of its two points.
pub const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// How often each of [`SCORES`] came up: the pentanomial counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PairCounts {
    pub counts: [u64; 5],
    /// Pairs that repeat an earlier pair move for move. They are in the counts, but say nothing new: the error is
    /// that of the others.
    pub repeated: u64,
}

/// How much stronger one player is than the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Most likely difference in points.
    pub elo: f64,
    /// Ends of the interval that holds 95 %.
    pub low: f64,
    pub high: f64,
    /// Likelihood of superiority: how probable it is that the difference is above zero, from 0 to 1.
    pub los: f64,
}

impl PairCounts {
    /// Books a pair of `half_points`, 0 to 4.
    ///
    /// # Panics
    ///
    /// There are no more than four half points in two games.
    pub fn add(&mut self, half_points: u8, repeats: Repeats) {
        self.counts[usize::from(half_points)] += 1;
        self.repeated += u64::from(repeats == Repeats::AnEarlierPair);
    }

    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Pairs that say something new; at least one if there are any.
    pub fn informative(&self) -> u64 {
        self.pairs().saturating_sub(self.repeated)
    }

    /// The mean score of a pair, 1/2 if there are none.
    pub fn mean(&self) -> f64 {
        if self.pairs() == 0 { 0.5 } else { self.moment(|score| score) }
    }

    /// The variance of the scores, 0 if there are none.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        if self.pairs() == 0 { 0.0 } else { self.moment(|score| (score - mean).powi(2)) }
    }

    fn moment(&self, value: impl Fn(f64) -> f64) -> f64 {
        let sum: f64 = self.counts.iter().zip(SCORES).map(|(&count, score)| real(count) * value(score)).sum();
        sum / real(self.pairs())
    }

    /// The standard error of [`Self::mean`]; 0 if all pairs are alike.
    pub fn standard_error(&self) -> f64 {
        (self.variance() / real(self.informative().max(1))).sqrt()
    }

    /// The difference between the players with its error. `None` without a pair.
    ///
    /// The interval is that of Student around the mean score, turned into points at both ends. Where all pairs
    /// are alike, their variance says nothing: then the ends are the worst that a share of the pairs could be that
    /// had no fair chance to come up.
    pub fn estimate(&self) -> Option<Estimate> {
        let informative = self.informative().max(u64::from(self.pairs() > 0));
        if informative == 0 {
            return None;
        }
        let mean = self.mean();
        let (low, high) = if self.variance() > 0.0 && informative > 1 {
            let unbiased = (self.variance() / real(informative - 1)).sqrt();
            let reach = t95(informative - 1) * unbiased;
            (mean - reach, mean + reach)
        } else {
            // A share that is seen in none of n pairs is at most this, with 97.5 %.
            let unseen = 1.0 - 0.025_f64.powf(1.0 / real(informative));
            (mean * (1.0 - unseen), mean + unseen * (1.0 - mean))
        };
        Some(Estimate {
            elo: elo::from_score(self.cautious_mean(informative)),
            low: elo::from_score(low),
            high: elo::from_score(high),
            los: self.los(),
        })
    }

    /// The mean, and for perfect scores half a step of a score away from perfect.
    fn cautious_mean(&self, informative: u64) -> f64 {
        let step = 1.0 / (8.0 * real(informative + 1));
        let mean = self.mean();
        if mean <= 0.0 {
            step
        } else if mean >= 1.0 {
            1.0 - step
        } else {
            mean
        }
    }

    /// How probable it is that the player is stronger, from 0 to 1: 1/2 if nothing is known.
    ///
    /// Where all pairs are alike, the sign test: with equal players, half of the decided pairs go the other way.
    pub fn los(&self) -> f64 {
        let ahead = self.mean() - 0.5;
        let error = self.standard_error();
        if error > 0.0 && self.informative() > 1 {
            return normal::cdf(ahead / error);
        }
        let surprise = 0.5_f64.powf(real(self.informative()));
        if ahead > 0.0 {
            1.0 - surprise
        } else if ahead < 0.0 {
            surprise
        } else {
            0.5
        }
    }

    /// The difference in the unit of its own noise (normalised Elo): points at which it is as easy to see as among
    /// players who never draw. `None` if all pairs are alike: then there is no noise to measure by.
    pub fn normalised_elo(&self) -> Option<f64> {
        let per_game = (2.0 * self.variance()).sqrt();
        (per_game > 0.0).then(|| (self.mean() - 0.5) / per_game * 2.0 * elo::POINTS)
    }

    /// How many more pairs like these it takes until the stronger player is known with this probability; `None` if
    /// it is known already or neither is ahead.
    pub fn pairs_needed(&self, confidence: f64) -> Option<u64> {
        let error = self.standard_error();
        let z = (self.mean() - 0.5).abs() / error;
        let due = normal::quantile(confidence);
        if error <= 0.0 || z <= 0.0 || z >= due {
            return None;
        }
        let factor = (due / z).powi(2);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let needed = (real(self.informative()) * factor).ceil() as u64;
        Some(needed.saturating_sub(self.informative()).max(1))
    }
}

/// Whether a pair is the first of its moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeats {
    Nothing,
    AnEarlierPair,
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
    fn a_match_worked_by_hand() {
        // 50 pairs: mean (5/4 + 20/2 + 15 * 3/4 + 8) / 50 = 30.5 / 50.
        let pairs = counts([2, 5, 20, 15, 8]);
        check(pairs.mean(), 0.61, 1e-12);
        // (2 * 0.3721 + 5 * 0.1296 + 20 * 0.0121 + 15 * 0.0196 + 8 * 0.1521) / 50
        check(pairs.variance(), 0.0629, 1e-12);
        check(pairs.standard_error(), (0.0629_f64 / 50.0).sqrt(), 1e-12);
        let estimate = pairs.estimate().unwrap();
        check(estimate.elo, 77.706, 1e-3);
        // 0.61 -+ 2.0096 * sqrt(0.0629 / 49)
        check(estimate.low, elo::from_score(0.61 - 0.072_000), 0.01);
        check(estimate.high, elo::from_score(0.61 + 0.072_000), 0.01);
        check(estimate.los, normal::cdf(0.11 / 0.035_468), 1e-6);
        check(pairs.normalised_elo().unwrap(), 0.11 / (2.0_f64 * 0.0629).sqrt() * 347.44, 0.01);
    }

    #[test]
    fn perfect_and_even_matches_stay_finite() {
        let perfect = counts([0, 0, 0, 0, 10]).estimate().unwrap();
        assert!(perfect.elo > 400.0 && perfect.elo < elo::LIMIT, "{perfect:?}");
        // 1 - 0.975 quantile: 0.6915 of the points at least.
        check(perfect.low, elo::from_score(0.691_5), 0.1);
        check(perfect.high, elo::LIMIT, 0.0);
        check(perfect.los, 1.0 - 0.5_f64.powi(10), 1e-12);
        let even = counts([0, 0, 7, 0, 0]).estimate().unwrap();
        check(even.elo, 0.0, 1e-9);
        check(even.los, 0.5, 0.0);
        assert!(even.low < -100.0 && even.high > 100.0, "{even:?}");
        assert_eq!(PairCounts::default().estimate(), None);
    }

    #[test]
    fn repeated_pairs_narrow_nothing() {
        let mut pairs = PairCounts::default();
        pairs.add(4, Repeats::Nothing);
        let once = pairs.estimate().unwrap();
        for _ in 0..99 {
            pairs.add(4, Repeats::AnEarlierPair);
        }
        assert_eq!((pairs.pairs(), pairs.informative()), (100, 1));
        assert_eq!(pairs.estimate().unwrap(), once);
        check(once.los, 0.5, 0.0);
    }

    #[test]
    fn more_pairs_are_needed_the_nearer_the_players_are() {
        let near = counts([10, 20, 41, 20, 11]);
        let more = near.pairs_needed(0.99).unwrap();
        let z = (near.mean() - 0.5) / near.standard_error();
        check(real(102 + more) / 102.0, (2.326_35 / z).powi(2), 0.01);
        assert_eq!(counts([0, 0, 10, 20, 60]).pairs_needed(0.99), None, "it is known");
        assert_eq!(counts([5, 0, 5, 0, 5]).pairs_needed(0.99), None, "nobody is ahead");
    }
}
