//! The bot: a network, and as much of a look ahead as it is given.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{Negamax, Reuse, SearchLimits, Table, Tactics, ThreatGuide, TieBreak};
use fourfold_engine::{Bitboard, Cell, Column, Position};

use super::layout::VARIANT;
use super::weights::{NetworkJudge, SETTLED, WIN, Weights};
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};
use crate::reason::{Counts, Reason};

/// Findings that a search remembers, of 16 bytes: eight plies have no more, and clearing them for each move has to be
/// quick.
const TABLE_SLOTS: usize = 1 << 14;

/// Patterns that speak for each column of a bot that tells why.
const VOICES: usize = 6;

/// How far the bot looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Look {
    /// Plies of search after its own move; with 0 it plays the move that looks best at once.
    pub plies: u32,
    /// Whether it hands no win in one over, and plays forced moves before it values a position. Wins in one it takes
    /// always.
    pub tactics: bool,
}

impl Look {
    /// A fifth of a millisecond, and stronger than any look ahead without a network.
    pub const DEFAULT: Self = Self { plies: 4, tactics: true };
    /// Most plies that can be asked for: some milliseconds.
    pub const PLIES_MAX: u32 = 8;

    /// What rules decide about a move, and among which cells the network chooses if they do not.
    pub(super) fn tactics_of(self, position: &Position) -> Tactics {
        match Tactics::of(position) {
            Tactics::Lost(_) | Tactics::Safe(_) if !self.tactics => Tactics::Safe(position.playable()),
            found => found,
        }
    }
}

impl Default for Look {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Plays what its network values highest.
#[derive(Debug)]
pub struct NTuple {
    look: Look,
    /// Patterns that it names for each of its columns; none unless it is to tell why it moves.
    voices: usize,
    search: Negamax<NetworkJudge, ThreatGuide>,
}

impl NTuple {
    pub fn new(weights: Arc<Weights>, look: Look) -> Self {
        let guide = ThreatGuide::new(VARIANT, Table::new(TABLE_SLOTS, Reuse::DeeperToo));
        let valuation = NetworkJudge::new(weights, look.tactics);
        Self { look, voices: 0, search: Negamax { valuation, guide, ties: TieBreak::FirstSearched } }
    }

    /// The same, but it says which patterns spoke for its moves.
    pub fn telling_why(self) -> Self {
        Self { voices: VOICES, ..self }
    }

    /// Cells among which the network chooses: none if rules alone decide.
    fn choices(&self, position: &Position) -> Bitboard {
        match self.look.tactics_of(position) {
            Tactics::Safe(cells) if cells.count() > 1 => cells,
            Tactics::Win(_) | Tactics::Lost(_) | Tactics::Safe(_) => Bitboard::EMPTY,
        }
    }

    /// The best move at first sight, and its value.
    fn at_first_sight(&mut self, position: &Position) -> (Column, i32) {
        let stones = position.ply().cast_signed();
        match self.look.tactics_of(position) {
            Tactics::Win(column) => (column, WIN - stones - 1),
            Tactics::Lost(column) => (column, stones + 2 - WIN),
            Tactics::Safe(cells) => self.best_of(position, cells),
        }
    }

