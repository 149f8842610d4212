//! The vocabulary of the board, one type per file.
//!
//! A [`Variant`] is a board size and a line length; a [`Position`] is stones plus who plays. What happened
//! before, and how it is written down, is the business of [`crate::Game`] and [`crate::notation`].

mod bitboard;
mod cell;
mod column;
mod direction;
mod line;
mod outcome;
mod position;
mod side;
pub(crate) mod variant;

pub use bitboard::Bitboard;
pub use cell::{Cell, CellError};
pub use column::Column;
pub use direction::Direction;
pub use line::Line;
pub use outcome::Outcome;
pub use position::{IllegalMove, Position, StonesError};
pub use side::{BySide, Side};
pub use variant::{Variant, VariantError};
