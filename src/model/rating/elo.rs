//! Live Elo in fixed-point arithmetic, so that recomputing from the records gives the same digits everywhere.
//!
//! Everything is integer: ratings are thousandths of a point, expected scores billionths, and each rounding rule is
//! pinned by a test. No floating point is involved, whose results may differ between compilers and machines.

use fourfold_engine::{BySide, Side};

/// A rating in thousandths of an Elo point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MilliElo(pub(crate) i64);

/// What is shown lies within so many Elo points of zero, whatever a damaged store holds, so that pages and charts may
/// compute with it.
const SHOWN_MAX: i64 = 100_000;

impl MilliElo {
    /// Everybody's rating before the first rated game, but that of bots of the house that were measured beforehand:
    /// [`NEWCOMER_ELO`].
    pub(crate) const START: Self = Self(750_000);

    /// A rating of whole Elo points.
    pub(crate) fn of_points(elo: i32) -> Self {
        Self(1_000 * i64::from(elo))
    }

    /// Whole Elo points, the nearer ones; half a point rounds up.
    pub(crate) fn to_elo(self) -> i32 {
        let points = self.0.saturating_add(500).div_euclid(1_000);
        i32::try_from(points.clamp(-SHOWN_MAX, SHOWN_MAX)).unwrap_or_default()
    }
}

/// A rating and the number of rated games that it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    pub(crate) rating: MilliElo,
    pub(crate) games: u64,
}

impl Standing {
    /// Before the first rated game.
    pub(crate) const START: Self = Self { rating: MilliElo::START, games: 0 };

    /// Whether too few games stand behind the rating to rank it.
    pub(crate) fn is_provisional(self) -> bool {
        self.games < PROVISIONAL_GAMES
    }
}

impl Standing {
    /// What is shown of whoever no joint fit knows yet. Games against few opponents say little, so it is provisional.
    pub(crate) fn shown(self) -> ShownRating {
        ShownRating { elo: self.rating.to_elo(), pm95: pm95(self.games), provisional: true }
    }

    /// What is shown where there is no joint fit: by correspondence.
    pub(crate) fn shown_live(self) -> ShownRating {
        ShownRating { provisional: self.is_provisional(), ..self.shown() }
    }
}

/// What a newcomer has on the scale on which `random` has 0: about as much as level 3 of the characters, between those
/// who overlook a win in one and those who look two moves ahead. Whoever comes is mostly one of these.
pub(crate) const NEWCOMER_ELO: i32 = 750;

/// A rating as others see it, the same everywhere: Elo points on the scale on which `random` has 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ShownRating {
    pub(crate) elo: i32,
    /// Half the width of the 95 % interval, in Elo points; 0 of what was measured beforehand.
    pub(crate) pm95: u32,
    /// Whether too little stands behind it.
    pub(crate) provisional: bool,
}

impl ShownRating {
    /// A rating of the joint fit, with the number of rated games that were played for it.
    pub(crate) fn fitted(elo: i32, pm95: u32, games: u64) -> Self {
        Self { elo, pm95, provisional: games < PROVISIONAL_GAMES || pm95 > RANKED_PM95 }
    }

    /// What a bot of the house was found to be beforehand.
    pub(crate) fn measured(elo: i32) -> Self {
        Self { elo, pm95: 0, provisional: false }
    }

    /// Whether it is such a one. Of a fit the half width is never 0.
    pub(crate) fn is_measured(self) -> bool {
        self.pm95 == 0
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::START
    }
}

/// What one game did to one rating. `after = before + delta`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RatingEntry {
    pub(crate) before: MilliElo,
    pub(crate) delta: i64,
    pub(crate) after: MilliElo,
}

/// Rated games before which a rating is provisional: ten pairs.
pub(crate) const PROVISIONAL_GAMES: u64 = 20;

/// A published rating that is less certain than this, in Elo points on both sides with 95 %, is provisional however
/// many games were played: neighbours in the ranking may stand the other way round.
const RANKED_PM95: u32 = 75;

