//! Who is stronger: the ladder of bots, tournaments, the published ratings, and whether a bot keeps to the rules.

pub(crate) mod leaderboard;
pub(crate) mod matchmaker;
pub mod self_test;
pub mod tournament;
