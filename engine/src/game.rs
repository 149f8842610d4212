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
    pub fn new(variant: Variant) -> Self {
        // Room for every stone: a game that grows its list again and again costs as much as its rules.
        let moves = Vec::with_capacity(usize::from(variant.width()) * usize::from(variant.height()));
        Self { moves, position: Position::new(variant), outcome: None }
    }

    /// Replays a move list such as `44353`; `-` and the empty string are the empty list.
    ///
    /// # Errors
    ///
    /// Fails if the text is no move list or a move breaks the rules.
    pub fn from_moves(variant: Variant, moves: &str) -> Result<Self, ReplayError> {
        let mut game = Self::new(variant);
        let columns = notation::parse_moves(moves).map_err(|error| error.on(variant.width()))?;
        for (column, number) in columns.into_iter().zip(1..) {
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

    /// Each move from the first on, after the position in which it was played.
    pub fn turns(&self) -> impl Iterator<Item = (Position, Column)> {
        self.moves.iter().scan(Position::new(self.variant()), |position, &column| {
            let before = *position;
            *position = before.play_unchecked(column);
            Some((before, column))
        })
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
    Illegal { number: u32, reason: IllegalMove },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_knows_its_winner_and_line() {
        let game = Game::from_moves(Variant::STANDARD, "41424344").unwrap_err();
        assert_eq!(game.to_string(), "move 8 is illegal: the game is over");
        let game = Game::from_moves(Variant::STANDARD, "4142434").unwrap();
        let Some(Outcome::Win { by, line }) = game.outcome() else { panic!("{game:?}") };
        assert_eq!((by.to_string(), line.to_string()), ("first".to_owned(), "d1 d2 d3 d4".to_owned()));
    }

    #[track_caller]
    fn check_refused(moves: &str, message: &str) {
        let error = Game::from_moves(Variant::STANDARD, moves).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn replays_say_which_move_fails_and_why() {
        check_refused("4444444", "move 7 is illegal: column 4 is full");
        check_refused("48", "move 2 is illegal: column 8 is not on a board of 7 columns");
        check_refused("4x", "move 2 is `x`, not a column from 1 to 7");
        let wide = Game::from_moves("10x5".parse().unwrap(), "4x").unwrap_err();
        assert_eq!(wide.to_string(), "move 2 is `x`, not a column from 1 to 10 (a is 10)");
    }

    #[test]
    fn a_taken_back_win_can_be_played_otherwise() {
        let mut game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        assert_eq!(game.undo(), Column::from_number(1));
        assert_eq!(game.outcome(), None);
        game.play(Column::from_number(3).unwrap()).unwrap();
        assert_eq!(game.notation(), "1212123");
        assert_eq!(Game::new(Variant::STANDARD).undo(), None);
    }

    #[test]
    fn a_full_board_without_a_line_is_a_draw() {
        // X O X O
        // X O X O
        // O X O X
        // O X O X
        let game = Game::from_moves("4x4".parse().unwrap(), "2143214312341234").unwrap();
        assert_eq!(game.outcome(), Some(Outcome::Draw));
    }
}
