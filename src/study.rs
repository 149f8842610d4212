//! What is made of finished games: bots that learn, judgements, puzzles, what was played from a position.

pub(crate) mod explorer;
pub(crate) mod judging;
pub mod learning;
pub(crate) mod lessons;
pub(crate) mod puzzles;
