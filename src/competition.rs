//! Who is stronger: the ladder of bots, tournaments, the published ratings, and whether a bot keeps to the rules.

pub mod leaderboard;
pub mod matchmaker;
pub mod self_test;
pub mod tournament;
