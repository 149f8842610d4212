//! What a solver says about a position.

use crate::board::{Column, Variant};
use crate::search::Score;

/// An answer, and what it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solved<T> {
    pub value: T,
    /// Positions that were expanded: the same number in every run that starts from the same table on one thread.
    pub nodes: u64,
}

impl<T> Solved<T> {
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Solved<U> {
        Solved { value: convert(self.value), nodes: self.nodes }
    }
}

/// The limits ended the search before the answer was known; this much was proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the search was interrupted: the score is from {lower} to {upper}")]
pub struct Unsolved {
    /// The score is at least this.
    pub lower: Score,
    /// The score is at most this.
    pub upper: Score,
    /// Positions that were expanded.
    pub nodes: u64,
}

/// The score of each legal move of one position, for the side that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ColumnScores {
    scores: [Option<Score>; Variant::MAX_WIDTH as usize],
}

impl ColumnScores {
    /// The score of playing `column`; `None` if it cannot be played.
    pub fn get(&self, column: Column) -> Option<Score> {
        self.scores[column.index()]
    }

    /// The score of the position; `None` if the game is over.
    pub fn best(&self) -> Option<Score> {
        self.scores.iter().flatten().max().copied()
    }

    /// The columns that reach [`ColumnScores::best`], from the left.
    pub fn best_columns(&self) -> impl Iterator<Item = Column> + use<'_> {
        let best = self.best();
        self.iter().filter(move |&(_, score)| Some(score) == best).map(|(column, _)| column)
    }

    /// The legal columns with their scores, from the left.
    pub fn iter(&self) -> impl Iterator<Item = (Column, Score)> + use<'_> {
        let scored = |(index, score): (usize, &Option<Score>)| Some((Column::from_index(index)?, (*score)?));
        self.scores.iter().enumerate().filter_map(scored)
    }
}

impl FromIterator<(Column, Score)> for ColumnScores {
    fn from_iter<I: IntoIterator<Item = (Column, Score)>>(scored: I) -> Self {
        let mut all = Self::default();
        for (column, score) in scored {
            all.scores[column.index()] = Some(score);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_columns_are_named_from_the_left() {
        let column = |number| Column::from_number(number).unwrap();
        let rows = [(2, -3), (4, 1), (5, 0), (7, 1)];
        let scores: ColumnScores =
            rows.map(|(number, score)| (column(number), Score::new(score))).into_iter().collect();
        assert_eq!(scores.best(), Some(Score::new(1)));
        assert_eq!(scores.best_columns().collect::<Vec<_>>(), [column(4), column(7)]);
        assert_eq!(scores.get(column(2)), Some(Score::new(-3)));
        assert_eq!(scores.get(column(1)), None);
        assert_eq!(ColumnScores::default().best(), None);
    }
}
