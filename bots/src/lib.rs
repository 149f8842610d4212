//! The house bots of Fourfold.
//!
//! A [`Bot`] sees a position and a budget, never a room, a socket or a clock. Bots differ in how they value a
//! position; rules, search, time checks and tie-breaking live in [`fourfold_engine`]. The [`registry`] is the
//! one list of bots and their settings, and turns a [`BotSpec`] such as `negamax:depth=6` into a bot.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use fourfold_bots::{MoveBudget, registry};
//! use fourfold_engine::{Game, Variant};
//!
//! let mut bot = registry::build(&"random:seed=7".parse()?, Variant::STANDARD)?;
//! let game = Game::from_moves(Variant::STANDARD, "44353").expect("a legal game");
//! let choice = bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false))?;
//! assert!(game.position().is_legal(choice.column));
//! # Ok::<(), fourfold_bots::BotError>(())
//! ```

#![forbid(unsafe_code)]

mod alphabeta;
mod bot;
pub mod c4ai;
mod cutoff;
mod greedy;
pub mod learner;
pub mod learners;
pub mod lines69;
mod mcts;
pub mod memory;
mod montecarlo;
mod negamax;
pub mod ntuple;
mod perfect;
mod random;
mod reason;
mod recipe;
pub mod registry;
mod self_play;
mod setting;
mod spec;
mod stupid;
#[cfg(test)]
mod testing;
pub mod think;
pub mod training;
mod training_run;

pub use bot::{Bot, BotError, Choice, GameRecord, MoveBudget, SearchInfo};
pub use learner::{Change, Knowledge, KnownPattern, Learner};
pub use perfect::Level;
pub use reason::{Counts, Reason, ReasonError};
pub use recipe::Recipe;
pub use setting::{Setting, SettingKind};
pub use spec::BotSpec;
