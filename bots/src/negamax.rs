//! The classic: negamax to a fixed depth over open lines.

use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{ColumnOrder, Limits, Negamax, TieBreak, Valuation, eval};
use fourfold_engine::{Position, Variant};

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Looks `depth` plies ahead; of equal moves it plays the rightmost.
///
/// From the engine-tournament post, whose program searches without cutoffs and keeps the last of equal
/// maxima. Ours cuts off and gets ready for a stop by looking one ply ahead, then two and so on, but ends
/// with the same choice. Quicker wins are not preferred, so it may dally in a won game.
#[derive(Debug)]
pub(crate) struct ClassicNegamax {
    /// Plies, at least 1.
    depth: u32,
    search: Negamax<OpenLines>,
}

impl ClassicNegamax {
    pub(crate) fn new(depth: u32, variant: Variant) -> Self {
        let guide = ColumnOrder::centre_first(variant);
        Self { depth, search: Negamax { valuation: OpenLines, guide, ties: TieBreak::Rightmost } }
    }
}

impl Bot for ClassicNegamax {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let found = self.search.deepen(position, 1..=self.depth, Limits { nodes: budget.nodes, stop });
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Ok(Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }
}

/// Values a position by its open lines. All wins are alike, as in the original.
#[derive(Debug)]
struct OpenLines;

impl Valuation for OpenLines {
    fn horizon(&mut self, position: &Position) -> i32 {
        eval::evaluate(position)
    }

    fn loss(&self, _position: &Position) -> i32 {
        -eval::FULL_LINE
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    fn choose(depth: u32, moves: &str) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut bot = ClassicNegamax::new(depth, Variant::STANDARD);
        bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false)).unwrap()
    }

    #[track_caller]
    fn check(depth: u32, moves: &str, expected: u8) {
        assert_eq!(choose(depth, moves).column.number(), expected);
    }

    #[test]
    fn wins_are_taken_and_threats_parried() {
        check(1, "121213", 1);
        check(2, "12121", 1);
        // O . . . . . .   First threatens to make a row of three with both ends open.
        // O . . X X . .
        check(4, "41415", 6);
    }

    #[test]
    fn of_equal_moves_the_rightmost_is_played() {
        check(1, "", 7); // one stone alone is worth nothing anywhere
    }

    #[test]
    fn a_node_budget_ends_the_search_at_a_lesser_depth() {
        let position = Position::new(Variant::STANDARD);
        let budget = MoveBudget { nodes: Some(1000), time: None };
        let mut bot = ClassicNegamax::new(12, Variant::STANDARD);
        let choice = bot.choose(&position, budget, &AtomicBool::new(false)).unwrap();
        let info = choice.info.unwrap();
        assert_eq!(info.nodes, 1000);
        assert!((2..12).contains(&info.depth), "{info:?}");
    }

    #[test]
    fn a_finished_game_is_refused() {
        let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        let mut bot = ClassicNegamax::new(4, Variant::STANDARD);
        let choice = bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false));
        assert_eq!(choice, Err(BotError::GameOver));
    }
}
