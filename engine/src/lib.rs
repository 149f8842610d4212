//! Connect Four rules and search.
//!
//! This package is pure: no I/O, no clock, no ambient randomness, no async. Everything that varies is an
//! argument: a generator from [`rng`], a node budget and a stop flag from [`search`]. Equal arguments give
//! equal results on every machine.
//!
//! - [`board`] holds the vocabulary: one type per file, from [`Column`] to [`Position`].
//! - [`notation`] reads and prints move lists and board diagrams; [`Game`] replays moves into a position and
//!   an outcome.
//! - A [`SideResult`] is a game's end as one player sees it, a [`WinDrawLoss`] counts such ends.
//! - [`openings`] are fair beginnings, [`playout`] plays at random, [`search`] looks ahead, [`solver`] to the end,
//!   on boards above 64 bits too, which nothing else knows.
//!
//! ```
//! use fourfold_engine::{Game, Outcome, Side, Variant};
//!
//! let game = Game::from_moves(Variant::STANDARD, "1212121")?;
//! assert!(matches!(game.outcome(), Some(Outcome::Win { by: Side::First, .. })));
//! # Ok::<(), fourfold_engine::ReplayError>(())
//! ```

// Not `forbid`: one module, `solver::processor`, allows itself a prefetch and what not every processor can.
#![deny(unsafe_code)]

pub mod board;
mod game;
pub mod notation;
pub mod openings;
pub mod playout;
pub mod review;
pub mod rng;
pub mod search;
pub mod solver;
mod tally;

pub use board::{
    Bitboard, BySide, Cell, CellError, Column, Direction, IllegalMove, Line, Outcome, Position, Side,
    StonesError, Variant, VariantError,
};
pub use game::{Game, ReplayError};
pub use notation::{DiagramError, MovesError};
pub use tally::{SideResult, WinDrawLoss};
