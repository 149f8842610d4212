//! The bot that trusts to chance: many random games, and the move that did best in them.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::playout::play_out;
use fourfold_engine::rng::{self, PlayoutRng};
use fourfold_engine::search::{NodeCounter, SearchLimits};
use fourfold_engine::{Column, Position, Side};

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Plays random games, each begun with a legal move drawn at random, and plays the move with the best mean
/// result; of equal moves the leftmost.
///
/// From the C4AI readme's companions. No tree grows: it expects its opponent to play at random too, and so
/// walks into traps that only one reply springs.
#[derive(Debug)]
pub(crate) struct MonteCarlo {
    limit: PlayoutLimit,
    seed: u64,
}

/// What ends the playouts of a move, besides the caller's budget and stop flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PlayoutLimit {
    Playouts(u64),
    /// The caller sets the stop flag after this time: see [`Bot::move_time`].
    Time(Duration),
}

impl PlayoutLimit {
    /// The playouts of one move: of the setting and the caller's budget the lesser, or `unlimited` where time
    /// ends it.
    pub(crate) fn playouts(self, budget: MoveBudget, unlimited: u64) -> u64 {
        let own = match self {
            Self::Playouts(playouts) => playouts,
            Self::Time(_) => unlimited,
        };
        budget.nodes.map_or(own, |nodes| nodes.min(own))
    }

    /// The time for one move, if it is limited by time.
    pub(crate) fn time(self) -> Option<Duration> {
        match self {
            Self::Playouts(_) => None,
            Self::Time(time) => Some(time),
        }
    }
}

/// Ends the thinking of a bot with a time limit whose caller never sets the stop flag: about ten seconds on
/// 7x6.
const PLAYOUTS_MAX: u64 = 100_000_000;

impl MonteCarlo {
    pub(crate) fn new(limit: PlayoutLimit, seed: u64) -> Self {
        Self { limit, seed }
    }
}

impl Bot for MonteCarlo {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        let mut moves: Vec<PlayoutTally> =
            position.legal_columns().map(|column| PlayoutTally::new(position, column)).collect();
        if moves.is_empty() {
            return Err(BotError::GameOver);
        }
        let count = u8::try_from(moves.len()).expect("a board has at most 12 columns");
        let side = position.side_to_move();
        let mut rng = PlayoutRng::from_rng(&mut rng::for_position(self.seed, position));
        let nodes = self.limit.playouts(budget, PLAYOUTS_MAX);
        let mut counter = NodeCounter::new(SearchLimits { nodes: Some(nodes), stop });
        while counter.begin_node().is_ok() {
            let tally = &mut moves[usize::from(rng.below(count))];
            tally.add(play_out(&tally.after, &mut rng).winner, side);
        }
        // `max_by` keeps the last of equal maxima, so going from the right keeps the leftmost.
        let best = moves.iter().rev().max_by(|one, other| one.compare_mean(other)).expect("there is a move");
        let (score, pv) = (best.per_mille(), vec![best.column]);
        Ok(Choice {
            column: best.column,
            info: Some(SearchInfo { score, depth: 1, nodes: counter.nodes(), pv }),
        })
    }

    fn move_time(&self) -> Option<Duration> {
        self.limit.time()
    }
}

/// The results of the random games that began with one move.
#[derive(Debug)]
struct PlayoutTally {
    column: Column,
    after: Position,
    total: i64,
    playouts: i64,
}

impl PlayoutTally {
    fn new(position: &Position, column: Column) -> Self {
        Self { column, after: position.play_unchecked(column), total: 0, playouts: 0 }
    }

    fn add(&mut self, winner: Option<Side>, side: Side) {
        self.playouts += 1;
        self.total += winner.map_or(0, |winner| if winner == side { 1 } else { -1 });
    }

    /// Compares exactly, by cross-multiplying. A move that was never tried counts as always lost.
    fn compare_mean(&self, other: &Self) -> Ordering {
        let fraction =
            |tally: &Self| if tally.playouts == 0 { (-1, 1) } else { (tally.total, tally.playouts) };
        let ((total, playouts), (other_total, other_playouts)) = (fraction(self), fraction(other));
        (total * other_playouts).cmp(&(other_total * playouts))
    }

    /// The mean result in thousandths, -1000 to 1000; 0 if the move was never tried.
    fn per_mille(&self) -> i32 {
        let mean = (self.total * 1000).checked_div(self.playouts).unwrap_or(0);
        i32::try_from(mean).expect("between -1000 and 1000")
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    fn choose(playouts: u64, seed: u64, moves: &str, stop: bool) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut bot = MonteCarlo::new(PlayoutLimit::Playouts(playouts), seed);
        bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(stop)).unwrap()
    }

    #[test]
    fn obvious_moves_are_found() {
        let column = |moves| choose(2000, 1, moves, false).column.number();
        assert_eq!(column(""), 4, "the centre has most lines");
        assert_eq!(column("121213"), 1, "wins at once");
        assert_eq!(column("12121"), 1, "parries the win");
    }

    #[test]
    fn equal_seeds_choose_alike() {
        assert_eq!(choose(100, 3, "44", false), choose(100, 3, "44", false));
        assert_ne!(choose(100, 3, "44", false).info, choose(100, 4, "44", false).info);
    }

    #[test]
    fn without_a_playout_the_leftmost_move_is_played() {
        for choice in [choose(100, 3, "111111", true), choose(0, 3, "111111", false)] {
            assert_eq!(choice.column.number(), 2);
            assert_eq!(choice.info.map(|info| info.nodes), Some(0));
        }
    }

    #[test]
    fn the_lesser_of_setting_and_budget_counts() {
        let position = Position::new(Variant::STANDARD);
        let mut bot = MonteCarlo::new(PlayoutLimit::Playouts(100), 1);
        for (nodes, expected) in [(Some(10), 10), (Some(1000), 100), (None, 100)] {
            let budget = MoveBudget { nodes, time: None };
            let choice = bot.choose(&position, budget, &AtomicBool::new(false)).unwrap();
            assert_eq!(choice.info.unwrap().nodes, expected);
        }
    }
}
