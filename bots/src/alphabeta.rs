//! What a strong hobby engine is today: iterative deepening with a table, threats, and zugzwang in mind.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::search::{
    Negamax, Reuse, SearchLimits, Table, Tactics, ThreatGuide, TieBreak, Valuation, eval, is_settled, win_at,
};
use fourfold_engine::{Position, Variant};

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Ends the thinking if the caller never sets the stop flag: about ten seconds.
const NODES_MAX: u64 = 50_000_000;

/// Looks as deep as time allows, one ply further each time, and stops when it sees how the game ends.
#[derive(Debug)]
pub(crate) struct AlphaBeta {
    depth: u32,
    time: Duration,
    search: Negamax<Prospects, ThreatGuide>,
}

impl AlphaBeta {
    pub(crate) fn new(depth: u32, time: Duration, variant: Variant) -> Self {
        let guide = ThreatGuide::new(variant, Table::new(Table::DEFAULT_SLOTS, Reuse::DeeperToo));
        let search = Negamax { valuation: Prospects, guide, ties: TieBreak::FirstSearched };
        Self { depth, time, search }
    }
}

impl Bot for AlphaBeta {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        // What it found before would make it stronger, but its choices depend on more than the position.
        self.search.guide.table.clear();
        let nodes = budget.nodes.map_or(NODES_MAX, |nodes| nodes.min(NODES_MAX));
        let found = self.search.deepen(position, 1..=self.depth, SearchLimits { nodes: Some(nodes), stop });
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Ok(Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }

    fn move_time(&self) -> Option<Duration> {
        Some(self.time)
    }

    fn rest(&mut self) {
        self.search.guide.table.release();
    }

    fn search_bytes(&self) -> usize {
        self.search.guide.table.bytes()
    }
}

/// Values positions by lines and by what threats promise for the end of the game.
#[derive(Debug)]
struct Prospects;

impl Valuation for Prospects {
    /// Plays on while there is no choice, so that no value is taken in the middle of an exchange.
    fn horizon(&mut self, position: &Position) -> i32 {
        let mut position = *position;
        let mut sign = 1;
        loop {
            if position.is_full() {
                return 0;
            }
            match Tactics::of(&position) {
                Tactics::Win(_) => return sign * win_at(position.ply() + 1),
                Tactics::Lost(_) => return -sign * win_at(position.ply() + 2),
                Tactics::Safe(cells) if cells.count() > 1 => {
                    return sign * eval::evaluate_with_parity(&position);
                }
                Tactics::Safe(cells) => {
                    let cell = cells.cells(position.variant()).next().expect("there is one");
                    position = position.play_unchecked(cell.column());
                    sign = -sign;
                }
            }
        }
    }

    fn loss(&self, position: &Position) -> i32 {
        -win_at(position.ply())
    }

    fn is_settled(&self, value: i32) -> bool {
        is_settled(value)
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    fn choose(moves: &str, nodes: u64) -> Choice {
        choose_on(Variant::STANDARD, moves, nodes)
    }

    fn choose_on(variant: Variant, moves: &str, nodes: u64) -> Choice {
        let game = Game::from_moves(variant, moves).unwrap();
        let mut bot = AlphaBeta::new(variant.cells(), Duration::from_millis(100), variant);
        let budget = MoveBudget { nodes: Some(nodes), time: None };
        bot.choose(game.position(), budget, &AtomicBool::new(false)).unwrap()
    }

    #[track_caller]
    fn check(moves: &str, nodes: u64, expected: u8) {
        assert_eq!(choose(moves, nodes).column.number(), expected);
    }

    #[test]
    fn wins_are_taken_and_threats_parried() {
        check("121213", 100, 1);
        check("12121", 100, 1);
    }

    #[test]
    fn the_empty_board_is_opened_in_the_centre() {
        check("", 20_000, 4);
    }

    #[test]
    fn of_wins_the_quickest_is_played_and_of_losses_the_latest() {
        let quick = choose("4455", 10_000).info.unwrap();
        assert_eq!(quick.score, win_at(7), "3 or 6, and then on either side");
        let late = choose("44553", 10_000);
        assert_eq!(late.info.unwrap().score, -win_at(7));
    }

    #[test]
    fn a_settled_search_ends_early() {
        let info = choose("4455", 1_000_000).info.unwrap();
        assert!(info.nodes < 1000, "{info:?}");
    }

    #[test]
    fn the_end_of_the_game_is_seen_as_it_is() {
        // Twelve cells are left, and all moves are seen to the end.
        let info = choose_on("4x4".parse().unwrap(), "2143", 100_000).info.unwrap();
        assert_eq!(info.score, 0);
        assert!(info.depth <= 12 && info.nodes < 100_000, "{info:?}");
    }
}
