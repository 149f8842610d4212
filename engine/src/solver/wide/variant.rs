//! Board sizes that fit 128 bits.

use std::fmt;
use std::str::FromStr;

use crate::board::variant::{check_connect, check_sides, parse_size, print_size};
use crate::board::{Variant, VariantError};
use crate::solver::geometry::AnySize;

/// A board of at most [`WideVariant::MAX_CELLS`] cells, such as `8x8` or `12x8x5`: all that a [`Variant`] may be, and
/// more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WideVariant {
    width: u8,
    height: u8,
    connect: u8,
}

impl WideVariant {
    /// The most cells. With a guard above each of at most twelve columns that is 108 bits, for which an entry of the
    /// solver's table has room.
    pub const MAX_CELLS: u8 = 96;
    /// The greatest width, for which move lists have digits.
    pub const MAX_WIDTH: u8 = Variant::MAX_WIDTH;
    /// The greatest height.
    pub const MAX_HEIGHT: u8 = Variant::MAX_HEIGHT;

    /// Checks and builds a variant.
    ///
    /// # Errors
    ///
    /// Fails if the board is smaller than 4x4 or larger than the constants say, or if no line of `connect` stones is
    /// allowed or fits the board.
    pub fn new(width: u8, height: u8, connect: u8) -> Result<Self, WideVariantError> {
        check_sides(width, height)?;
        let cells = u16::from(width) * u16::from(height);
        if width > Self::MAX_WIDTH || height > Self::MAX_HEIGHT || cells > u16::from(Self::MAX_CELLS) {
            return Err(WideVariantError::TooLarge { width, height });
        }
        check_connect(width, height, connect)?;
        Ok(Self { width, height, connect })
    }

    /// The same board as one that can be played; `None` if it does not fit 64 bits.
    pub fn playable(self) -> Option<Variant> {
        Variant::new(self.width, self.height, self.connect).ok()
    }

    /// Number of columns.
    pub const fn width(self) -> u8 {
        self.width
    }

    /// Number of rows.
    pub const fn height(self) -> u8 {
        self.height
    }

    /// Stones in a winning line.
    pub const fn connect(self) -> u8 {
        self.connect
    }

    pub(in crate::solver) fn geometry(self) -> AnySize<u128> {
        AnySize::new(self.width, self.height, self.connect)
    }
}

impl From<Variant> for WideVariant {
    fn from(variant: Variant) -> Self {
        let (width, height, connect) = (variant.width(), variant.height(), variant.connect());
        Self { width, height, connect }
    }
}

impl Default for WideVariant {
    fn default() -> Self {
        Variant::STANDARD.into()
    }
}

/// Prints `WxH`, and `WxHxK` unless four stones win.
impl fmt::Display for WideVariant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&print_size([self.width, self.height, self.connect]))
    }
}

/// Reads `WxH` or `WxHxK` in plain decimal digits; K is 4 if left out.
impl FromStr for WideVariant {
    type Err = WideVariantError;

    fn from_str(text: &str) -> Result<Self, WideVariantError> {
        let [width, height, connect] = parse_size(text)?;
        Self::new(width, height, connect)
    }
}

/// Why there is no such variant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WideVariantError {
    #[error(
        "a {width}x{height} board is too large to solve: at most {} columns, {} rows and {} cells",
        WideVariant::MAX_WIDTH,
        WideVariant::MAX_HEIGHT,
        WideVariant::MAX_CELLS
    )]
    TooLarge { width: u8, height: u8 },
    #[error(transparent)]
    Other(#[from] VariantError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<[u8; 3], &str>) {
        let read = text.parse::<WideVariant>().map(|v| [v.width(), v.height(), v.connect()]);
        assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn sizes_that_fit_are_read() {
        check("8x8", Ok([8, 8, 4]));
        check("12x8x5", Ok([12, 8, 5]));
        check("6x15", Ok([6, 15, 4]));
        check("7x6x4", Ok([7, 6, 4]));
        check("4x4x3", Ok([4, 4, 3]));
    }

    #[test]
    fn other_sizes_are_refused_with_what_is_allowed() {
        let limits = "board is too large to solve: at most 12 columns, 15 rows and 96 cells";
        for size in ["20x20", "13x4", "4x16", "12x9", "7x14", "255x255"] {
            check(size, Err(&format!("a {size} {limits}")));
        }
        check("3x9", Err("a 3x9 board is too small: the least is 4x4"));
        check("8x8x9", Err("lines of 9 are not allowed on this board: 3 to 8 are"));
        check("8x8x2", Err("lines of 2 are not allowed on this board: 3 to 8 are"));
        check("8*8", Err("`8*8` is not a board size such as 7x6 or 9x6x5"));
        check("256x8", Err("`256x8` is not a board size such as 7x6 or 9x6x5"));
    }

    #[test]
    fn boards_of_64_bits_are_playable_and_others_are_not() {
        for text in ["7x6", "8x7", "4x15x8", "12x4", "5x5x3"] {
            let variant: WideVariant = text.parse().unwrap();
            let playable = variant.playable().unwrap();
            assert_eq!((playable.to_string(), variant.to_string()), (text.to_owned(), text.to_owned()));
            assert_eq!(WideVariant::from(playable), variant);
        }
        for text in ["8x8", "9x7", "5x12", "12x8x5"] {
            let variant: WideVariant = text.parse().unwrap();
            assert_eq!((variant.playable(), variant.to_string()), (None, text.to_owned()));
        }
    }
}
