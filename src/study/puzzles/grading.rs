//! How hard and how good a puzzle is, and how strong its solvers are: pure.

use crate::storage::puzzles::{Goal, TryRecord, TryResult};

/// The least and the highest grade, in Elo points: from just above `random`, which has 0, to far above whoever never
/// errs.
pub(crate) const GRADE_RANGE: std::ops::RangeInclusive<u32> = 100..=2_600;

/// Bots that try a puzzle tell its grade no finer than that.
const GRADE_STEP: usize = 5;

/// The grade of a puzzle of which nothing is known, and how far others are from it: by these a puzzle that no bot
/// solves is not endlessly hard.
const USUAL_GRADE: f64 = 1_200.0;
const USUAL_SPREAD: f64 = 400.0;

/// How many attempts what is known beforehand counts for.
const PRIOR_TRIES: f64 = 8.0;

/// Elo's scale: so many points are odds of ten to one.
const SCALE: f64 = 400.0;

/// The level of somebody who has solved nothing yet: rather too easy than too hard, so nine of ten puzzles that come
/// with the program are harder.
const FIRST_LEVEL: f64 = 850.0;

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
///
/// The weights are the least squares over the grades that bots gave the puzzles of `shipped.txt`, rounded. They explain
/// a quarter of the spread: it is a guess, on the scale of those grades.
pub(crate) fn prior(features: &Features) -> u32 {
    let goal = match features.goal {
        Goal::Win => 0,
        Goal::Draw => 80,
    };
    let moves = count(features.own_moves.saturating_sub(1));
    let points = 735 + 24 * features.plies + 15 * moves + 26 * count(features.tempting.min(6)) + goal;
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

/// How hard a puzzle is, in Elo points: the grade under which as many would solve it as did. What it seemed counts for
/// some attempts of somebody who knows half of such puzzles; those who tried it are taken to have the mean of their
/// levels. Without these, what is tried most often would drift to one grade for all: puzzles are chosen by level, so
/// half of those who try a hard one solve it too.
pub(crate) fn grade(prior: u32, record: TryRecord) -> u32 {
    let prior = f64::from(prior);
    #[expect(clippy::cast_precision_loss, reason = "neither tries nor their levels come to 2^53")]
    let [tries, levels, solved] = [record.tries, record.levels, record.solved].map(|count| count as f64);
    let level = if record.tries == 0 { prior } else { levels / tries };
    // With x = 10^((grade - prior) / 400) and w = 10^((prior - level) / 400), so many are expected to solve it:
    // PRIOR_TRIES / (1 + x) + tries / (1 + w x). That this be as many as did is a quadratic equation in x. Its first
    // coefficient is above 0 and its last below, so it has one root above 0.
    let weight = 10_f64.powf((prior - level) / SCALE);
    let solved = PRIOR_TRIES / 2.0 + solved;
    let square = solved * weight;
    let linear = solved - tries + weight * (solved - PRIOR_TRIES);
    let constant = solved - PRIOR_TRIES - tries;
    let root = (linear * linear - 4.0 * square * constant).sqrt();
    // Of the two forms of the root the one in which nothing cancels out.
    let x = if linear > 0.0 { -2.0 * constant / (linear + root) } else { (root - linear) / (2.0 * square) };
    let points = prior + SCALE * x.log10();
    let bounded = points.clamp(f64::from(*GRADE_RANGE.start()), f64::from(*GRADE_RANGE.end()));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range of grades is positive and small"
    )]
    let grade = bounded.round() as u32;
    grade
}

/// What share of its attempts at a puzzle somebody of a known rating solved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LevelShare {
    /// On the arena's scale, in Elo points.
    pub(crate) rating: f64,
    /// From 0 to 1.
    pub(crate) solved: f64,
}

/// How hard a puzzle is by those who tried it, in Elo points: the grade under which what they did is the most probable,
/// each of them counting once. Who has the rating of the grade knows the answer half the time; who does not know it
/// still has `luck`, the chance to hit it blindly (the three-parameter logistic model of test theory, Birnbaum 1968).
/// What is known of puzzles beforehand keeps the grade of one that nobody or everybody solves within reason.
pub(crate) fn grade_by_levels(shares: &[LevelShare], luck: f64) -> u32 {
    let log_likelihood = |grade: f64| -> f64 {
        let of_level = |share: &LevelShare| {
            let solves = solving(share.rating, grade, luck);
            share.solved * solves.ln() + (1.0 - share.solved) * (1.0 - solves).ln()
        };
        let distance = (grade - USUAL_GRADE) / USUAL_SPREAD;
        shares.iter().map(of_level).sum::<f64>() - distance * distance / 2.0
    };
    let grades = GRADE_RANGE.step_by(GRADE_STEP);
    let likelihoods = grades.map(|grade| (grade, log_likelihood(f64::from(grade))));
    let best = likelihoods.max_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map_or(*GRADE_RANGE.start(), |(grade, _)| grade)
}

