//! Rated games between bots that nobody asked for: always in pairs from balanced openings, always the pair that tells
//! most about who is stronger.
//!
//! [`choose`] (which two), [`budget`] (what it may cost), [`calm`] (when there is no hurry), [`health`] (who is left
//! out), [`meetings`] (how often a day) and [`cadence`] (how often a minute) are pure; [`MatchmakerActor`] starts what
//! they say whenever a game has ended, and looks around once a second. Nobody waits for a round to end. Remote bots
//! come first, each with one ladder pair at a time; bots of the house among themselves keep the arena alive, and their
//! ratings current, within a share of the machine.

mod actor;
pub(crate) mod budget;
pub(crate) mod cadence;
pub(crate) mod calm;
pub(crate) mod choose;
pub(crate) mod health;
pub(crate) mod meetings;
mod strengths;
pub(crate) mod troubles;

pub(crate) use actor::{MatchmakerActor, MatchmakerDeps, MatchmakerSettings};
pub(crate) use cadence::PairsPerMinute;
pub(crate) use troubles::Troubles;
