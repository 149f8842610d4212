//! What the grades of many puzzles look like beside other things that are known of them.

use std::fmt::{self, Display, Formatter};

use crate::app::terminal::output;
use crate::storage::puzzles::NewPuzzle;
use crate::study::puzzles::grading::solving;
use crate::study::puzzles::themes::{Theme, themes};
use crate::study::puzzles::trial::{Trial, TrialBot};

/// A puzzle that bots have graded.
pub(super) struct GradedPuzzle {
    /// With the grade that it had before.
    pub(super) puzzle: NewPuzzle,
    pub(super) trial: Trial,
    /// Plies of the win, by the solver.
    pub(super) win_plies: Option<u32>,
}

/// All figures, as they are printed.
pub(super) struct Figures<'a> {
    bots: &'a [TrialBot],
    puzzles: &'a [GradedPuzzle],
}

impl<'a> Figures<'a> {
    pub(super) fn of(bots: &'a [TrialBot], puzzles: &'a [GradedPuzzle]) -> Self {
        Self { bots, puzzles }
    }

    /// Of a bot: its rating, attempts at each puzzle, and the shares that it began right, solved, and should solve.
    fn row(&self, place: usize, bot: &TrialBot) -> [String; 6] {
        let records = || self.puzzles.iter().map(|graded| graded.trial.records[place]);
        let share = |of: &dyn Fn(&crate::study::puzzles::trial::TrialRecord) -> u32| {
            mean(records().map(|record| f64::from(of(&record)) / f64::from(record.tries)))
        };
        let expected = self.puzzles.iter().map(|GradedPuzzle { trial, .. }| {
            solving(f64::from(bot.rating), f64::from(trial.grade), trial.luck)
        });
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        [
            bot.name.to_owned(),
            bot.rating.to_string(),
            bot.tries.to_string(),
            percent(share(&|record| record.begun)),
            percent(share(&|record| record.solved)),
            percent(mean(expected)),
        ]
    }

    fn spread(&self, name: &str, is_meant: impl Fn(&NewPuzzle) -> bool) -> [String; 5] {
        let meant = self.puzzles.iter().filter(|graded| is_meant(&graded.puzzle));
        let mut grades: Vec<u32> = meant.map(|graded| graded.trial.grade).collect();
        grades.sort_unstable();
        let at =
            |tenth: usize| grades.get(grades.len() * tenth / 10).map_or_else(String::new, u32::to_string);
        [name.to_owned(), grades.len().to_string(), at(1), at(5), at(9)]
    }

    /// How the grades go with something else, over the puzzles of which that is known.
    fn agreement(&self, what: &str, of: impl Fn(&GradedPuzzle) -> Option<f64>) -> [String; 3] {
        let pairs: Vec<(f64, f64)> = self
            .puzzles
            .iter()
            .filter_map(|graded| Some((f64::from(graded.trial.grade), of(graded)?)))
            .collect();
        let correlation = rank_correlation(&pairs);
        let figure = correlation.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.2}"));
        [what.to_owned(), pairs.len().to_string(), figure]
    }
}

/// The name of a theme in a table.
fn name(theme: Theme) -> &'static str {
    match theme {
        Theme::Fork => "fork",
        Theme::OnlyDefence => "only defence",
        Theme::OddThreat => "waiting threat",
        Theme::Sacrifice => "sacrifice",
        Theme::LongWin => "long win",
    }
}

impl Display for Figures<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut write_table = |head: &[&str], rows: Vec<Vec<String>>| -> fmt::Result {
            output::align(head, &rows).into_iter().try_for_each(|line| writeln!(f, "{line}"))?;
            writeln!(f)
        };
        let bots = self.bots.iter().enumerate().map(|(place, bot)| self.row(place, bot).to_vec());
        let head = ["bot", "Elo", "tries", "first move", "solved", "by the grades"];
        write_table(&head, bots.collect())?;
        let of_theme =
            |theme: Theme| self.spread(name(theme), |puzzle| themes(puzzle).contains(&theme)).to_vec();
        let all = self.spread("all", |_| true).to_vec();
        let spreads = Theme::ALL.into_iter().map(of_theme).chain([all]);
        write_table(&["theme", "puzzles", "10 %", "50 %", "90 %"], spreads.collect())?;
        let agreements = [
            self.agreement("the grade before", |graded| Some(f64::from(graded.puzzle.prior))),
            self.agreement("plies of the win", |graded| graded.win_plies.map(f64::from)),
            self.agreement("plies of the solution", |graded| length(&graded.puzzle)),
        ];
        let agreements = agreements.map(|row| row.to_vec()).to_vec();
        write_table(&["rank correlation with", "puzzles", "rho"], agreements)
    }
}

fn length(puzzle: &NewPuzzle) -> Option<f64> {
    u32::try_from(puzzle.line.len()).ok().map(f64::from)
}

#[expect(clippy::cast_precision_loss, reason = "there are no 2^53 puzzles")]
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0_usize), |(sum, count), number| (sum + number, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// Spearman's: the correlation of the ranks, equal ones sharing the mean of theirs. `None` where one side is all alike.
fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let one = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let other = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = mean(one.iter().copied());
    let covered = |a: &[f64], b: &[f64]| mean(a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)));
    let scale = (covered(&one, &one) * covered(&other, &other)).sqrt();
    (scale > 0.0).then(|| covered(&one, &other) / scale)
}

/// The rank of each number, from 0.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0_u32;
    for equal in order.chunk_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).is_eq()) {
        let count = u32::try_from(equal.len()).unwrap_or(u32::MAX);
        for &place in equal {
            ranks[place] = f64::from(before) + f64::from(count - 1) / 2.0;
        }
        before += count;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pairs: &[(f64, f64)], expected: Option<f64>) {
        let found = rank_correlation(pairs);
        let is_near = found.zip(expected).is_some_and(|(found, expected)| (found - expected).abs() < 1e-9);
        assert!(is_near || found == expected, "{found:?}");
    }

    #[test]
    fn ranks_agree_whatever_the_distances() {
        check(&[(1.0, 10.0), (2.0, 1_000.0), (3.0, 1_001.0)], Some(1.0));
        check(&[(1.0, 9.0), (2.0, 4.0), (3.0, 1.0)], Some(-1.0));
        check(&[(1.0, 5.0), (2.0, 5.0)], None);
        check(&[], None);
    }

    #[test]
    fn equal_numbers_share_their_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    }
}