/// Elo points that a newcomer's surprising result moves at most.
const K_START: u64 = 40;
/// The same for everybody else. One point less with each game leads there: after 24 games.
const K_SETTLED: u64 = 16;

/// Certainty, in billionths.
const ONE: i64 = 1_000_000_000;

/// Settles a rated game: `winner` is `None` for a draw.
///
/// The first move's advantage is left to the openings and the swapped sides of a pair. With equal K the second side
/// loses exactly what the first one wins.
pub(crate) fn settle(first: Standing, second: Standing, winner: Option<Side>) -> BySide<RatingEntry> {
    let expected = expected_score(first.rating, second.rating);
    let scored = match winner {
        Some(Side::First) => ONE,
        None => ONE / 2,
        Some(Side::Second) => 0,
    };
    let surprise = scored - expected;
    BySide { first: entry(first, surprise), second: entry(second, -surprise) }
}

/// By how many Elo points one game can move the rating: 40 less the games played, but at least 16.
fn k_factor(games: u64) -> u64 {
    K_START.saturating_sub(games).max(K_SETTLED)
}

/// Moves a rating by K times `surprise` billionths, to the nearest thousandth of a point, halves away from zero (so
/// that both sides of a game round alike).
fn entry(standing: Standing, surprise: i64) -> RatingEntry {
    const BILLIONTHS_PER_MILLI: u64 = 1_000_000;
    let size = k_factor(standing.games) * surprise.unsigned_abs();
    let milli = (size + BILLIONTHS_PER_MILLI / 2) / BILLIONTHS_PER_MILLI;
    let milli = i64::try_from(milli).expect("at most K_START points");
    let before = standing.rating;
    let after = MilliElo(before.0.saturating_add(milli * surprise.signum()));
    RatingEntry { before, delta: after.0.saturating_sub(before.0), after }
}

/// The score that `own` should make against `other`, in billionths: 1 / (1 + 10^((other - own) / 400)).
///
/// Off by at most one billionth; the two sides' expectations add up to exactly one.
pub(crate) fn expected_score(own: MilliElo, other: MilliElo) -> i64 {
    /// Beyond 4,000 Elo points the weaker side's expectation rounds to nothing.
    const DIFFERENCE_MAX: u64 = 4_000_000;
    let difference = own.0.saturating_sub(other.0);
    let odds = odds(difference.unsigned_abs().min(DIFFERENCE_MAX));
    let favourite = (u128::from(ONE.unsigned_abs()) * odds + u128::midpoint(odds, UNIT)) / (odds + UNIT);
    let favourite = i64::try_from(favourite).unwrap_or(ONE); // at most ONE by the formula
    if difference >= 0 { favourite } else { ONE - favourite }
}

/// Fraction bits of [`odds`] and of the roots it multiplies.
const UNIT_BITS: u32 = 62;
/// 1 in that format.
const UNIT: u128 = 1 << UNIT_BITS;

/// Fraction bits of the binary logarithm that are looked at. Leaving out the rest makes the odds smaller by less than
/// 2^-40 of their size.
const LOG_BITS: usize = 40;

/// `log2(10) / 400_000`, times 2^80: how much the odds' binary logarithm grows with a thousandth of a point.
const LOG2_ODDS_PER_MILLI: u128 = 10_039_911_612_031_420_406;
const LOG2_ODDS_BITS: u32 = 80;

/// `2^(1/2)`, `2^(1/4)`, `2^(1/8)` and so on, with [`UNIT_BITS`] fraction bits.
const ROOTS_OF_TWO: [u128; LOG_BITS] = {
    let mut roots = [0; LOG_BITS];
    let mut radicand = 2 * UNIT;
    let mut index = 0;
    while index < LOG_BITS {
        roots[index] = (radicand << UNIT_BITS).isqrt();
        radicand = roots[index];
        index += 1;
    }
    roots
};

