//! The depth-limited searcher of 2012: alpha-beta that looks further the fuller the board is.

mod windows;

use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{
    Deepened, Interrupted, Negamax, NodeCounter, Reuse, SearchLimits, Table, ThreatGuide, TieBreak, Valuation,
};
use fourfold_engine::{Column, Position, Side, Variant};

use self::windows::TumblingWindows;
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Value of a won position; static values are far below.
const WIN: i32 = 1_000_000;

/// Looks a number of plies ahead that grows with the stones on the board, and values positions by sums of
/// powers of ten.
///
/// From the 2012 report. Of equally good moves it prefers quick wins and late losses, then the leftmost. The
/// report's program searches every move with a full window and remembers nothing; ours finds the values with
/// null windows, threats and a table, and then looks up how far each of the best moves' variations would have
/// gone. The choice is the same in every position.
#[derive(Debug)]
pub(crate) struct Cutoff {
    search: Negamax<Windows, ThreatGuide>,
}

impl Cutoff {
    /// The line length that the report's windows and weights are made for.
    pub(crate) const CONNECT: u8 = 4;

    /// For variants in which four stones win.
    pub(crate) fn new(variant: Variant) -> Self {
        let guide = ThreatGuide::new(variant, Table::new(Table::DEFAULT_SLOTS, Reuse::SameDepth));
        let valuation = Windows { bot: Side::First, board: TumblingWindows::new(variant) };
        Self { search: Negamax { valuation, guide, ties: TieBreak::FirstSearched } }
    }

    /// The report's choice for a search that cuts off below `cutoff` plies after the root's moves.
    fn choose_at(&mut self, position: &Position, cutoff: u32, limits: SearchLimits<'_>) -> Choice {
        // Findings of other positions have other depths or another bot's view.
        self.search.guide.table.clear();
        self.search.valuation.bot = position.side_to_move();
        let depth = cutoff + 1;
        let Deepened { result, depth: reached, nodes } = self.search.deepen(position, 1..=depth, limits);
        let limit_left = limits.nodes.map(|limit| limit.saturating_sub(nodes));
        let mut counter = NodeCounter::new(SearchLimits { nodes: limit_left, stop: limits.stop });
        let is_finished = reached == depth.min(position.variant().cells() - position.ply());
        let chosen = is_finished.then(|| self.best_of_equals(position, depth, result.value, &mut counter));
        let pv = match chosen {
            Some(Ok(variation)) => variation,
            Some(Err(Interrupted)) | None => result.pv,
        };
        let column = pv[0];
        let nodes = nodes + counter.nodes();
        Choice { column, info: Some(SearchInfo { score: result.value, depth: reached, nodes, pv }) }
    }

    /// Of the moves worth `value`, the one whose variation ends soonest, or latest if it loses; then the
    /// leftmost. The whole variation: its end is where the outcome lies that the report's program expects.
    fn best_of_equals(
        &mut self,
        position: &Position,
        depth: u32,
        value: i32,
        counter: &mut NodeCounter<'_>,
    ) -> Result<Vec<Column>, Interrupted> {
        let mut best: Option<Vec<Column>> = None;
        for column in position.legal_columns() {
            let after = position.play_unchecked(column);
            if self.search.reaches(&after, depth - 1, 1 - value, counter)? {
                continue; // the opponent does better than against the best move
            }
            let rest = self.variation(after, depth - 1, -value, counter)?;
            let variation: Vec<Column> = std::iter::once(column).chain(rest).collect();
            let is_better = best.as_ref().is_none_or(|best| {
                if value >= 0 { variation.len() < best.len() } else { variation.len() > best.len() }
            });
            if is_better {
                best = Some(variation);
            }
        }
        Ok(best.expect("the best value is that of some move"))
    }

    /// The variation that plain alpha-beta, from left to right, keeps as the best: at every ply the leftmost move that
    /// reaches the value.
    fn variation(
        &mut self,
        mut position: Position,
        depth: u32,
        mut value: i32,
        counter: &mut NodeCounter<'_>,
    ) -> Result<Vec<Column>, Interrupted> {
        let mut variation = Vec::new();
        for length in 0..depth {
            if position.outcome().is_some() {
                break;
            }
            let column = self.leftmost_reaching(&position, depth - length, value, counter)?;
            variation.push(column);
            position = position.play_unchecked(column);
            value = -value;
        }
        Ok(variation)
    }

    /// The leftmost move worth `value`, which is that of the position; the game is not over.
    fn leftmost_reaching(
        &mut self,
        position: &Position,
        depth: u32,
        value: i32,
        counter: &mut NodeCounter<'_>,
    ) -> Result<Column, Interrupted> {
        let mut last = None;
        for column in position.legal_columns() {
            last = Some(column);
            let after = position.play_unchecked(column);
            // The opponent does not get more than this leaves him.
            if !self.search.reaches(&after, depth - 1, 1 - value, counter)? {
                break;
            }
        }
        Ok(last.expect("the game goes on"))
    }
}

/// The report's depth rule: the number of plies after which the root's moves are valued as they stand.
fn cutoff(position: &Position) -> u32 {
    let empty_cells = position.variant().cells() - position.ply();
    // trunc((189 div empty) + 2.5)
    189 / empty_cells + 2
}

impl Bot for Cutoff {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        Ok(self.choose_at(position, cutoff(position), SearchLimits { nodes: budget.nodes, stop }))
    }

    fn rest(&mut self) {
        self.search.guide.table.release();
    }

    fn search_bytes(&self) -> usize {
        self.search.guide.table.bytes()
    }
}

/// Values positions by their windows, which count a little differently for the bot and its opponent.
#[derive(Debug)]
struct Windows {
    bot: Side,
    board: TumblingWindows,
}

