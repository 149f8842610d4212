//! How hard and how good a puzzle is, and how strong its solvers are: pure.

use crate::storage::puzzles::{Goal, TryRecord, TryResult};

/// The least and the highest grade, in Elo points.
const GRADE_RANGE: std::ops::RangeInclusive<u32> = 600..=2_600;

/// How many attempts what is known beforehand counts for.
const PRIOR_TRIES: f64 = 8.0;

/// The grade of a puzzle that half of those who try it solve.
const EVEN_GRADE: f64 = 1_500.0;

/// Elo's scale: so many points are odds of ten to one.
const SCALE: f64 = 400.0;

/// The level of somebody who has solved nothing yet: rather too easy than too hard.
const FIRST_LEVEL: f64 = 1_200.0;

/// How far one attempt moves a level at most, in points: a few dozen attempts find it.
const LEVEL_STEP: f64 = 60.0;

/// What is known of a puzzle before anybody has tried it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Features {
    /// What is to be found.
    pub(crate) goal: Goal,
    /// Moves of the solver's in the solution.
    pub(crate) own_moves: usize,
    /// Plies to be foreseen.
    pub(crate) plies: u32,
    /// Wrong columns that do not lose at once.
    pub(crate) tempting: usize,
    /// Whether the player whose game it is did not find it.
    pub(crate) was_missed: bool,
}

/// How hard it seems, in Elo points: the further ahead, the more moves and the more ways to go wrong, the harder. A
/// draw is harder to see than a win, for it ends in nothing.
pub(crate) fn prior(features: &Features) -> u32 {
    let goal = match features.goal {
        Goal::Win => 0,
        Goal::Draw => 150,
    };
    let moves = count(features.own_moves.saturating_sub(1));
    let points = 700 + 45 * features.plies + 70 * moves + 35 * count(features.tempting.min(6)) + goal;
    points.clamp(*GRADE_RANGE.start(), *GRADE_RANGE.end())
}

/// How good it is beside others: long solutions with many ways to go wrong are, above all where somebody did go wrong.
pub(crate) fn quality(features: &Features) -> u32 {
    let missed = if features.was_missed { 150 } else { 0 };
    100 * count(features.own_moves) + 30 * count(features.tempting) + missed
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How hard a puzzle is, in Elo points: what it seemed counts for some attempts, then come the real ones.
pub(crate) fn grade(prior: u32, record: TryRecord) -> u32 {
    let solved_before = PRIOR_TRIES * expected(EVEN_GRADE, f64::from(prior));
    #[expect(clippy::cast_precision_loss, reason = "nobody tries a puzzle 2^53 times")]
    let (tries, solved) = (record.tries as f64, record.solved as f64);
    let rate = (solved_before + solved) / (PRIOR_TRIES + tries);
    let points = EVEN_GRADE + SCALE * ((1.0 - rate) / rate).log10();
    let bounded = points.clamp(f64::from(*GRADE_RANGE.start()), f64::from(*GRADE_RANGE.end()));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range of grades is positive and small"
    )]
    let grade = bounded.round() as u32;
    grade
}

/// How strong somebody is who tried puzzles of these grades with these results, in order; in Elo points.
pub(crate) fn level(tries: impl IntoIterator<Item = (u32, TryResult)>) -> f64 {
    tries.into_iter().fold(FIRST_LEVEL, |level, (grade, result)| {
        let score = match result {
            TryResult::Solved => 1.0,
            TryResult::Failed => 0.0,
        };
        level + LEVEL_STEP * (score - expected(level, f64::from(grade)))
    })
}

/// The chance that somebody of this level solves a puzzle of this grade.
fn expected(level: f64, grade: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf((grade - level) / SCALE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EASY: Features =
        Features { goal: Goal::Win, own_moves: 1, plies: 5, tempting: 2, was_missed: false };

    #[test]
    fn longer_deeper_and_wider_is_harder() {
        let harder = [
            Features { own_moves: 3, ..EASY },
            Features { plies: 9, ..EASY },
            Features { tempting: 5, ..EASY },
            Features { goal: Goal::Draw, ..EASY },
        ];
        for features in harder {
            assert!(prior(&features) > prior(&EASY), "{features:?}");
        }
        assert_eq!(prior(&EASY), 995);
        let endless = Features { own_moves: 1_000, plies: 42, ..EASY };
        assert_eq!(prior(&endless), *GRADE_RANGE.end());
        assert!(quality(&Features { was_missed: true, ..EASY }) > quality(&EASY));
    }

    #[test]
    fn a_grade_begins_at_the_prior_and_follows_those_who_try() {
        let record = |tries, solved| TryRecord { tries, solved };
        assert_eq!(grade(1_234, TryRecord::default()), 1_234);
        assert!(grade(1_500, record(1, 0)) > 1_500 && grade(1_500, record(1, 0)) < 1_560);
        assert_eq!(grade(1_500, record(10, 5)), 1_500);
        assert!(grade(900, record(1_000, 500)).abs_diff(1_500) < 5, "the prior fades");
        assert_eq!(grade(1_500, record(1_000_000, 0)), *GRADE_RANGE.end());
        assert_eq!(grade(1_500, record(1_000_000, 1_000_000)), *GRADE_RANGE.start());
    }

    #[test]
    fn a_level_moves_with_each_attempt() {
        assert!((level([]) - FIRST_LEVEL).abs() < f64::EPSILON);
        let solved = level([(1_200, TryResult::Solved)]);
        let failed = level([(1_200, TryResult::Failed)]);
        assert!((solved - 1_230.0).abs() < 1e-9 && (failed - 1_170.0).abs() < 1e-9);
        assert!(level((0..200).map(|_| (1_800, TryResult::Solved))) > 1_900.0);
    }
}
