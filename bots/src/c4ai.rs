//! The threat analyst: alpha-beta whose valuation plays the threats out, with weights that it evolved.

mod threats;
mod weights;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_engine::search::eval::LineCounts;
use fourfold_engine::search::{
    ColumnOrder, Negamax, SearchLimits, TieBreak, Valuation, is_settled, win_at, winning_cells,
};
use fourfold_engine::{Bitboard, BySide, Line, Position, Side, Variant};

use self::threats::play_out_threats;
pub use self::weights::{EvolvedWeights, WeightsError};
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// The depth of the first search; all are odd, so that the bot's own move is the last.
const FIRST_DEPTH: u32 = 5;

/// Ends the thinking where no time is given, so that nobody need set the stop flag: some ten seconds.
const NODES_MAX: u64 = 30_000_000;

/// Looks 5, 7, 9 .. plies ahead as time allows; values positions by lines, by threats and by who wins if
/// everything but the columns with threats is filled.
///
/// From the C4AI readme.
#[derive(Debug)]
pub(crate) struct C4ai {
    time: Duration,
    search: Negamax<Analyst>,
}

impl C4ai {
    /// The line length that the filters are made for.
    pub(crate) const CONNECT: u8 = 4;

    /// For variants in which four stones win.
    pub(crate) fn new(weights: EvolvedWeights, time: Duration, variant: Variant) -> Self {
        let guide = ColumnOrder::centre_first(variant);
        let valuation = Analyst::new(weights, variant);
        Self { time, search: Negamax { valuation, guide, ties: TieBreak::FirstSearched } }
    }

    /// Searches to odd depths up to `depth`, which is odd.
    pub(crate) fn choose_within(
        &mut self,
        position: &Position,
        depth: u32,
        limits: SearchLimits<'_>,
    ) -> Choice {
        self.search.valuation.begin(position.side_to_move());
        let depths = (FIRST_DEPTH.min(depth)..=depth).step_by(2);
        let found = self.search.deepen(position, depths, limits);
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) }
    }
}

impl Bot for C4ai {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let nodes = nodes_max(budget);
        let depth = position.variant().cells() | 1; // odd, and beyond the end of any game
        Ok(self.choose_within(position, depth, SearchLimits { nodes, stop }))
    }

    fn move_time(&self) -> Option<Duration> {
        Some(self.time)
    }
}

/// The author's program thinks as long as it may, and so does this one; where no time is given, something else has to
/// end it.
fn nodes_max(budget: MoveBudget) -> Option<u64> {
    match budget {
        MoveBudget { nodes, time: Some(_) } => nodes,
        MoveBudget { nodes, time: None } => Some(nodes.unwrap_or(NODES_MAX).min(NODES_MAX)),
    }
}

/// Values positions after the bot's own move.
///
/// The readme's scale of wins is not known; 1000 was our first choice, because the greatest weight is. But lines add
/// up to more than that, and then the bot prefers a good position to a win in one. A search only compares values, so
/// [`win_at`], which is greater, changes nothing else.
#[derive(Debug)]
struct Analyst {
    weights: EvolvedWeights,
    variant: Variant,
    lines: Vec<Bitboard>,
    bot: Side,
    /// Who wins by his threats, by the threats of both sides.
    outcomes: HashMap<(Bitboard, Bitboard), Option<Side>>,
}

impl Analyst {
    fn new(weights: EvolvedWeights, variant: Variant) -> Self {
        let lines = Line::all(variant).map(|line| line.bitboard(variant)).collect();
        Self { weights, variant, lines, bot: Side::First, outcomes: HashMap::new() }
    }

    /// Begins a move of the bot: what was found for others is forgotten.
    fn begin(&mut self, bot: Side) {
        self.bot = bot;
        self.outcomes.clear();
    }

    /// The value for the bot, whose opponent is to move; nobody has a line.
    fn value_for_bot(&mut self, position: &Position) -> i32 {
        let (bot, stones, mask) = (self.bot, position.stones(), position.mask());
        let winning = BySide::from_fn(|side| winning_cells(stones[side], mask, self.variant));
        let playable = position.playable();
        if !(winning[bot.opponent()] & playable).is_empty() {
            return -win_at(position.ply() + 1);
        }
        let ataris = self.count_ataris(winning[bot] & playable, stones[bot]);
        if ataris >= 2 {
            return win_at(position.ply() + 2);
        }
        let counts =
            BySide::from_fn(|side: Side| LineCounts::of(stones[side], stones[side.opponent()], self.variant));
        let difference = |count: fn(&LineCounts) -> u32| {
            count(&counts[bot]).cast_signed() - count(&counts[bot.opponent()]).cast_signed()
        };
        let threats = BySide::from_fn(|side| winning[side].without(playable));
        self.weights.num1 * difference(|counts| counts.three_short)
            + self.weights.num2 * difference(|counts| counts.two_short)
            + self.weights.atari * i32::from(ataris == 1)
            + self.promise_of(threats)
    }

