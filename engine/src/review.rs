//! Judging the moves of a game by exact scores.
//!
//! Pure arithmetic: whoever asks brings the scores of all columns before each move, from the solver or a book, as
//! [`ColumnScores`]. A [`Verdict`] judges one move, a [`Skill`] sums up the verdicts on one player, and a [`Review`] is
//! both for a whole game.

mod exploitation;
mod judge;
mod skill;
mod verdict;
mod worth;

pub use exploitation::{Decisions, Encounter, Exploitation};
pub use judge::Judge;
pub use skill::{PlyBands, Skill};
pub use verdict::{Mistake, Verdict};
pub use worth::Worth;

use crate::board::{BySide, Side};
use crate::game::Game;
use crate::search::{Score, Value};
use crate::solver::ColumnScores;

/// All moves of a game judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Review {
    moves: Vec<Verdict>,
    skill: BySide<Skill>,
}

impl Review {
    /// Judges all moves of a game. `scores` are the scores of all columns before each of its moves.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer scores than moves, or a move that was played has none.
    pub fn new(game: &Game, scores: &[ColumnScores]) -> Self {
        Self::from_ply(game, 0, scores)
    }

    /// Judges the moves of a game from `ply` on, such as those after an opening that was not the players' choice.
    /// `scores` begins with those of the first move that is judged.
    ///
    /// # Panics
    ///
    /// Panics as [`Review::new`] does.
    pub fn from_ply(game: &Game, ply: u32, scores: &[ColumnScores]) -> Self {
        let played = game.moves().iter().skip(ply as usize);
        assert!(scores.len() >= played.len(), "{} scores for {} moves", scores.len(), played.len());
        let judge = |((&column, ply), scores)| Verdict::new(ply, column, scores);
        let moves: Vec<Verdict> = played.zip(ply..).zip(scores).map(judge).collect();
        let mut skill = BySide::<Skill>::default();
        for verdict in &moves {
            skill[verdict.side].add(verdict);
        }
        Self { moves, skill }
    }

    /// The verdict on each move, in order.
    pub fn moves(&self) -> &[Verdict] {
        &self.moves
    }

    /// How well each side played.
    pub fn skill(&self) -> &BySide<Skill> {
        &self.skill
    }

    /// The last move that changed who wins: from then on the result was never again in doubt.
    pub fn turning_point(&self) -> Option<&Verdict> {
        self.moves.iter().rev().find(|verdict| !verdict.keeps_value())
    }

    /// How the game stood for the first side before the first move that is judged, and after each.
    pub fn values_for_first(&self) -> Vec<Value> {
        let for_first = |side: Side, score: Score| match side {
            Side::First => score.sign(),
            Side::Second => -score.sign(),
        };
        let before = self.moves.first().map(|verdict| for_first(verdict.side, verdict.before));
        before
            .into_iter()
            .chain(self.moves.iter().map(|verdict| for_first(verdict.side, verdict.after)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Column, Variant};

    /// Scores of the columns from the left.
    fn scores(numbers: &[i32]) -> ColumnScores {
        let column = |index: usize| Column::from_index(index).unwrap();
        numbers.iter().enumerate().map(|(index, &number)| (column(index), Score::new(number))).collect()
    }

    #[test]
    fn a_game_is_judged_move_by_move() {
        let game = Game::from_moves(Variant::STANDARD, "4121").unwrap();
        let before = [
            scores(&[-2, -1, 0, 1, 0, -1, -2]),    // the centre wins
            scores(&[-4, -2, -2, -1, -2, -2, -4]), // every move loses
            scores(&[3, 0, 0, 2, 0, 0, 0]),        // two columns win
            scores(&[0, 1, -2, -2, -2, -2, -2]),   // one wins
        ];
        let review = Review::new(&game, &before);
        let mistakes: Vec<Option<Mistake>> = review.moves().iter().map(Verdict::mistake).collect();
        let expected = [None, Some(Mistake::FasterLoss), Some(Mistake::WinToDraw), Some(Mistake::WinToDraw)];
        assert_eq!(mistakes, expected);
        assert_eq!(review.turning_point().map(|verdict| verdict.ply), Some(3));
        assert_eq!(review.values_for_first(), [Value::Win, Value::Win, Value::Win, Value::Draw, Value::Draw]);
        assert_eq!(review.skill().first.moves(), 2);
        assert_eq!(review.skill().first.optimal_rate(), Some(0.5));
    }

    #[test]
    fn openings_are_nobodys_merit() {
        let game = Game::from_moves(Variant::STANDARD, "4121").unwrap();
        let review = Review::from_ply(&game, 3, &[scores(&[0, 0, -2, 0, 0, 0, 0])]);
        assert_eq!(review.moves().len(), 1);
        assert_eq!((review.skill().first.moves(), review.skill().second.moves()), (0, 1));
        assert_eq!(review.turning_point(), None);
    }

    #[test]
    fn a_game_without_moves_has_nothing_to_judge() {
        let review = Review::new(&Game::new(Variant::STANDARD), &[]);
        assert!(review.moves().is_empty() && review.values_for_first().is_empty());
        assert_eq!(review.skill().first.accuracy(), None);
    }
}
