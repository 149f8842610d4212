//! The bot without a thought.

use std::sync::atomic::AtomicBool;

use fourfold_engine::Position;

use crate::bot::{Bot, BotError, Choice, MoveBudget};

/// Plays the leftmost legal column.
///
/// From the C4AI readme's companions. It fills column after column, which beats a random player more often
/// than not.
#[derive(Debug)]
pub(crate) struct Stupid;

impl Bot for Stupid {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        _stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        position.legal_columns().next().map(Choice::from).ok_or(BotError::GameOver)
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    #[track_caller]
    fn check(moves: &str, expected: u8) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let choice = Stupid.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false)).unwrap();
        assert_eq!(choice.column.number(), expected);
    }

    #[test]
    fn the_leftmost_open_column_is_played() {
        check("", 1);
        check("111111", 2);
        check("41424", 1); // although column 4 is about to be lost
    }

    #[test]
    fn a_finished_game_is_refused() {
        let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        let choice = Stupid.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false));
        assert_eq!(choice, Err(BotError::GameOver));
    }
}
