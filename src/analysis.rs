//! Thinking: the threads that think, and what the exact solver says of positions and games.
//!
//! A *value* is how a position ends if both sides play perfectly, a *live value* that of a game in progress. To *judge*
//! is to hold the moves of a finished game against the values; the verdicts on one game together are its *review*.

pub(crate) mod background;
pub(crate) mod compute;
pub(crate) mod judged;
pub(crate) mod live_value;
pub(crate) mod mistakes;
mod recent;
pub(crate) mod values;
