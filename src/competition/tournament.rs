//! Tournaments that the daemon runs: by a schedule of its configuration, when an operator says so, or as somebody with
//! an account has made them.
//!
//! Schedules, their points and tables are those of `fourfold tournament`, from the `arena` package; an [`arena`] needs
//! the time and who is free. How a tournament stands is a function of what is stored of it and its games alone
//! ([`progress`] and [`arena`], pure), so a daemon that was killed goes on exactly where it was: the [`Director`]
//! starts every game of the schedule once, and nobody else does.
//! [`Tournaments`] is what pages and operators see of it.

pub(crate) mod arena;
mod board;
mod contest;
mod director;
mod pairing;
pub(crate) mod plans;
pub(crate) mod progress;

pub(crate) use board::{Canceller, EntryError, PlanDecision, PlanError, PlanTerms, Wish};
pub use board::{TournamentStartError, TournamentSummary, TournamentView, Tournaments, Upcoming};
pub(crate) use director::{Director, DirectorDeps};
