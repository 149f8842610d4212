//! Sets of cells as 64 bits.

use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor};

use super::{Cell, Column, Direction, Variant};

/// A set of cells: `height + 1` bits per column, the rows and an always empty guard; bit 0 is bottom left.
///
/// ```text
///  5 12 19 26 33 40 47    top row of 7x6; the guards are 6, 13, 20 ..
///  4 11 18 25 32 39 46
///  ..
///  0  7 14 21 28 35 42    bottom row
/// ```
///
/// A bitboard does not carry its variant; all operations between boards and on one must use the same.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bitboard(u64);

impl Bitboard {
    pub const EMPTY: Self = Self(0);

    /// The set with these bits; the guards must be zero for line tests to hold.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    /// All cells of the board.
    pub const fn full(variant: Variant) -> Self {
        // Every column of ones is its guard bit less its lowest bit; all columns at once, without a borrow
        // between them.
        let bottom = Self::bottom_row(variant).0;
        Self((bottom << variant.height()).wrapping_sub(bottom))
    }

    /// The lowest cell of each column.
    #[inline]
    pub const fn bottom_row(variant: Variant) -> Self {
        Self(BOTTOM_ROWS[variant.width() as usize][variant.height() as usize])
    }

    /// The highest cell of each column.
    pub const fn top_row(variant: Variant) -> Self {
        Self(Self::bottom_row(variant).0 << (variant.height() - 1))
    }

    /// All cells of one column, which must be on the board.
    #[inline]
    pub const fn column(column: Column, variant: Variant) -> Self {
        Self(((1 << variant.height()) - 1) << column.shift(variant))
    }

