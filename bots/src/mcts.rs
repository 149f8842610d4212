//! The tree searcher: random games, but where they begin to matter it looks closer.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::rng::{self, PlayoutRng};
use fourfold_engine::search::{SearchLimits, TreeResult, TreeSearch};
use fourfold_engine::{Position, Variant};

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};
use crate::montecarlo::PlayoutLimit;

/// Grows a tree of the moves that do best in random games, and plays the one it tried most.
#[derive(Debug)]
pub(crate) struct Mcts {
    limit: PlayoutLimit,
    seed: u64,
    search: TreeSearch,
}

impl Mcts {
    /// Ends the thinking of a bot with a time limit whose caller never sets the stop flag: about ten seconds.
    const PLAYOUTS_MAX: u64 = 10_000_000;

    pub(crate) fn new(limit: PlayoutLimit, variant: Variant, seed: u64) -> Self {
        Self { limit, seed, search: TreeSearch::new(variant) }
    }
}

impl Bot for Mcts {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let nodes = self.limit.playouts(budget, Self::PLAYOUTS_MAX);
        let mut rng = PlayoutRng::from_rng(&mut rng::for_position(self.seed, position));
        let limits = SearchLimits { nodes: Some(nodes), stop };
        let TreeResult { column, per_mille, playouts, pv } = self.search.search(position, limits, &mut rng);
        let depth = u32::try_from(pv.len()).expect("a game has at most 60 plies");
        Ok(Choice { column, info: Some(SearchInfo { score: per_mille, depth, nodes: playouts, pv }) })
    }

    fn move_time(&self) -> Option<Duration> {
        self.limit.time()
    }

    fn rest(&mut self) {
        self.search.release();
    }

    fn search_bytes(&self) -> usize {
        self.search.bytes()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    fn choose(limit: PlayoutLimit, seed: u64, nodes: Option<u64>, stop: bool) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, "44").unwrap();
        let mut bot = Mcts::new(limit, Variant::STANDARD, seed);
        let budget = MoveBudget { nodes, time: None };
        bot.choose(game.position(), budget, &AtomicBool::new(stop)).unwrap()
    }

    fn playouts(choice: &Choice) -> u64 {
        choice.info.as_ref().unwrap().nodes
    }

    #[test]
    fn the_lesser_of_setting_and_budget_counts() {
        let hundred = PlayoutLimit::Playouts(100);
        for (nodes, expected) in [(Some(10), 10), (Some(1000), 100), (None, 100)] {
            assert_eq!(playouts(&choose(hundred, 1, nodes, false)), expected);
        }
        let unhurried = PlayoutLimit::Time(Duration::from_millis(1));
        assert_eq!(playouts(&choose(unhurried, 1, Some(500), false)), 500);
    }

    #[test]
    fn equal_seeds_choose_alike() {
        let hundred = PlayoutLimit::Playouts(100);
        assert_eq!(choose(hundred, 3, None, false), choose(hundred, 3, None, false));
        assert_ne!(choose(hundred, 3, None, false).info, choose(hundred, 4, None, false).info);
    }

    #[test]
    fn without_a_playout_the_centre_is_played() {
        let choice = choose(PlayoutLimit::Playouts(100), 3, None, true);
        assert_eq!((choice.column.number(), playouts(&choice)), (4, 0));
    }
}
