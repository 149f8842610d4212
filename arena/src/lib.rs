//! How bots meet: matches and tournaments in pairs of games, their log, and ratings that come with their error.
//!
//! - [`entrant`] is what takes part: [`house`] bots, or [`program`]s over standard streams; [`play`] plays one game by
//!   the rules of [`time`].
//! - [`admission`] tests whether an entrant can be let in.
//! - [`plan`] is all that decides what is played; [`mod@format`] and [`suite`] say who meets whom from which opening.
//! - [`course`] is a run as it goes, [`results`] what is counted; both pure. [`runner`] plays it on threads.
//! - [`shard`] is a part of a run, where several machines share it; [`join`] puts the logs of parts together.
//! - [`log`] is the only truth about a run, made of [`record`]s.
//! - [`measure`] holds what a bot plays against the exact solver.
//! - [`fair_play`] holds what people decide in rated games against what people of their rating manage. Pure.
//! - [`stats`] turns results into numbers: Elo with both ends of its interval, sequential tests, joint ratings.
//!   Pure.

#![forbid(unsafe_code)]

pub mod admission;
pub mod course;
pub mod entrant;
pub mod fair_play;
pub mod format;
pub mod house;
pub mod join;
pub mod log;
pub mod measure;
pub mod plan;
pub mod play;
pub mod program;
pub mod rate;
pub mod record;
pub mod report;
pub mod results;
pub mod runner;
pub mod shard;
pub mod stats;
pub mod stop;
pub mod suite;
#[cfg(test)]
mod testing;
pub mod time;
pub mod watchdog;
