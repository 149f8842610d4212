//! How a perfect player is made to err like people do.
//!
//! Whoever plays at a level sees what a move leads to only if it is near. A move that loses in two plies is noticed by
//! almost everybody, one that loses in thirty by nobody without a solver: how hard a position is, is how far away the
//! consequences are. So each column is judged by itself:
//!
//! - With perfect play after it, the game ends in `d` plies. The level sees that with probability
//!   1 / (1 + e^((d - h) / s)): surely if `d` is far below its horizon `h`, hardly if it is far beyond.
//! - What it sees has its exact score. What it does not see looks open, like a draw.
//! - Of the columns that look best one is drawn, those near the centre more often.
//!
//! Level 1 may overlook four in a row; each further level looks about two plies further; level 20 hardly ever errs.
//! The chances are drawn from the seed and the position: in an equal position a bot errs alike.

use fourfold_engine::rng::GameRng;
use fourfold_engine::solver::{ColumnScores, Score};
use fourfold_engine::{Column, Position};
use rand::RngExt;
use rand::seq::IndexedRandom;

/// How well somebody plays, from 1 to [`Level::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(u32);

impl Level {
    /// The highest one.
    pub const MAX: u32 = 20;

    /// Plies that a level sees further than the one below.
    const PLIES_PER_LEVEL: f64 = 2.0;

    /// How blurred the horizon is, in plies: at this distance from it the odds are e to one.
    const BLUR: f64 = 1.5;

    /// `None` beyond 1 to [`Level::MAX`].
    pub fn new(level: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&level).then_some(Self(level))
    }

    /// A column as somebody of this level would choose it; `None` if the game is over.
    pub fn choose(self, position: &Position, scores: &ColumnScores, rng: &mut GameRng) -> Option<Column> {
        // Every column takes its chance, in order, so that one does not depend on another's score.
        let looks: Vec<(Column, Score)> =
            scores.iter().map(|(column, score)| (column, self.look(position, score, rng.random()))).collect();
        let best = looks.iter().map(|(_, score)| *score).max()?;
        let candidates: Vec<Column> =
            looks.into_iter().filter(|(_, score)| *score == best).map(|(column, _)| column).collect();
        let width = usize::from(position.variant().width());
        let weight = |column: &Column| lines_through(column.index(), width);
        candidates.choose_weighted(rng, weight).ok().copied()
    }

    /// How likely it plays a column that is worth less than the best one, win, draw or loss.
    pub fn chance_to_err(self, position: &Position, scores: &ColumnScores) -> f64 {
        let Some(best) = scores.best().map(Score::sign) else { return 0.0 };
        let width = usize::from(position.variant().width());
        let replies: Vec<(Column, Score, f64)> = scores
            .iter()
            .map(|(column, score)| (column, score, self.chance_to_see(score.plies_to_end(position))))
            .collect();
        // Each reply is seen or not: all that may happen, with how likely it does.
        let happens = |seen: u32| -> f64 {
            let chances = replies.iter().enumerate();
            chances
                .map(|(index, &(_, _, chance))| if seen >> index & 1 == 1 { chance } else { 1.0 - chance })
                .product()
        };
        let errs = |seen: u32| -> f64 {
            let look = |index: usize| if seen >> index & 1 == 1 { replies[index].1 } else { Score::DRAW };
            let tempting = (0..replies.len()).map(look).max();
            let (mut all, mut wrong) = (0, 0);
            for (index, &(column, score, _)) in replies.iter().enumerate() {
                if Some(look(index)) == tempting {
                    let weight = lines_through(column.index(), width);
                    all += weight;
                    wrong += if score.sign() < best { weight } else { 0 };
                }
            }
            f64::from(wrong) / f64::from(all)
        };
        (0..1 << replies.len()).map(|seen| happens(seen) * errs(seen)).sum()
    }

    /// What the score of a column looks like, given a draw from 0 to 1.
    fn look(self, position: &Position, score: Score, drawn: f64) -> Score {
        let plies = score.plies_to_end(position);
        if drawn < self.chance_to_see(plies) { score } else { Score::DRAW }
    }

    /// The probability of seeing what is so many plies away.
    fn chance_to_see(self, plies: u32) -> f64 {
        let horizon = Self::PLIES_PER_LEVEL * f64::from(self.0);
        1.0 / (1.0 + ((f64::from(plies) - horizon) / Self::BLUR).exp())
    }
}

/// Places of a row's lines that a column is part of, at most four: the centre's attraction for those who see nothing.
fn lines_through(index: usize, width: usize) -> u32 {
    let from_edge = index.min(width - 1 - index);
    u32::try_from(from_edge + 1).unwrap_or(1).min(4)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant, rng};

    use super::*;

    /// The share of draws in which a level plays one of the best of these columns' scores.
    fn share_of_best(level: u32, scores: [i32; 7]) -> f64 {
        let game = Game::from_moves(Variant::STANDARD, "4455667").unwrap();
        let column = |index: usize| Column::from_index(index).unwrap();
        let scores: ColumnScores =
            scores.iter().enumerate().map(|(index, &score)| (column(index), Score::new(score))).collect();
        let rng = &mut rng::seeded(5);
        let level = Level::new(level).unwrap();
        let best = (0..2000).map(|_| {
            let chosen = level.choose(game.position(), &scores, rng).unwrap();
            f64::from(u32::from(scores.best_columns().any(|column| column == chosen)))
        });
        best.sum::<f64>() / 2000.0
    }

    #[test]
    fn near_consequences_are_seen_before_far_ones() {
        let level = Level::new(5).unwrap();
        assert!(level.chance_to_see(1) > 0.99 && level.chance_to_see(30) < 0.01);
        let chances: Vec<f64> = (0..42).map(|plies| level.chance_to_see(plies)).collect();
        assert!(chances.is_sorted_by(|near, far| near >= far));
    }

    #[test]
    fn higher_levels_err_less() {
        let far = [-3, -3, 0, 2, 0, -3, -3];
        let shares: Vec<f64> = (1..=Level::MAX).map(|level| share_of_best(level, far)).collect();
        assert!(shares.windows(2).all(|pair| pair[1] > pair[0] - 0.05), "{shares:?}");
        assert!(shares[0] < 0.35 && shares[19] > 0.95, "{shares:?}");
    }

    #[test]
    fn even_low_levels_take_most_wins_at_hand() {
        assert!(share_of_best(3, [-2, -2, 18, -2, -2, -2, -2]) > 0.9);
    }

    #[test]
    fn levels_run_from_one_to_twenty() {
        assert_eq!((Level::new(0), Level::new(21)), (None, None));
        assert!(Level::new(1).is_some() && Level::new(20).is_some());
    }
}
