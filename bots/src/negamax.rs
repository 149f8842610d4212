//! The classic: negamax to a fixed depth over open lines.

use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{ColumnOrder, Negamax, SearchLimits, TieBreak, eval};
use fourfold_engine::{Position, Variant, rng};

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Which of equally good moves is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ties {
    /// The rightmost, as the author had it.
    Rightmost,
    /// Any, all equally likely, but a win at once if there is one: no two games are alike.
    Random {
        /// Equal seeds choose alike in equal positions.
        seed: u64,
    },
}

/// Looks `depth` plies ahead.
///
/// From the engine-tournament post, whose program searches without cutoffs and keeps the last of equal
/// maxima. Ours cuts off and gets ready for a stop by looking one ply ahead, then two and so on, but ends
/// with the same choice. Quicker wins are not preferred, so it may dally in a won game.
#[derive(Debug)]
pub(crate) struct ClassicNegamax {
    /// Plies, at least 1.
    depth: u32,
    ties: Ties,
    /// All wins are alike, as in the original.
    search: Negamax<eval::OpenLines>,
}

impl ClassicNegamax {
    pub(crate) fn new(depth: u32, ties: Ties, variant: Variant) -> Self {
        let search = Negamax {
            valuation: eval::OpenLines,
            guide: ColumnOrder::centre_first(variant),
            ties: match ties {
                Ties::Rightmost => TieBreak::Rightmost,
                Ties::Random { .. } => TieBreak::FirstSearched,
            },
        };
        Self { depth, ties, search }
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
        if let Ties::Random { seed } = self.ties {
            if let Some(column) = position.winning_columns().next() {
                let info = SearchInfo { score: eval::FULL_LINE, depth: 1, nodes: 1, pv: vec![column] };
                return Ok(Choice { column, info: Some(info) });
            }
            // The first of equal moves is kept, so in a random order it is a random one.
            self.search.guide =
                ColumnOrder::shuffled(position.variant(), &mut rng::for_position(seed, position));
        }
        let found = self.search.deepen(position, 1..=self.depth, SearchLimits { nodes: budget.nodes, stop });
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Ok(Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fourfold_engine::Game;

    use super::*;

    fn choose(depth: u32, moves: &str) -> Choice {
        choose_with(Ties::Rightmost, depth, moves)
    }

    fn choose_with(ties: Ties, depth: u32, moves: &str) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut bot = ClassicNegamax::new(depth, ties, Variant::STANDARD);
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
    fn ties_at_random_choose_among_equal_moves_and_no_others() {
        let choices = |depth, moves| {
            (0..60)
                .map(|seed| choose_with(Ties::Random { seed }, depth, moves).column.number())
                .collect::<BTreeSet<u8>>()
        };
        assert_eq!(choices(1, "").len(), 7, "one stone alone is worth nothing anywhere");
        assert_eq!(choices(2, "12121"), [1].into(), "one parry");
        let choice = |seed| choose_with(Ties::Random { seed }, 3, "4455").column;
        assert_eq!(choice(7), choice(7));
    }

    #[test]
    fn ties_at_random_take_a_win_at_once() {
        // X X X . . on the floor, open at both ends: a quiet move would still win, later.
        for seed in 0..20 {
            let choice = choose_with(Ties::Random { seed }, 4, "223344").column.number();
            assert!(choice == 1 || choice == 5, "{choice}");
        }
    }

    #[test]
    fn a_node_budget_ends_the_search_at_a_lesser_depth() {
        let position = Position::new(Variant::STANDARD);
        let budget = MoveBudget { nodes: Some(1000), time: None };
        let mut bot = ClassicNegamax::new(12, Ties::Rightmost, Variant::STANDARD);
        let choice = bot.choose(&position, budget, &AtomicBool::new(false)).unwrap();
        let info = choice.info.unwrap();
        assert_eq!(info.nodes, 1000);
        assert!((2..12).contains(&info.depth), "{info:?}");
    }

    #[test]
    fn a_finished_game_is_refused() {
        let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        let mut bot = ClassicNegamax::new(4, Ties::Rightmost, Variant::STANDARD);
        let choice = bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false));
        assert_eq!(choice, Err(BotError::GameOver));
    }
}
