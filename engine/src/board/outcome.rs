//! How a game ended on the board.

use super::{Line, Side};

/// The end of a game by the rules of the board. "Not over" is `Option::None`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// `by` has a line. If the last stone completed several, `line` is the one that
    /// [`super::Bitboard::find_line`] names.
    Win { by: Side, line: Line },
    /// The board is full and nobody has a line.
    Draw,
}

impl Outcome {
    /// The side that won, if any.
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Win { by, line: _ } => Some(by),
            Self::Draw => None,
        }
    }
}