    /// The best of the moves into `cells`, of equal ones the leftmost.
    fn best_of(&mut self, position: &Position, cells: Bitboard) -> (Column, i32) {
        let judge = &mut self.search.valuation;
        let valued = cells.cells(VARIANT).map(|cell| {
            let after = position.play_unchecked(cell.column());
            (cell.column(), if after.is_full() { 0 } else { -judge.afterstate(&after) })
        });
        let better = |best: (Column, i32), other: (Column, i32)| if other.1 > best.1 { other } else { best };
        valued.reduce(better).expect("the game goes on, so there is a cell")
    }
}

impl Bot for NTuple {
    fn choose(
        &mut self,
        position: &Position,
        budget: MoveBudget,
        stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let (column, value) = self.at_first_sight(position);
        if self.look.plies == 0 || value > SETTLED {
            let info = SearchInfo { score: value, depth: 1, nodes: 1, pv: vec![column] };
            return Ok(Choice { column, info: Some(info) });
        }
        // What it found before would change its choices, which then depend on more than the position.
        self.search.guide.table.clear();
        let limits = SearchLimits { nodes: budget.nodes, stop };
        let found = self.search.deepen(position, 1..=self.look.plies + 1, limits);
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Ok(Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }

    fn tell_why(&mut self) {
        self.voices = VOICES;
    }

    /// The weights of the position after each move that it had to choose from, at first sight and as the tables have
    /// them. How often a pattern was seen is not kept. A win in one and moves without a choice have no reasons.
    fn reasons(&mut self, position: &Position) -> Vec<Reason> {
        if self.voices == 0 || position.outcome().is_some() {
            return Vec::new();
        }
        let mut reasons = Vec::new();
        for column in self.choices(position).cells(VARIANT).map(Cell::column) {
            let voices = self.search.valuation.voices(&position.play_unchecked(column), self.voices);
            reasons.extend(voices.into_iter().map(|(weight, pattern)| Reason {
                column,
                weight: weight.into(),
                pattern,
                counts: Counts::default(),
            }));
        }
        reasons.sort_by_key(|reason| Reverse(reason.weight.abs())); // stable: equal ones keep their order
        reasons
    }

    fn rest(&mut self) {
        self.search.guide.table.release();
    }

    fn search_bytes(&self) -> usize {
        self.search.guide.table.bytes()
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;
    use crate::ntuple;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    fn bot(plies: u32, tactics: bool) -> NTuple {
        NTuple::new(ntuple::shipped(), Look { plies, tactics })
    }

    fn choose(plies: u32, tactics: bool, moves: &str) -> Choice {
        let budget = MoveBudget::default();
        bot(plies, tactics).choose(game(moves).position(), budget, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn wins_are_taken_in_every_mode() {
        for (plies, tactics) in [(0, false), (0, true), (1, false), (2, true), (8, true)] {
            let choice = choose(plies, tactics, "121213");
            assert_eq!(choice.column.number(), 1, "{plies} plies");
            assert_eq!(choice.info.unwrap().score, WIN - 7);
        }
    }

    #[test]
    fn no_win_in_one_is_handed_over_with_the_rule_or_a_search() {
        for (plies, tactics) in [(0, true), (1, false), (2, true), (4, true)] {
            assert_eq!(choose(plies, tactics, "12121").column.number(), 1, "{plies} plies: parried");
            // O O O . . . .   A stone in column 4 would let the second player land on the fourth cell.
            // X X O X X . .
            let choice = choose(plies, tactics, "1122335");
            assert!(choice.info.unwrap().score.abs() < WIN, "{plies} plies");
        }
        let lost = choose(0, true, "44553").info.unwrap();
        assert_eq!(lost.score, 7 - WIN, "two wins cannot be parried");
    }

    #[test]
    fn the_empty_board_is_opened_in_the_centre() {
        for plies in [0, 2, 4, 6] {
            assert_eq!(choose(plies, true, "").column.number(), 4, "{plies} plies");
        }
    }

    #[test]
    fn mirrored_positions_are_worth_the_same() {
        for moves in ["1", "12", "3341", "44455"] {
            let mirrored: String =
                moves.chars().map(|digit| char::from(b'8' - (digit as u8 - b'0'))).collect();
            let score = |moves: &str| choose(4, true, moves).info.unwrap().score;
            assert_eq!(score(moves), score(&mirrored), "{moves}");
        }
    }

    #[test]
    fn budgets_and_stops_cut_the_look_ahead() {
        let position = *game("43").position();
        let budget = MoveBudget { nodes: Some(500), time: None };
        let info = bot(8, true).choose(&position, budget, &AtomicBool::new(false)).unwrap().info.unwrap();
        assert_eq!(info.nodes, 500);
        assert!((2..9).contains(&info.depth), "{info:?}");
        let stopped = bot(8, true).choose(&position, MoveBudget::default(), &AtomicBool::new(true)).unwrap();
        assert!(position.is_legal(stopped.column));
        assert_eq!(stopped.info.unwrap().depth, 1);
    }

    #[test]
    fn the_weightiest_patterns_tell_why_if_asked() {
        let position = *game("4453").position();
        assert_eq!(bot(0, true).reasons(&position), []);
        let mut telling = bot(0, true).telling_why();
        let column =
            telling.choose(&position, MoveBudget::default(), &AtomicBool::new(false)).unwrap().column;
        let reasons = telling.reasons(&position);
        let own = reasons.iter().filter(|reason| reason.column == column).count();
        assert_eq!((own, reasons.len()), (VOICES, 7 * VOICES));
        assert!(reasons.is_sorted_by(|one, other| one.weight.abs() >= other.weight.abs()));
        let reason = &reasons[0];
        assert_eq!(&reason.to_string().parse::<Reason>().unwrap(), reason);
        assert_eq!(telling.reasons(game("1212121").position()), []);
    }

    #[test]
    fn patterns_that_had_no_say_are_no_reasons() {
        #[track_caller]
        fn check(tactics: bool, moves: &str, spoken_for: &[u8]) {
            let reasons = bot(0, tactics).telling_why().reasons(game(moves).position());
            let mut columns: Vec<u8> = reasons.iter().map(|reason| reason.column.number()).collect();
            columns.sort_unstable();
            columns.dedup();
            assert_eq!(columns, spoken_for, "{moves}");
        }
        check(true, "121213", &[]); // a win in one
        check(false, "121213", &[]);
        check(true, "12121", &[]); // its parry
        check(false, "12121", &[1, 2, 3, 4, 5, 6, 7]);
        check(true, "44553", &[]); // two wins cannot be parried
        check(false, "44553", &[1, 2, 3, 4, 5, 6, 7]);
        // . O O O . . X   Stones in columns 1 and 5 would hand over a win on top of them.
        // . X O X . . X
        check(true, "22447373", &[2, 3, 4, 6, 7]);
        check(false, "22447373", &[1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn choices_do_not_depend_on_what_was_asked_before() {
        let mut old = bot(4, true);
        let mut game = game("");
        let never = AtomicBool::new(false);
        while game.outcome().is_none() {
            let choice = old.choose(game.position(), MoveBudget::default(), &never).unwrap();
            let fresh = bot(4, true).choose(game.position(), MoveBudget::default(), &never).unwrap();
            assert_eq!(choice, fresh, "{}", game.notation());
            game.play(choice.column).unwrap();
        }
        let over = old.choose(game.position(), MoveBudget::default(), &never);
        assert_eq!(over, Err(BotError::GameOver));
    }
}
