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
    use super::*;
    use crate::testing::check_choice;

    #[track_caller]
    fn check(moves: &str, expected: u8) {
        check_choice(&mut Stupid, moves, expected);
    }

    #[test]
    fn the_leftmost_open_column_is_played() {
        check("", 1);
        check("111111", 2);
        check("41424", 1); // although column 4 is about to be lost
    }
}
