//! The bot: a network, and as much of a look ahead as it is given.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{Limits, Negamax, Reuse, Table, Tactics, ThreatGuide, TieBreak};
use fourfold_engine::{Bitboard, Column, Position};

use super::layout::VARIANT;
use super::weights::{Judge, SETTLED, WIN, Weights};
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Findings that a search remembers, of 16 bytes: eight plies have no more, and clearing them for each move has to be
/// quick.
const TABLE_SLOTS: usize = 1 << 14;

/// How far the bot looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Look {
    /// Plies of search after its own move; with 0 it plays the move that looks best at once.
    pub plies: u32,
    /// Whether it sees wins in one: takes its own, hands over none, and plays forced moves before it values a
    /// position.
    pub tactics: bool,
}

impl Look {
    /// A tenth of a millisecond, and stronger than any look ahead without a network.
    pub const DEFAULT: Self = Self { plies: 4, tactics: true };
    /// Most plies that can be asked for: some milliseconds.
    pub const PLIES_MAX: u32 = 8;
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
    search: Negamax<Judge, ThreatGuide>,
}

impl NTuple {
    #[must_use]
    pub fn new(weights: Arc<Weights>, look: Look) -> Self {
        let guide = ThreatGuide::new(VARIANT, Table::new(TABLE_SLOTS, Reuse::DeeperToo));
        let valuation = Judge::new(weights, look.tactics);
        Self { look, search: Negamax { valuation, guide, ties: TieBreak::FirstSearched } }
    }

    /// The best move at first sight, and its value.
    fn at_first_sight(&mut self, position: &Position) -> (Column, i32) {
        let stones = position.ply().cast_signed();
        let cells = match Tactics::of(position) {
            Tactics::Win(column) => return (column, WIN - stones - 1),
            Tactics::Lost(column) if self.look.tactics => return (column, stones + 2 - WIN),
            Tactics::Safe(cells) if self.look.tactics => cells,
            Tactics::Lost(_) | Tactics::Safe(_) => position.playable(),
        };
        self.best_of(position, cells)
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
        let limits = Limits { nodes: budget.nodes, stop };
        let found = self.search.deepen(position, 1..=self.look.plies + 1, limits);
        let (score, pv) = (found.result.value, found.result.pv);
        let column = pv[0]; // the game is not over, so there is a move to look at
        Ok(Choice { column, info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }
}
