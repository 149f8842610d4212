//! Who is stronger: the ladder of bots, duels, tournaments, classes, the published ratings, whether a bot keeps to the
//! rules and people play fair.

pub(crate) mod arena_score;
pub(crate) mod classes;
pub(crate) mod correspondence;
pub(crate) mod duels;
pub mod fair_play;
pub(crate) mod leaderboard;
pub(crate) mod matchmaker;
pub mod self_test;
pub mod tournament;
