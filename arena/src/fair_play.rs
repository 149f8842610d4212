//! Whether somebody decides better than people of their rating can: the evidence for help in rated games.
//!
//! Nothing here is a verdict. What is counted are *hard decisions*: positions in which people of a rating often throw
//! the value away. [`Decision`] says how hard a position is for each level, [`Yardstick`] what people of a rating
//! manage, made of their own games, and [`Account`] sums up one player as a bet that an honest one loses on average.
//! [`findings`] does all of it for the games of an arena.
//! [`trial`] tries all of it on simulated players. `docs/fair-play.md` says why.
//!
//! Pure: whoever asks brings the scores of all columns.

mod account;
mod decision;
mod finding;
pub mod trial;
mod yardstick;

pub use account::{Account, FOUND};
pub use decision::{Decided, Decision, decisions, solve};
pub use finding::{Finding, RatedPlayer, SolvedGame, WeighingGame, findings};
pub use yardstick::{Sample, Yardstick};