    /// In how many lines one of these cells, where the bot can play, is the fourth. One cell that completes two
    /// lines counts twice. Counted as far as two.
    fn count_ataris(&self, cells: Bitboard, own: Bitboard) -> usize {
        if cells.count() != 1 {
            return cells.count() as usize;
        }
        let is_atari = |line: &&Bitboard| !(**line & cells).is_empty() && (**line & own).count() == 3;
        self.lines.iter().filter(is_atari).take(2).count()
    }

    /// The weight of the threats' outcome; nothing without threats.
    fn promise_of(&mut self, threats: BySide<Bitboard>) -> i32 {
        if (threats.first | threats.second).is_empty() {
            return 0;
        }
        let variant = self.variant;
        let outcome = *self
            .outcomes
            .entry((threats.first, threats.second))
            .or_insert_with(|| play_out_threats(threats, variant));
        match outcome {
            None => self.weights.prob_draw,
            Some(winner) if winner == self.bot => self.weights.prob_win,
            Some(_) => self.weights.prob_lose,
        }
    }
}

impl Valuation for Analyst {
    fn horizon(&mut self, position: &Position) -> i32 {
        debug_assert_ne!(position.side_to_move(), self.bot, "all depths are odd");
        -self.value_for_bot(position)
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

    const ZERO: EvolvedWeights =
        EvolvedWeights { num1: 0, num2: 0, atari: 0, prob_win: 0, prob_draw: 0, prob_lose: 0 };

    /// The value for the side that moved last.
    fn value(weights: EvolvedWeights, moves: &str) -> i32 {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut analyst = Analyst::new(weights, Variant::STANDARD);
        analyst.begin(game.position().side_to_move().opponent());
        analyst.value_for_bot(game.position())
    }

    #[test]
    fn lines_with_one_and_two_stones_are_counted() {
        let ones = EvolvedWeights { num1: 1, ..ZERO };
        assert_eq!(value(ones, "4"), 7, "one vertical, four horizontal, two diagonal");
        assert_eq!(value(ones, "41"), 2 - 6, "a1 to d1 is dead");
        let twos = EvolvedWeights { num2: 1, ..ZERO };
        assert_eq!(value(twos, "415"), 3, "from b1, c1 and d1 on");
        assert_eq!(value(twos, "4155"), -3, "they are the opponent's now");
    }

    #[test]
    fn an_atari_counts_and_two_win() {
        let atari = EvolvedWeights { atari: 1, ..ZERO };
        assert_eq!(value(atari, "12121"), 1);
        assert_eq!(value(ZERO, "44553"), win_at(7), "b1 and f1");
        assert_eq!(value(ZERO, "4455"), 0);
    }

    #[test]
    fn an_atari_of_the_opponent_is_a_loss() {
        assert_eq!(value(ZERO, "121217"), -win_at(7), "a4 was not parried");
    }

    fn choose(weights: EvolvedWeights, moves: &str, nodes: u64) -> Choice {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let mut bot = C4ai::new(weights, Duration::from_secs(1), Variant::STANDARD);
        let budget = MoveBudget { nodes: Some(nodes), time: None };
        bot.choose(game.position(), budget, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn wins_are_taken_and_threats_parried() {
        let column = |moves| choose(EvolvedWeights::default(), moves, 50_000).column.number();
        assert_eq!(column("121213"), 1);
        assert_eq!(column("12121"), 1);
        assert!([3, 6].contains(&column("4455")));
    }

    #[test]
    fn a_win_is_worth_more_than_any_lines() {
        let greedy = EvolvedWeights { num1: 1000, num2: 1000, ..ZERO };
        assert_eq!(choose(greedy, "121213", 50_000).column.number(), 1);
    }

    #[test]
    fn whoever_has_time_is_ended_by_nothing_else() {
        let time = Some(Duration::from_secs(30));
        assert_eq!(nodes_max(MoveBudget { nodes: None, time }), None);
        assert_eq!(nodes_max(MoveBudget { nodes: Some(7), time }), Some(7));
        assert_eq!(nodes_max(MoveBudget { nodes: None, time: None }), Some(NODES_MAX));
        assert_eq!(nodes_max(MoveBudget { nodes: Some(u64::MAX), time: None }), Some(NODES_MAX));
    }

    #[test]
    fn depths_are_odd_and_the_first_may_be_unfinished() {
        let searched = |nodes| choose(EvolvedWeights::default(), "", nodes).info.unwrap();
        assert_eq!([10, 800, 20_000].map(|nodes| searched(nodes).depth), [1, 5, 7]);
        assert_eq!(searched(800).nodes, 800, "not finished");
    }
}
