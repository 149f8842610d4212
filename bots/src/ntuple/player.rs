//! The bot.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fourfold_engine::search::{Limits, Negamax, Reuse, Table, Tactics, ThreatGuide, TieBreak};
use fourfold_engine::{Column, Position};

use super::layout::VARIANT;
use super::weights::{Judge, Weights};
use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};

/// Findings that a search remembers.
const TABLE_SLOTS: usize = 1 << 15;

/// Plays by a network.
#[derive(Debug)]
pub struct NTuple {
    /// Plies searched after the own move.
    plies: u32,
    search: Negamax<Judge, ThreatGuide>,
}

impl NTuple {
    pub fn new(weights: Arc<Weights>, plies: u32, tactics: bool) -> Self {
        let guide = ThreatGuide::new(VARIANT, Table::new(TABLE_SLOTS, Reuse::DeeperToo));
        let search =
            Negamax { valuation: Judge::new(weights, tactics), guide, ties: TieBreak::FirstSearched };
        Self { plies, search }
    }

    /// The best of the moves as they are, without a look ahead but for the rule.
    fn greedy(&mut self, position: &Position) -> (Column, i32) {
        let cells = match Tactics::of(position) {
            Tactics::Win(column) | Tactics::Lost(column) if self.search.valuation.tactics => return (column, 0),
            Tactics::Win(column) => return (column, 0),
            Tactics::Safe(cells) if self.search.valuation.tactics => cells,
            Tactics::Safe(_) | Tactics::Lost(_) => position.playable(),
        };
        let values = cells.cells(VARIANT).map(|cell| {
            let after = position.play_unchecked(cell.column());
            (cell.column(), -self.search.valuation.afterstate(&after))
        });
        values.max_by_key(|(_, value)| *value).expect("the game goes on")
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
        if self.plies == 0 {
            let (column, score) = self.greedy(position);
            return Ok(Choice { column, info: Some(SearchInfo { score, depth: 1, nodes: 1, pv: vec![column] }) });
        }
        self.search.guide.table.clear();
        let found = self.search.deepen(position, 1..=self.plies + 1, Limits { nodes: budget.nodes, stop });
        let (score, pv) = (found.result.value, found.result.pv);
        Ok(Choice { column: pv[0], info: Some(SearchInfo { score, depth: found.depth, nodes: found.nodes, pv }) })
    }
}
