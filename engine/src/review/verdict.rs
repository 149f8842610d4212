//! The verdict on one move.

use crate::board::{Column, Side};
use crate::search::{Score, Value};
use crate::solver::ColumnScores;

/// What a move was worth beside what could be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Stones on the board before the move.
    pub ply: u32,
    pub side: Side,
    pub column: Column,
    /// The score of the position, for the side that moved: that of the best columns.
    pub before: Score,
    /// The score of what was played, for the same side.
    pub after: Score,
    /// The columns of the best score, from the left.
    pub best: Vec<Column>,
    /// Whether there was a choice: some legal move would have thrown away the position's value.
    pub is_decision: bool,
}

impl Verdict {
    /// Judges a move after `ply` others by the scores of all columns.
    ///
    /// # Panics
    ///
    /// Panics if `column` has no score.
    pub fn new(ply: u32, column: Column, scores: &ColumnScores) -> Self {
        let after = scores.get(column).expect("what was played has a score");
        let before = scores.best().expect("there is a score");
        Self {
            ply,
            side: Side::to_move_at(ply),
            column,
            before,
            after,
            best: scores.best_columns().collect(),
            is_decision: scores.iter().any(|(_, score)| score.sign() != before.sign()),
        }
    }

    /// Whether the position was worth as much after the move: a win, a draw or a loss.
    pub fn keeps_value(&self) -> bool {
        self.before.sign() == self.after.sign()
    }

    /// Whether no other move was better, not even by winning sooner or losing later.
    pub fn is_optimal(&self) -> bool {
        self.before == self.after
    }

    /// How much score the move gave away, 0 for a best one. Scores are counted in one's own stones.
    pub fn loss(&self) -> u32 {
        self.before.value().abs_diff(self.after.value())
    }

    /// What was wrong with the move; `None` if nothing was.
    pub fn mistake(&self) -> Option<Mistake> {
        if self.is_optimal() {
            return None;
        }
        // No move is better than the best, so of nine pairs three cannot be, and draws differ in nothing.
        match (self.before.sign(), self.after.sign()) {
            (Value::Win, Value::Win) => Some(Mistake::SlowerWin),
            (Value::Win, Value::Draw) => Some(Mistake::WinToDraw),
            (Value::Win, Value::Loss) => Some(Mistake::WinToLoss),
            (Value::Draw, Value::Loss) => Some(Mistake::DrawToLoss),
            (Value::Loss, Value::Loss) => Some(Mistake::FasterLoss),
            (Value::Draw | Value::Loss, Value::Draw | Value::Win) => None,
        }
    }
}

/// What is wrong with a move that is not the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mistake {
    /// It gave away a win and lost.
    WinToLoss,
    /// It gave away a win.
    WinToDraw,
    /// It gave away a draw.
    DrawToLoss,
    /// It wins later than it could.
    SlowerWin,
    /// It loses sooner than it must.
    FasterLoss,
}

impl Mistake {
    /// Whether it changed who wins.
    pub fn is_blunder(self) -> bool {
        match self {
            Self::WinToLoss | Self::WinToDraw | Self::DrawToLoss => true,
            Self::SlowerWin | Self::FasterLoss => false,
        }
    }

    /// The label in words that programs read: `win_to_draw`.
    pub fn word(self) -> &'static str {
        match self {
            Self::WinToLoss => "win_to_loss",
            Self::WinToDraw => "win_to_draw",
            Self::DrawToLoss => "draw_to_loss",
            Self::SlowerWin => "slower_win",
            Self::FasterLoss => "faster_loss",
        }
    }
}

/// Prints the label for people: `win to draw`.
impl std::fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::WinToLoss => "win to loss",
            Self::WinToDraw => "win to draw",
            Self::DrawToLoss => "draw to loss",
            Self::SlowerWin => "slower win",
            Self::FasterLoss => "faster loss",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column 1 is played and has the score `after`; column 2 has `best`.
    #[track_caller]
    fn check(after: i32, best: i32, mistake: Option<Mistake>, loss: u32) {
        let column = |number| Column::from_number(number).unwrap();
        let scores: ColumnScores =
            [(column(1), Score::new(after)), (column(2), Score::new(best))].into_iter().collect();
        let verdict = Verdict::new(6, column(1), &scores);
        assert_eq!((verdict.mistake(), verdict.loss()), (mistake, loss));
        assert_eq!(verdict.is_decision, after.signum() != best.signum());
        assert_eq!(verdict.keeps_value(), !mistake.is_some_and(Mistake::is_blunder));
        assert_eq!(verdict.is_optimal(), verdict.best.contains(&column(1)));
    }

    #[test]
    fn mistakes_are_named_by_what_they_give_away() {
        check(5, 5, None, 0);
        check(2, 5, Some(Mistake::SlowerWin), 3);
        check(0, 5, Some(Mistake::WinToDraw), 5);
        check(-1, 5, Some(Mistake::WinToLoss), 6);
        check(0, 0, None, 0);
        check(-7, 0, Some(Mistake::DrawToLoss), 7);
        check(-7, -2, Some(Mistake::FasterLoss), 5);
        check(-2, -2, None, 0);
    }
}