/// The chance that somebody of this rating solves a puzzle of this grade, knowing or guessing.
pub(crate) fn solving(rating: f64, grade: f64, luck: f64) -> f64 {
    luck + (1.0 - luck) * expected(rating, grade)
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

/// A level as it is stored and shown: some thousand points at most, and nobody is below 0.
pub(crate) fn whole_points(level: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped before")]
    let points = level.round().clamp(0.0, f64::from(u32::MAX)) as u32;
    points
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
        assert_eq!(prior(&EASY), 907);
        let endless = Features { own_moves: 1_000, plies: 42, ..EASY };
        assert_eq!(prior(&endless), *GRADE_RANGE.end());
        assert!(quality(&Features { was_missed: true, ..EASY }) > quality(&EASY));
    }

    #[test]
    fn a_grade_begins_at_the_prior_and_follows_those_who_try() {
        let record = |tries, solved| TryRecord { tries, levels: 1_000 * tries, solved };
        assert_eq!(grade(1_234, TryRecord::default()), 1_234);
        assert!(grade(1_000, record(1, 0)) > 1_000 && grade(1_000, record(1, 0)) < 1_060);
        assert_eq!(grade(1_000, record(10, 5)), 1_000);
        assert!(grade(700, record(1_000, 500)).abs_diff(1_000) < 5, "the prior fades");
        assert_eq!(grade(1_500, record(1_000_000, 0)), *GRADE_RANGE.end());
        assert_eq!(grade(1_500, record(1_000_000, 1_000_000)), *GRADE_RANGE.start());
    }

    #[test]
    fn a_grade_does_not_drift_as_it_is_tried_by_those_of_its_level() {
        for prior in [600, 1_000, 1_400, 1_800] {
            for tries in [2, 20, 2_000] {
                let record = TryRecord { tries, levels: u64::from(prior) * tries, solved: tries / 2 };
                assert_eq!(grade(prior, record), prior, "after {tries} tries");
            }
        }
        let tried_by =
            |level: u64| grade(1_400, TryRecord { tries: 1_000, levels: 1_000 * level, solved: 500 });
        assert!(tried_by(1_700).abs_diff(1_700) < 5 && tried_by(900).abs_diff(900) < 5, "the prior fades");
    }

    #[test]
    fn what_the_weak_miss_and_the_strong_solve_says_little() {
        let tried = |level: u64, solved| grade(1_400, TryRecord { tries: 20, levels: 20 * level, solved });
        let (missed, solved) = (tried(600, 0), tried(2_200, 20));
        assert!((1_400..1_430).contains(&missed) && (1_370..=1_400).contains(&solved), "{missed} {solved}");
        assert!(tried(600, 5) < 1_100 && tried(2_200, 15) > 1_700, "{} {}", tried(600, 5), tried(2_200, 15));
    }

    #[test]
    fn levels_are_stored_in_whole_points() {
        assert_eq!([849.6, 0.4, -30.0].map(whole_points), [850, 0, 0]);
    }

    /// Of bots with these ratings those with so much or more solve it.
    fn from(rating: f64) -> Vec<LevelShare> {
        let ratings = [0.0, 300.0, 500.0, 700.0, 900.0, 1_100.0, 1_300.0, 1_500.0, 1_700.0];
        ratings.map(|own| LevelShare { rating: own, solved: if own >= rating { 1.0 } else { 0.0 } }).into()
    }

    #[test]
    fn what_nobody_or_everybody_solves_is_at_an_end_but_within_reason() {
        let luck = 1.0 / 7.0;
        let (everybody, nobody) = (grade_by_levels(&from(0.0), luck), grade_by_levels(&from(2_000.0), luck));
        assert!((GRADE_RANGE.start() + 50..500).contains(&everybody), "{everybody}");
        assert!((1_700..GRADE_RANGE.end() - 50).contains(&nobody), "{nobody}");
        assert_eq!(grade_by_levels(&[], luck), 1_200, "of which nothing is known");
    }

    #[test]
    fn a_grade_lies_between_those_who_fail_and_those_who_solve() {
        let grades: Vec<u32> =
            [500.0, 900.0, 1_300.0, 1_700.0].map(|rating| grade_by_levels(&from(rating), 1e-3)).into();
        for (grade, expected) in grades.iter().zip([450_u32, 820, 1_190, 1_560]) {
            assert!(grade.abs_diff(expected) < 120, "{grades:?}");
        }
        assert!(grades.is_sorted_by(|easy, hard| easy < hard));
    }

    #[test]
    fn what_is_hit_by_chance_is_no_sign_of_an_easy_puzzle() {
        let weak = LevelShare { rating: 0.0, solved: 1.0 / 7.0 };
        let with = |luck| grade_by_levels(&[&[weak; 3], &from(1_300.0)[..]].concat(), luck);
        assert!(with(1.0 / 7.0) > with(1e-3), "{} and {}", with(1.0 / 7.0), with(1e-3));
        let half = LevelShare { rating: 1_200.0, solved: 0.5 };
        assert_eq!(grade_by_levels(&[half; 9], 0.0), 1_200);
    }

    #[test]
    fn a_level_moves_with_each_attempt() {
        assert!((level([]) - FIRST_LEVEL).abs() < f64::EPSILON);
        let solved = level([(850, TryResult::Solved)]);
        let failed = level([(850, TryResult::Failed)]);
        assert!((solved - 880.0).abs() < 1e-9 && (failed - 820.0).abs() < 1e-9);
        assert!(level((0..200).map(|_| (1_800, TryResult::Solved))) > 1_900.0);
    }
}