/// `10^(milli / 400_000)` with [`UNIT_BITS`] fraction bits, for differences of up to 4,000 points.
///
/// The power of ten is a power of two whose exponent is a binary fraction; each set bit of it multiplies the result by
/// one of the [`ROOTS_OF_TWO`].
fn odds(milli: u64) -> u128 {
    let log = u128::from(milli) * LOG2_ODDS_PER_MILLI;
    let fraction_bit = |index: usize| log >> (LOG2_ODDS_BITS as usize - 1 - index) & 1 == 1;
    let set = ROOTS_OF_TWO.iter().enumerate().filter(|(index, _)| fraction_bit(*index));
    let power = set.fold(UNIT, |power, (_, root)| (power * root) >> UNIT_BITS);
    power << (log >> LOG2_ODDS_BITS)
}

/// Half the width of a rating's 95 % interval in Elo points, judged by the number of games alone: 686 before the first,
/// 149 after 20, 68 after 100, never 0.
///
/// A game between equals carries the information 1/4 in units of (ln 10 / 400)^2 per squared point; the spread of
/// players at large, a standard deviation of 350 points, is known beforehand. With I their sum, the half width is
/// 1.96 / sqrt(I).
pub(crate) fn pm95(games: u64) -> u32 {
    /// Per squared Elo point, times 10^12.
    const PER_GAME: u128 = 8_284_216;
    const PRIOR: u128 = 8_163_265;
    /// (2 x 1.96)^2 times 10^12: twice the half width leaves one bit for rounding.
    const TWICE_SQUARED: u128 = 15_366_400_000_000;
    let twice = (TWICE_SQUARED / (u128::from(games) * PER_GAME + PRIOR)).isqrt();
    u32::try_from(twice.div_ceil(2)).unwrap_or(u32::MAX).max(1) // at most 686 by the formula
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standing(rating: i64, games: u64) -> Standing {
        Standing { rating: MilliElo(rating), games }
    }

    #[track_caller]
    fn check(first: Standing, second: Standing, winner: Option<Side>, expected: (i64, i64)) {
        let entries = settle(first, second, winner);
        assert_eq!((entries.first.delta, entries.second.delta), expected);
    }

    #[test]
    fn what_is_shown_can_be_computed_with() {
        let [low, high] = [i64::MIN, i64::MAX].map(|milli| MilliElo(milli).to_elo());
        assert_eq!((low, high, high - low), (-100_000, 100_000, 200_000));
        let [low, high] =
            [i64::MIN, i64::MAX].map(|milli| Standing { rating: MilliElo(milli), games: u64::MAX });
        let settled = settle(low, high, Some(Side::First));
        assert_eq!(settled.second.after, MilliElo(i64::MAX - 16_000));
        assert_eq!(settle(high, low, Some(Side::First)).first.after, MilliElo(i64::MAX));
    }

    #[test]
    fn results_move_ratings_by_known_digits() {
        let new = Standing::START;
        check(new, new, Some(Side::First), (20_000, -20_000));
        check(new, new, None, (0, 0));
        check(standing(1_500_000, 100), standing(1_500_000, 10), Some(Side::Second), (-8_000, 15_000));
        // 10^(200/400) = 3.16228 : 1, so the favourite expects 0.759747.
        check(standing(1_700_000, 24), standing(1_500_000, 24), Some(Side::First), (3_844, -3_844));
        check(standing(1_700_000, 24), standing(1_500_000, 24), None, (-4_156, 4_156));
        check(standing(1_700_000, 24), standing(1_500_000, 24), Some(Side::Second), (-12_156, 12_156));
    }

    #[test]
    fn k_falls_by_a_point_a_game_to_sixteen() {
        assert_eq!([0, 1, 20, 23, 24, 25, u64::MAX].map(k_factor), [40, 39, 20, 17, 16, 16, 16]);
    }

    #[test]
    fn a_rating_is_provisional_until_twenty_games() {
        assert!(standing(0, 19).is_provisional());
        assert!(!standing(0, 20).is_provisional());
    }

    #[test]
    fn a_published_rating_is_provisional_until_it_is_certain_within_75_points() {
        let is_provisional = |pm95, games| ShownRating::fitted(1_000, pm95, games).provisional;
        assert!(is_provisional(10, 19) && is_provisional(76, 500) && !is_provisional(75, 20));
        assert!(ShownRating::measured(0).is_measured() && !ShownRating::fitted(0, 1, 20).is_measured());
    }

    #[test]
    fn live_ratings_stand_on_the_scale_that_is_shown() {
        let shown = standing(730_000, 3).shown();
        assert_eq!((Standing::START.shown().elo, shown.elo), (NEWCOMER_ELO, NEWCOMER_ELO - 20));
        assert!(shown.provisional && standing(750_000, 400).shown().provisional);
    }

    #[test]
    fn whole_points_round_to_the_nearer() {
        let rounded = [1_499_499, 1_499_500, 1_500_499, -500, -501, i64::MAX, i64::MIN];
        assert_eq!(
            rounded.map(|milli| MilliElo(milli).to_elo()),
            [1499, 1500, 1500, 0, -1, 100_000, -100_000]
        );
    }

    #[test]
    fn intervals_narrow_with_games() {
        assert_eq!([0, 1, 5, 20, 100, 1_000].map(pm95), [686, 483, 278, 149, 68, 22]);
        assert_eq!(pm95(u64::MAX), 1);
    }

    #[expect(clippy::cast_precision_loss, reason = "the reference is a float")]
    fn float_expected(own: i64, other: i64) -> f64 {
        1.0 / (1.0 + 10f64.powf((other - own) as f64 / 400_000.0))
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "the reference is a float")]
    fn expected_scores_agree_with_floating_point() {
        for difference in (-4_100_000..4_100_000).step_by(997) {
            let exact = expected_score(MilliElo(difference), MilliElo(0)) as f64 / ONE as f64;
            let float = float_expected(difference, 0);
            assert!((exact - float).abs() < 1e-9, "{difference}: {exact} {float}");
        }
    }

    fn any_winner() -> impl Strategy<Value = Option<Side>> {
        prop_oneof![Just(None), Just(Some(Side::First)), Just(Some(Side::Second))]
    }

    proptest! {
        #[test]
        fn with_equal_k_nothing_is_won_that_is_not_lost(
            first in 0i64..4_000_000, second in 0i64..4_000_000, games in 0u64..60, winner in any_winner(),
        ) {
            let entries = settle(standing(first, games), standing(second, games), winner);
            prop_assert_eq!(entries.first.delta, -entries.second.delta);
        }

        #[test]
        fn swapping_the_sides_swaps_the_entries(
            first in any::<i64>(), second in any::<i64>(), games in any::<(u64, u64)>(), winner in any_winner(),
        ) {
            let (first, second) = (standing(first, games.0), standing(second, games.1));
            let entries = settle(first, second, winner);
            let swapped = settle(second, first, winner.map(Side::opponent));
            prop_assert_eq!(entries, BySide { first: swapped.second, second: swapped.first });
        }

        #[test]
        fn a_stronger_player_expects_more(own in -4_000_000i64..4_000_000, more in 1i64..100_000) {
            let (weak, strong) = (MilliElo(own), MilliElo(own + more));
            prop_assert!(expected_score(weak, MilliElo::START) <= expected_score(strong, MilliElo::START));
            prop_assert!(expected_score(MilliElo::START, weak) >= expected_score(MilliElo::START, strong));
        }

        #[test]
        fn a_better_result_is_worth_more(first in 0i64..3_000_000, second in 0i64..3_000_000, games in 0u64..60) {
            let after = |winner| settle(standing(first, games), standing(second, games), winner).first.after;
            prop_assert!(after(Some(Side::First)) >= after(None));
            prop_assert!(after(None) >= after(Some(Side::Second)));
            prop_assert!(after(Some(Side::First)) > after(Some(Side::Second)));
        }

        #[test]
        fn no_rating_overflows(first in any::<i64>(), second in any::<i64>(), games in any::<u64>(), winner in any_winner()) {
            let entries = settle(standing(first, games), standing(second, games), winner);
            for entry in [entries.first, entries.second] {
                prop_assert_eq!(entry.before.0 + entry.delta, entry.after.0);
                prop_assert!(entry.delta.abs() <= 40_000);
            }
        }
    }
}
