//! What is made of finished games: bots that learn, judgements, puzzles, what was played from a position.

pub mod explorer;
pub mod judging;
pub mod learning;
pub mod puzzles;
