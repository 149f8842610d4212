//! Tournaments that the daemon runs: by a schedule of its configuration, when an operator says so, or as somebody with
//! an account has made them.
//!
//! Formats, points and tables are those of `fourfold tournament`, from the `arena` package. What is played is a
//! function of the stored tournament and its stored games alone ([`progress`], pure), so a daemon that was killed goes
//! on exactly where it was: the [`Director`] starts every game of the schedule once, and nobody else does.
//! [`Tournaments`] is what pages and operators see of it.

mod board;
mod director;
pub(crate) mod plans;
pub(crate) mod progress;

pub(crate) use board::{EntryError, PlanDecision, PlanError, PlanTerms, Wish};
pub use board::{TournamentStartError, TournamentSummary, TournamentView, Tournaments, Upcoming};
pub(crate) use director::{Director, DirectorDeps};
