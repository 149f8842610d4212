//! The moves of a game, and what they lead to.

use crate::board::{Column, IllegalMove, Outcome, Position, Variant};
use crate::notation::{self, MovesError};

/// A game as its moves; position and outcome follow from them and are kept beside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    moves: Vec<Column>,
    position: Position,
    outcome: Option<Outcome>,
}

impl Game {
    /// A game before its first move.
    #[must_use]
    pub fn new(variant: Variant) -> Self {
        Self { moves: Vec::new(), position: Position::new(variant), outcome: None }
    }

    /// Replays a move list such as `44353`; `-` and the empty string are the empty list.
    ///
    /// # Errors
    ///
    /// Fails if the text is no move list or a move breaks the rules.
    pub fn from_moves(variant: Variant, moves: &str) -> Result<Self, ReplayError> {
        let mut game = Self::new(variant);
        for (column, number) in notation::parse_moves(moves)?.into_iter().zip(1..) {
            game.play(column).map_err(|reason| ReplayError::Illegal { number, reason })?;
        }
        Ok(game)
    }

    /// Plays a stone for the side to move and says how the game ended, if it did.
    ///
    /// # Errors
    ///
    /// Fails if the game is over, or the column is full or not on the board; the game is then unchanged.
    pub fn play(&mut self, column: Column) -> Result<Option<Outcome>, IllegalMove> {
        self.position = self.position.play(column)?;
        self.moves.push(column);
        self.outcome = self.position.outcome();
        Ok(self.outcome)
    }

    /// Takes back the last move and returns it; `None` before the first.
    pub fn undo(&mut self) -> Option<Column> {
        let column = self.moves.pop()?;
        self.position = self.position.take_back_unchecked(column);
        self.outcome = None; // nothing is played after the end, so before any move the game was not over
        Some(column)
    }

    pub fn variant(&self) -> Variant {
        self.position.variant()
    }

    /// The moves from the first on.
    pub fn moves(&self) -> &[Column] {
        &self.moves
    }

    /// Number of moves played.
    pub fn ply(&self) -> u32 {
        self.position.ply()
    }

    /// The position after all moves.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How the game ended; `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// The moves as a list such as `44353`, empty before the first.
    #[must_use]
    pub fn notation(&self) -> String {
        notation::print_moves(&self.moves)
    }
}

/// Why a move list is no game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Unreadable(#[from] MovesError),
    // The reason is part of the message and so no `#[source]`: a chain of causes would say it twice.
    #[error("move {number} is illegal: {reason}")]
    Illegal {
        /// Counted from 1.
        number: u32,
        reason: IllegalMove,
    },
}