impl Valuation for Windows {
    fn horizon(&mut self, position: &Position) -> i32 {
        if position.side_to_move() == self.bot {
            self.board.value(position.mine(), position.theirs())
        } else {
            -self.board.value(position.theirs(), position.mine())
        }
    }

    fn loss(&self, _position: &Position) -> i32 {
        -WIN
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, rng};
    use rand::RngExt;

    use super::*;

    #[test]
    fn the_cutoff_grows_with_the_stones() {
        let mut rng = rng::seeded(20);
        let published = [(42, 6), (37, 7), (31, 8), (27, 9), (23, 10), (21, 11), (18, 12), (14, 15), (9, 23)];
        for (empty_cells, expected) in published {
            let position = random_position(Variant::STANDARD, 42 - empty_cells, &mut rng);
            assert_eq!(cutoff(&position), expected, "{empty_cells} empty cells");
        }
    }

    /// The report's search as it stands, of positions as seen by the bot.
    struct Literal {
        bot: Side,
        cutoff: u32,
        board: TumblingWindows,
    }

    impl Literal {
        /// Plain alpha-beta: the value for the bot, and the counter of moves at the leaf it comes from.
        fn value(&self, position: &Position, counter: u32, mut alpha: i32, mut beta: i32) -> (i32, u32) {
            if let Some(outcome) = position.outcome() {
                let value = outcome.winner().map_or(0, |winner| if winner == self.bot { WIN } else { -WIN });
                return (value, counter);
            }
            if counter > self.cutoff {
                let stones = position.stones();
                return (self.board.value(stones[self.bot], stones[self.bot.opponent()]), counter);
            }
            let maximises = position.side_to_move() == self.bot;
            let mut best = if maximises { (i32::MIN, 0) } else { (i32::MAX, 0) };
            for column in position.legal_columns() {
                let found = self.value(&position.play_unchecked(column), counter + 1, alpha, beta);
                if maximises {
                    best = if found.0 > best.0 { found } else { best };
                    if best.0 >= beta {
                        return best;
                    }
                    alpha = alpha.max(best.0);
                } else {
                    best = if found.0 < best.0 { found } else { best };
                    if best.0 <= alpha {
                        return best;
                    }
                    beta = beta.min(best.0);
                }
            }
            best
        }

        /// The choice, and at which depth the outcome lies that it expects.
        fn choose(&self, position: &Position) -> (Column, u32) {
            let mut best = (i32::MIN, 0);
            let mut choice = None;
            for column in position.legal_columns() {
                let found = self.value(&position.play_unchecked(column), 1, i32::MIN, i32::MAX);
                let is_better = found.0 > best.0
                    || found.0 == best.0 && found.0 >= 0 && found.1 < best.1
                    || found.0 == best.0 && found.0 < 0 && found.1 > best.1;
                if is_better {
                    best = found;
                    choice = Some(column);
                }
            }
            (choice.unwrap(), best.1)
        }
    }

    #[track_caller]
    fn check_as_literal(bot: &mut Cutoff, position: &Position, cutoff: u32) {
        let board = TumblingWindows::new(position.variant());
        let (column, depth) = Literal { bot: position.side_to_move(), cutoff, board }.choose(position);
        let never = AtomicBool::new(false);
        let choice = bot.choose_at(position, cutoff, SearchLimits { nodes: None, stop: &never });
        let expected_in = choice.info.map(|info| info.pv.len());
        assert_eq!(
            (choice.column, expected_in),
            (column, Some(depth as usize)),
            "{position:?} with cutoff {cutoff}"
        );
    }

    /// A position with this many stones in which the game goes on.
    fn random_position(variant: Variant, plies: u32, rng: &mut rng::GameRng) -> Position {
        loop {
            let mut position = Position::new(variant);
            while position.ply() < plies && position.outcome().is_none() {
                let legal: Vec<Column> = position.legal_columns().collect();
                position = position.play_unchecked(legal[rng.random_range(0..legal.len())]);
            }
            if position.outcome().is_none() {
                return position;
            }
        }
    }

    #[test]
    fn the_faster_search_chooses_as_the_literal_one() {
        let mut rng = rng::seeded(21);
        for variant in ["7x6", "5x5", "8x7", "4x15"] {
            let variant: Variant = variant.parse().unwrap();
            let mut bot = Cutoff::new(variant);
            for _ in 0..250 {
                let plies = rng.random_range(0..variant.cells() - 1);
                let position = random_position(variant, plies, &mut rng);
                check_as_literal(&mut bot, &position, rng.random_range(0..=4));
            }
        }
    }

    #[test]
    fn with_the_depth_rule_too_the_choice_is_the_literal_one() {
        let mut rng = rng::seeded(22);
        let mut bot = Cutoff::new(Variant::STANDARD);
        // Fuller boards are searched to the end, which the literal search can do only when they are nearly so.
        for plies in [0, 1, 3, 5, 6, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40] {
            let position = random_position(Variant::STANDARD, plies, &mut rng);
            check_as_literal(&mut bot, &position, cutoff(&position));
        }
    }

    #[test]
    fn a_stopped_search_leaves_the_best_move_of_the_last_depth() {
        let game = Game::from_moves(Variant::STANDARD, "12121").unwrap();
        let mut bot = Cutoff::new(Variant::STANDARD);
        let budget = MoveBudget { nodes: Some(300), time: None };
        let choice = bot.choose(game.position(), budget, &AtomicBool::new(false)).unwrap();
        assert_eq!(choice.column.number(), 1);
        assert!((2..8).contains(&choice.info.as_ref().unwrap().depth), "{choice:?}");
    }
}
