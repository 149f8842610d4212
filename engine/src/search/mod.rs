//! Looking ahead.
//!
//! One [`Negamax`] serves every bot; what differs is how they value a position ([`Valuation`]). [`Limits`]
//! bound a search by nodes and a stop flag: there is no clock here. [`Score`] is the exact scale that solved
//! positions use.

pub mod eval;
mod limits;
mod negamax;
mod ordering;
mod score;

pub use limits::{Interrupted, Limits, NodeCounter};
pub use negamax::{Deepened, Negamax, SearchResult, TieBreak, Valuation, Window};
pub use ordering::ColumnOrder;
pub use score::Score;
