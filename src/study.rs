//! What is made of finished games: bots that learn, judgements, puzzles, what was played from a position, and what
//! people show of it to others.

pub(crate) mod explorer;
pub(crate) mod judging;
pub mod learning;
pub(crate) mod lessons;
pub(crate) mod puzzles;
pub(crate) mod studies;
