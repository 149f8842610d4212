//! Who is stronger: the ladder of bots, tournaments, the published ratings, and whether a bot keeps to the rules.

pub mod ladder;
pub mod leaderboard;
pub mod self_test;
pub mod tournament;
