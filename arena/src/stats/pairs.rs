//! Scores of pairs, and what they say about who is stronger.

use super::elo;
use super::real;
use super::student;

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

    /// The standard error of [`Self::mean`], which Student's distribution with its degrees of freedom goes with. `None`
    /// if all pairs are alike, or one alone says something new: then nothing tells how far off the mean may be.
    fn standard_error(&self) -> Option<(f64, u64)> {
        let degrees = self.informative().saturating_sub(1);
        let error = (self.variance() / real(degrees.max(1))).sqrt();
        (degrees > 0 && error > 0.0).then_some((error, degrees))
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
        let (low, high) = if let Some((error, degrees)) = self.standard_error() {
            let reach = student::t95(degrees) * error;
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
    /// By Student's distribution, as the interval of [`Self::estimate`]. Where all pairs are alike, the sign test: with
    /// equal players, half of the decided pairs go the other way.
    pub fn los(&self) -> f64 {
        let ahead = self.mean() - 0.5;
        if let Some((error, degrees)) = self.standard_error() {
            return student::cdf(ahead / error, degrees);
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
    /// it is known already, neither is ahead, or the pairs do not tell.
    pub fn pairs_needed(&self, confidence: f64) -> Option<u64> {
        let (error, degrees) = self.standard_error()?;
        let ahead = (self.mean() - 0.5).abs();
        if ahead <= 0.0 || student::cdf(ahead / error, degrees) >= confidence {
            return None;
        }
        // With more pairs the error shrinks, and so does the t that it is held against.
        let is_enough = |degrees: u64| {
            let error = (self.variance() / real(degrees)).sqrt();
            ahead / error >= student::quantile(confidence, degrees)
        };
        let (mut too_few, mut enough) = (degrees, degrees);
        while !is_enough(enough) {
            too_few = enough;
            enough = enough.saturating_mul(2);
        }
        while enough - too_few > 1 {
            let middle = u64::midpoint(too_few, enough);
            if is_enough(middle) { enough = middle } else { too_few = middle }
        }
        Some(enough - degrees)
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
    use rand::RngExt as _;

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
        let (error, degrees) = pairs.standard_error().unwrap();
        check(error, (0.0629_f64 / 49.0).sqrt(), 1e-12);
        assert_eq!(degrees, 49);
        let estimate = pairs.estimate().unwrap();
        check(estimate.elo, 77.706, 1e-3);
        // 0.61 -+ 2.0096 * sqrt(0.0629 / 49)
        check(estimate.low, elo::from_score(0.61 - 0.072_000), 0.01);
        check(estimate.high, elo::from_score(0.61 + 0.072_000), 0.01);
        // t = 3.07020; Student's distribution with 49 degrees of freedom gives 0.99826 there.
        check(estimate.los, 0.998_26, 1e-5);
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
        let (error, _) = near.standard_error().unwrap();
        let z = (near.mean() - 0.5) / error;
        check(real(101 + more) / 101.0, (2.326_35 / z).powi(2), 0.01);
        assert_eq!(counts([0, 0, 10, 20, 60]).pairs_needed(0.99), None, "it is known");
        assert_eq!(counts([5, 0, 5, 0, 5]).pairs_needed(0.99), None, "nobody is ahead");
        assert_eq!(counts([0, 0, 0, 0, 1]).pairs_needed(0.99), None, "one pair tells nothing");
    }

    #[test]
    fn few_pairs_are_enough_only_if_the_interval_says_so_too() {
        let three = counts([2, 0, 1, 0, 0]);
        // t = -2 with two degrees of freedom: 0.0918.
        check(three.los(), 0.091_75, 1e-5);
        let more = three.pairs_needed(0.99).unwrap();
        let of = |times: u64| counts([2 * times, 0, times, 0, 0]);
        assert!(of(1 + more.div_ceil(3)).los() < 0.01 && of(2).los() > 0.01, "{more}");
        for counts in [[2, 0, 1, 0, 0], [0, 1, 1, 1, 3], [0, 0, 2, 1, 3], [0, 0, 3, 3, 0], [4, 1, 0, 0, 0]] {
            let pairs = self::counts(counts);
            let Estimate { low, high, los, .. } = pairs.estimate().unwrap();
            assert_eq!(low > 0.0, los > 0.975, "{counts:?}: {low} {los}");
            assert_eq!(high < 0.0, los < 0.025, "{counts:?}: {high} {los}");
        }
    }

    /// What one is told to be sure of is wrong about as rarely as it says, with however few pairs.
    #[test]
    fn equal_players_are_rarely_called_unequal() {
        const MATCHES: u32 = 4_000;
        let mut rng = fourfold_engine::rng::seeded(6);
        for pairs in [3, 4, 6, 10, 30] {
            let mut claims = 0;
            for _ in 0..MATCHES {
                let mut counts = PairCounts::default();
                for _ in 0..pairs {
                    // Two games, each won or lost with 25 %, drawn otherwise.
                    let half_points = (0..4).map(|_| u8::from(rng.random_bool(0.5))).sum();
                    counts.add(half_points, Repeats::Nothing);
                }
                claims += u32::from((counts.los() - 0.5).abs() >= 0.49);
            }
            // Two sides of 1 % each; whole steps of few pairs leave some room.
            let share = f64::from(claims) / f64::from(MATCHES);
            assert!(share < 0.035, "{pairs} pairs: {share}");
        }
    }
}
