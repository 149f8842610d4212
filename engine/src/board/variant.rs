//! Board size and line length.

use std::fmt;
use std::str::FromStr;

/// A board of `width` x `height` cells on which `connect` aligned stones win, such as `7x6` or `9x6x5`.
///
/// Allowed is whatever fits 64 bits with one guard cell above each column: at least 4x4, and
/// `width * (height + 1)` at most 64, so 7x6, 8x7, 9x6, 10x5, and at the extremes 12x4 and 4x15. Lines have 3
/// to 8 stones and fit the longer side of the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    width: u8,
    height: u8,
    connect: u8,
}

impl Variant {
    /// Seven columns, six rows, four in a line.
    pub const STANDARD: Self = Self { width: 7, height: 6, connect: 4 };
    /// The least width and height.
    pub const MIN_SIDE: u8 = 4;
    /// The greatest width of any variant: twelve columns of four cells.
    pub const MAX_WIDTH: u8 = 12;
    /// The greatest height of any variant: four columns of fifteen cells.
    pub const MAX_HEIGHT: u8 = 15;
    /// The shortest line that wins.
    pub const MIN_CONNECT: u8 = 3;
    /// The longest line that wins.
    pub const MAX_CONNECT: u8 = 8;

    /// Checks and builds a variant.
    ///
    /// # Errors
    ///
    /// Fails if the board is smaller than 4x4 or does not fit 64 bits, or if no line of `connect` stones is
    /// allowed or fits the board.
    pub fn new(width: u8, height: u8, connect: u8) -> Result<Self, VariantError> {
        check_sides(width, height)?;
        if u32::from(width) * (u32::from(height) + 1) > u64::BITS {
            return Err(VariantError::TooLarge { width, height });
        }
        check_connect(width, height, connect)?;
        Ok(Self { width, height, connect })
    }

    /// Number of columns, 4 to 12.
    pub const fn width(self) -> u8 {
        self.width
    }

    /// Number of rows, 4 to 15.
    pub const fn height(self) -> u8 {
        self.height
    }

    /// Stones in a winning line, 3 to 8.
    pub const fn connect(self) -> u8 {
        self.connect
    }

    /// Number of cells, and so the number of plies after which the board is full: 42 on 7x6.
    pub const fn cells(self) -> u32 {
        self.width as u32 * self.height as u32
    }

    /// Bits per column in a [`super::Bitboard`]: the rows and the guard.
    pub(crate) const fn stride(self) -> u32 {
        self.height as u32 + 1
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// Prints `WxH`, and `WxHxK` unless four stones win.
impl fmt::Display for Variant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&print_size([self.width, self.height, self.connect]))
    }
}

/// Reads `WxH` or `WxHxK` in plain decimal digits; K is 4 if left out.
impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let [width, height, connect] = parse_size(text)?;
        Self::new(width, height, connect)
    }
}

/// Refuses a board that is too narrow or too low for any game.
pub(crate) fn check_sides(width: u8, height: u8) -> Result<(), VariantError> {
    if width < Variant::MIN_SIDE || height < Variant::MIN_SIDE {
        return Err(VariantError::TooSmall { width, height });
    }
    Ok(())
}

/// Refuses a line that no board has or that this one has no room for.
pub(crate) fn check_connect(width: u8, height: u8, connect: u8) -> Result<(), VariantError> {
    let longest = Variant::MAX_CONNECT.min(width.max(height));
    if !(Variant::MIN_CONNECT..=longest).contains(&connect) {
        return Err(VariantError::Connect { connect, longest });
    }
    Ok(())
}

/// Width, height and length of a line as text.
pub(crate) fn print_size([width, height, connect]: [u8; 3]) -> String {
    if connect == Variant::STANDARD.connect {
        format!("{width}x{height}")
    } else {
        format!("{width}x{height}x{connect}")
    }
}

/// What [`print_size`] prints, whether or not there is such a board.
pub(crate) fn parse_size(text: &str) -> Result<[u8; 3], VariantError> {
    let unreadable = || VariantError::Unreadable { text: text.to_owned() };
    let numbers: Vec<u8> = text.split('x').map(parse_number).collect::<Option<_>>().ok_or_else(unreadable)?;
    match numbers[..] {
        [width, height] => Ok([width, height, Variant::STANDARD.connect]),
        [width, height, connect] => Ok([width, height, connect]),
        _ => Err(unreadable()),
    }
}

/// A decimal number without sign or leading zero, so that each variant has few spellings.
fn parse_number(text: &str) -> Option<u8> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if is_plain { text.parse().ok() } else { None }
}

/// Why there is no such variant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VariantError {
    #[error("`{text}` is not a board size such as 7x6 or 9x6x5")]
    Unreadable { text: String },
    #[error("a {width}x{height} board is too small: the least is 4x4")]
    TooSmall { width: u8, height: u8 },
    #[error("a {width}x{height} board is too large: width x (height + 1) is at most 64")]
    TooLarge { width: u8, height: u8 },
    #[error("lines of {connect} are not allowed on this board: 3 to {longest} are")]
    Connect { connect: u8, longest: u8 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u8, u8, u8)>) {
        let variant: Option<Variant> = text.parse().ok();
        assert_eq!(variant.map(|v| (v.width(), v.height(), v.connect())), expected);
    }

    #[test]
    fn sizes_that_fit_are_read() {
        check("7x6", Some((7, 6, 4)));
        check("7x6x4", Some((7, 6, 4)));
        check("9x6x5", Some((9, 6, 5)));
        check("8x7", Some((8, 7, 4)));
        check("12x4", Some((12, 4, 4)));
        check("4x15x8", Some((4, 15, 8)));
        check("4x4x3", Some((4, 4, 3)));
    }

    #[test]
    fn other_sizes_are_refused() {
        for text in ["", "7", "7x", "x6", "7x6x", "7x6x4x1", "07x6", "+7x6", "7X6", "7 x6", "7x6x04", "256x6"]
        {
            check(text, None);
        }
        for text in ["3x6", "7x3", "8x8", "13x4", "4x16", "255x255", "7x6x2", "7x6x9", "7x6x0", "4x4x5"] {
            check(text, None);
        }
    }

    #[test]
    fn four_in_a_line_goes_without_saying() {
        for text in ["7x6", "9x6x5", "4x4x3"] {
            assert_eq!(text.parse::<Variant>().unwrap().to_string(), text);
        }
        assert_eq!("7x6x4".parse::<Variant>().unwrap().to_string(), "7x6");
    }

    #[test]
    fn errors_give_the_values() {
        let error = Variant::new(5, 4, 6).unwrap_err();
        assert_eq!(error.to_string(), "lines of 6 are not allowed on this board: 3 to 5 are");
    }
}
