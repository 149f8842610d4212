//! The bot that looks at its own move and no further.

use std::sync::atomic::AtomicBool;

use fourfold_engine::Position;
use fourfold_engine::search::eval;

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Plays the move after which its open lines outweigh the opponent's by most; of equal moves the leftmost.
///
/// From the engine-tournament post: no look at threats, so it may build its own line and leave a win to the
/// opponent.
#[derive(Debug)]
pub(crate) struct Greedy;

impl Bot for Greedy {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        _stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        let value_after = |column| -eval::evaluate(&position.play_unchecked(column));
        // `max_by_key` keeps the last of equal maxima, so going from the right keeps the leftmost.
        let moves = position.legal_columns().rev().map(|column| (column, value_after(column)));
        let (column, score) = moves.max_by_key(|&(_, value)| value).ok_or(BotError::GameOver)?;
        let nodes = position.legal_columns().count() as u64;
        Ok(Choice { column, info: Some(SearchInfo { score, depth: 1, nodes, pv: vec![column] }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_choice;

    #[track_caller]
    fn check(moves: &str, expected: u8) {
        check_choice(&mut Greedy, moves, expected);
    }

    #[test]
    fn of_equal_moves_the_leftmost_is_played() {
        check("", 1); // one stone alone is worth nothing anywhere
    }

    #[test]
    fn a_win_is_taken() {
        check("717273", 7);
    }

    #[test]
    fn a_threat_is_not_seen() {
        // X . . . . . .   Second gains more by three in a row than by breaking the column, and loses.
        // X . . . . . .
        // X . O O . . .
        check("13141", 5);
    }
}