    /// The set of this one cell, which must be on the board.
    pub fn cell(cell: Cell, variant: Variant) -> Self {
        Self(1 << cell.bit_index(variant))
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of cells.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set has the cell, which must be on the board.
    pub fn contains(self, cell: Cell, variant: Variant) -> bool {
        !(self & Self::cell(cell, variant)).is_empty()
    }

    /// The cells that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The cells, column by column from the left, each from the bottom.
    pub fn cells(self, variant: Variant) -> impl Iterator<Item = Cell> + Clone {
        std::iter::successors(Some(self.0), |bits| Some(bits & bits.wrapping_sub(1)))
            .take_while(|bits| *bits != 0)
            .map(move |bits| Cell::from_bit_index(bits.trailing_zeros(), variant))
    }

    /// For a set of stones filled from the bottom: the cell above the stones of each column, its guard if it
    /// is full.
    #[inline]
    pub(crate) const fn tops(self, bottom_row: Self) -> Self {
        // Adding one to a column of ones carries to the cell above and never beyond the guard.
        Self(self.0 + bottom_row.0)
    }

    /// The set with left and right exchanged.
    pub fn mirror(self, variant: Variant) -> Self {
        let column = (1_u64 << variant.stride()) - 1;
        let bits = variant.columns().fold(0, |mirrored, from| {
            mirrored | ((self.0 >> from.shift(variant) & column) << from.mirror(variant).shift(variant))
        });
        Self(bits)
    }

    /// Tests for a line. The guards stop lines from wrapping into the next column.
    #[inline]
    pub const fn has_line(self, variant: Variant) -> bool {
        // With the variant known the compiler folds all strides, which makes the test four times as fast.
        if is_standard(variant) {
            self.has_line_folded(Variant::STANDARD)
        } else {
            self.has_line_folded(variant)
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the strides are folded only where the variant is a constant")]
    pub(crate) const fn has_line_folded(self, variant: Variant) -> bool {
        // All four are worked out before the one branch: a test in between would be guessed wrong too often.
        let vertical = self.line_starts(Direction::Vertical, variant).0;
        let horizontal = self.line_starts(Direction::Horizontal, variant).0;
        let falling = self.line_starts(Direction::Falling, variant).0;
        let rising = self.line_starts(Direction::Rising, variant).0;
        vertical | horizontal | falling | rising != 0
    }

    /// The cells from which `connect` cells of the set follow each other in `direction`.
    ///
    /// The run is doubled with each step: pairs, then pairs of pairs; the last step overlaps if `connect` is
    /// no power of two. Each step compares neighbours in the end, so the guards suffice for any length.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the strides are folded only where the variant is a constant")]
    pub(crate) const fn line_starts(self, direction: Direction, variant: Variant) -> Self {
        let stride = direction.stride(variant);
        let connect = variant.connect() as u32;
        let mut starts = self.0;
        let mut length = 1;
        while length < connect {
            let step = if length * 2 <= connect { length } else { connect - length };
            // Long lines on tall boards shift by 64 and more, which leaves nothing.
            starts &= starts.unbounded_shr(step * stride);
            length += step;
        }
        Self(starts)
    }
}

/// [`Bitboard::bottom_row`] by width and height; zero for sizes that no variant has.
static BOTTOM_ROWS: [[u64; Variant::MAX_HEIGHT as usize + 1]; Variant::MAX_WIDTH as usize + 1] = {
    let mut rows = [[0; Variant::MAX_HEIGHT as usize + 1]; Variant::MAX_WIDTH as usize + 1];
    let mut width = 1;
    while width < rows.len() {
        let mut height = 1;
        while height < rows[width].len() && width * (height + 1) <= 64 {
            // One column more than the next narrower board.
            rows[width][height] = rows[width - 1][height] | 1 << ((width - 1) * (height + 1));
            height += 1;
        }
        width += 1;
    }
    rows
};

/// `==` on variants, usable in constant functions.
const fn is_standard(variant: Variant) -> bool {
    let standard = Variant::STANDARD;
    variant.width() == standard.width()
        && variant.height() == standard.height()
        && variant.connect() == standard.connect()
}

impl BitAnd for Bitboard {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitOrAssign for Bitboard {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cells: &str, variant: Variant) -> Bitboard {
        let cells = cells.split_whitespace().map(|cell| cell.parse::<Cell>().unwrap());
        cells.fold(Bitboard::EMPTY, |set, cell| set | Bitboard::cell(cell, variant))
    }

    #[track_caller]
    fn check_has_four(cells: &str, expected: bool) {
        let set = set(cells, Variant::STANDARD);
        assert_eq!(set.has_line(Variant::STANDARD), expected);
        assert_eq!(set.mirror(Variant::STANDARD).has_line(Variant::STANDARD), expected);
        assert_eq!(set.find_line(Variant::STANDARD).is_some(), expected);
    }

    #[test]
    fn four_in_a_line_are_found_in_all_directions() {
        check_has_four("a1 a2 a3 a4", true);
        check_has_four("d1 e1 f1 g1", true);
        check_has_four("a6 b5 c4 d3", true);
        check_has_four("d3 e4 f5 g6", true);
        check_has_four("a1 a2 a3 a5", false);
        check_has_four("", false);
    }

    #[test]
    fn column_top_does_not_join_the_next_column() {
        check_has_four("a5 a6 b1 b2", false); // neighbouring bits but for the guard
    }

    #[test]
    fn falling_line_does_not_join_below_the_floor() {
        check_has_four("a3 b2 c1 d6", false); // c1 and the guard of column c are six bits apart
    }

    #[test]
    fn rising_line_does_not_join_above_the_top() {
        check_has_four("a4 b5 c6 e1", false); // c6 and the guard of column d are eight bits apart
    }

    #[test]
    fn rows_do_not_join_around_the_edge() {
        check_has_four("f1 g1 a1 b1", false);
        check_has_four("f1 g1 a2 b2", false);
    }

    #[test]
    fn the_last_guard_of_a_full_word_is_empty_too() {
        let variant: Variant = "8x7".parse().unwrap(); // 8 columns of 8 bits: no spare bit
        assert_eq!(Bitboard::full(variant).count(), 56);
        assert_eq!(Bitboard::full(variant).bits() >> 63, 0);
        assert!(set("h4 h5 h6 h7", variant).has_line(variant));
        assert!(!set("h5 h6 h7 a1", variant).has_line(variant));
    }

    #[test]
    fn long_lines_on_tall_boards_are_measured_in_full() {
        let variant: Variant = "4x15x8".parse().unwrap();
        assert!(set("d8 d9 d10 d11 d12 d13 d14 d15", variant).has_line(variant));
        assert!(!set("d9 d10 d11 d12 d13 d14 d15 a1", variant).has_line(variant));
        assert!(!set("a1 b1 c1 d1", variant).has_line(variant));
    }

    #[test]
    fn edges_of_the_board() {
        let variant = Variant::STANDARD;
        assert_eq!(Bitboard::full(variant).bits(), 0x0000_FDFB_F7EF_DFBF);
        assert_eq!(Bitboard::bottom_row(variant), set("a1 b1 c1 d1 e1 f1 g1", variant));
        assert_eq!(Bitboard::top_row(variant), set("a6 b6 c6 d6 e6 f6 g6", variant));
        let column = Column::from_number(4).unwrap();
        assert_eq!(Bitboard::column(column, variant), set("d1 d2 d3 d4 d5 d6", variant));
    }

    #[test]
    fn of_several_lines_the_first_by_direction_is_named() {
        let variant = Variant::STANDARD;
        let line = set("a1 b1 c1 d1 e1 d2 d3 d4", variant).find_line(variant).unwrap();
        assert_eq!(line.to_string(), "d1 d2 d3 d4");
        let line = set("b1 c1 d1 e1 f1", variant).find_line(variant).unwrap();
        assert_eq!(line.to_string(), "b1 c1 d1 e1");
    }
}
