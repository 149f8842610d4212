//! Looking ahead.
//!
//! One [`Negamax`] serves every bot; what differs is how they value a position ([`Valuation`]). A [`Guide`]
//! makes it faster: a plain [`ColumnOrder`], or a [`ThreatGuide`] that sees threats and remembers positions in
//! a [`Table`]. [`TreeSearch`] samples games instead. [`SearchLimits`] bound a search by nodes and a stop flag: there
//! is no clock here. [`Score`] is the exact scale that solved positions use.

pub mod eval;
mod guide;
mod limits;
mod mcts;
mod negamax;
mod ordering;
mod score;
mod table;
mod threats;
mod window;
mod wins;

pub use guide::{Finding, Guide, Moves, Recalled};
pub use limits::{Interrupted, NodeCounter, SearchLimits};
pub use mcts::{TreeResult, TreeSearch};
pub use negamax::{Deepened, Negamax, SearchResult, TieBreak, Valuation};
pub use ordering::{ColumnOrder, ThreatGuide};
pub use score::{Score, Value};
pub use table::{Reuse, Table};
pub use threats::{Tactics, winning_cells};
pub use window::{Bound, Window};
pub use wins::{is_settled, win_at};

#[cfg(test)]
pub(crate) mod tests {
    use rand::RngExt;

    use crate::board::{Column, Position, Variant};
    use crate::rng::GameRng;

    /// A position from a random game, which may be over.
    pub(crate) fn random_position(variant: Variant, rng: &mut GameRng) -> Position {
        let mut position = Position::new(variant);
        for _ in 0..rng.random_range(0..variant.cells()) {
            let open: Vec<Column> = position.legal_columns().collect();
            let Some(drawn) = open.len().checked_sub(1).map(|last| rng.random_range(0..=last)) else { break };
            position = position.play_unchecked(open[drawn]);
        }
        position
    }
}
