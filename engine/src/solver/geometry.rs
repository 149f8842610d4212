//! Boards as bits, for any variant, with that of 7x6 known to the compiler.

use super::word::Word;
use crate::board::{Bitboard, Variant};

/// What the search has to know about a board: `height + 1` bits a column, as in [`Bitboard`].
///
/// [`Standard`] has no fields and folds to constants, which takes 7x6 from 217 ns a node, as [`AnySize`], to 127.
#[expect(clippy::inline_always, reason = "dimensions fold to constants only where they are inlined")]
pub(super) trait Geometry: Copy + Send + Sync {
    /// The word whose bits are the cells.
    type Word: Word;

    fn width(self) -> u32;
    fn height(self) -> u32;
    fn connect(self) -> u32;
    /// The lowest cell of each column.
    fn bottom(self) -> Self::Word;

    #[inline(always)]
    fn cells(self) -> u32 {
        self.width() * self.height()
    }

    /// Bits of a column: its cells and the guard.
    #[inline(always)]
    fn stride(self) -> u32 {
        self.height() + 1
    }

    /// Bits of a key: those of a board with its guards.
    #[inline(always)]
    fn key_bits(self) -> u32 {
        self.width() * self.stride()
    }

    #[inline(always)]
    fn full(self) -> Self::Word {
        (self.bottom() << self.height()).wrapping_sub(self.bottom())
    }

    /// The cells of the second, fourth, sixth row and so on.
    #[inline(always)]
    fn even_rows(self) -> Self::Word {
        // One such column, multiplied into every column.
        let column = 0xAAAA_AAAA_AAAA_AAAA & ((1 << self.height()) - 1);
        self.bottom().wrapping_mul(Self::Word::from(column))
    }

    /// The score of a win with the stone that is number `stones` on the board, as [`crate::search::Score::win`] has
    /// it; 0 where the board is full before.
    #[inline(always)]
    fn win(self, stones: u32) -> i32 {
        ((self.cells() + 2).cast_signed() - stones.cast_signed()).max(0) >> 1
    }

    /// Bit distances between the neighbours of a line: vertical, falling, horizontal, rising.
    #[inline(always)]
    fn strides(self) -> [u32; 4] {
        [1, self.stride() - 1, self.stride(), self.stride() + 1]
    }

    /// The cells where stones would land.
    #[inline(always)]
    fn playable(self, mask: Self::Word) -> Self::Word {
        mask.wrapping_add(self.bottom()) & self.full()
    }

    /// The cells, empty or not, that complete a line with `own`. Bits off the board mean nothing.
    #[inline(always)]
    fn completing(self, own: Self::Word) -> Self::Word {
        let connect = self.connect();
        // Vertically only the cell above the stones can be empty.
        let mut all = (2..connect).fold(own << 1, |all, step| all & (own << step));
        for stride in &self.strides()[1..] {
            // Runs of 0, 1, 2 .. stones that end before a cell, and that begin behind it: together with the cell they
            // are a line if they have all but one of its stones.
            let mut before = [Self::Word::ALL; Variant::MAX_CONNECT as usize];
            let mut behind = before;
            for run in 1..connect {
                before[run as usize] = before[run as usize - 1] & own.unbounded_shl(run * stride);
                behind[run as usize] = behind[run as usize - 1] & own.unbounded_shr(run * stride);
            }
            for run in 0..connect {
                all |= before[run as usize] & behind[(connect - 1 - run) as usize];
            }
        }
        all
    }

    /// The cells from which a line of these cells starts, in the direction of a stride.
    #[inline(always)]
    fn starts(self, cells: Self::Word, stride: u32) -> Self::Word {
        // Pairs, then pairs of pairs; the last step overlaps if the length is no power of two.
        let (mut starts, mut length) = (cells, 1);
        while length < self.connect() {
            let step = length.min(self.connect() - length);
            starts &= starts.unbounded_shr(step * stride);
            length += step;
        }
        starts
    }

    /// Whether there is a line of these cells.
    #[inline(always)]
    fn has_line(self, cells: Self::Word) -> bool {
        // All directions before the one branch: a test in between would be guessed wrong too often.
        let starts =
            self.strides().into_iter().fold(Self::Word::ZERO, |all, stride| all | self.starts(cells, stride));
        starts != Self::Word::ZERO
    }

    /// The cells above those given, column by column.
    #[inline(always)]
    fn above(self, cells: Self::Word) -> Self::Word {
        let mut all = Self::Word::ZERO;
        let mut layer = cells;
        for _ in 1..self.height() {
            layer = (layer << 1) & self.full();
            all |= layer;
        }
        all
    }

    /// All cells of the column in which this one cell is.
    #[inline(always)]
    fn column_of(self, cell: Self::Word) -> Self::Word {
        let column = cell.trailing_zeros() / self.stride();
        Self::Word::from((1 << self.height()) - 1) << (column * self.stride())
    }

    /// Left and right exchanged, guards included.
    #[inline(always)]
    fn mirror(self, bits: Self::Word) -> Self::Word {
        let column = Self::Word::from((1 << self.stride()) - 1);
        let mut mirrored = Self::Word::ZERO;
        for from in 0..self.width() {
            let to = self.width() - 1 - from;
            mirrored |= ((bits >> (from * self.stride())) & column) << (to * self.stride());
        }
        mirrored
    }

    /// A number that no other position of the same variant has, but for its mirror image, which has the same: see
    /// [`crate::Position::key`].
    #[inline(always)]
    fn key(self, mine: Self::Word, mask: Self::Word) -> Self::Word {
        let key = mine + mask;
        key.min(self.mirror(key))
    }
}

/// Seven columns of six cells, four in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standard;

#[expect(clippy::inline_always, reason = "as for the trait")]
impl Geometry for Standard {
    type Word = u64;

    #[inline(always)]
    fn width(self) -> u32 {
        7
    }

    #[inline(always)]
    fn height(self) -> u32 {
        6
    }

    #[inline(always)]
    fn connect(self) -> u32 {
        4
    }

    #[inline(always)]
    fn bottom(self) -> u64 {
        const BOTTOM: u64 = Bitboard::bottom_row(Variant::STANDARD).bits();
        BOTTOM
    }
}

/// Any variant, read at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AnySize<W> {
    width: u32,
    height: u32,
    connect: u32,
    bottom: W,
}

impl<W: Word> AnySize<W> {
    /// A board that fits the word, guards included.
    pub(super) fn new(width: u8, height: u8, connect: u8) -> Self {
        let [width, height, connect] = [width, height, connect].map(u32::from);
        debug_assert!(width * (height + 1) <= W::BITS, "{width}x{height} does not fit");
        let bottom = (0..width).fold(W::ZERO, |row, column| row | W::ONE << (column * (height + 1)));
        Self { width, height, connect, bottom }
    }
}

impl AnySize<u64> {
    pub(super) fn of(variant: Variant) -> Self {
        Self::new(variant.width(), variant.height(), variant.connect())
    }
}

#[expect(clippy::inline_always, reason = "as for the trait")]
impl<W: Word> Geometry for AnySize<W> {
    type Word = W;

    #[inline(always)]
    fn width(self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn height(self) -> u32 {
        self.height
    }

    #[inline(always)]
    fn connect(self) -> u32 {
        self.connect
    }

    #[inline(always)]
    fn bottom(self) -> W {
        self.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Cell, Position};
    use crate::rng;
    use crate::search::{Score, tests::random_position, winning_cells};

    const VARIANTS: [&str; 9] = ["7x6", "9x6", "8x7", "4x4x3", "9x6x5", "10x5", "4x15x8", "12x4x7", "5x5"];

    fn check(geometry: impl Geometry<Word = u64>, position: &Position) {
        let variant = position.variant();
        let (mine, mask) = (position.mine(), position.mask());
        let empty = geometry.full() & !mask.bits();
        assert_eq!(geometry.full(), Bitboard::full(variant).bits());
        assert_eq!(geometry.playable(mask.bits()), position.playable().bits());
        assert_eq!(geometry.completing(mine.bits()) & empty, winning_cells(mine, mask, variant).bits());
        for stones in [mask, mine, position.theirs()] {
            assert_eq!(geometry.has_line(stones.bits()), stones.has_line(variant), "{position:?}");
            assert_eq!(geometry.mirror(stones.bits()), stones.mirror(variant).bits());
        }
        for stones in position.ply() + 1..=variant.cells() {
            assert_eq!(geometry.win(stones), Score::win(variant, stones).value());
        }
        for cell in mine.cells(variant) {
            let one = Bitboard::cell(cell, variant).bits();
            assert_eq!(geometry.column_of(one), Bitboard::column(cell.column(), variant).bits());
            let above = (cell.row_index() + 1..usize::from(variant.height()))
                .filter_map(|row| Cell::new(cell.column(), row))
                .fold(Bitboard::EMPTY, |all, cell| all | Bitboard::cell(cell, variant));
            assert_eq!(geometry.above(one), above.bits());
            assert_eq!(geometry.even_rows() & one != 0, cell.row_index() % 2 == 1);
        }
    }

    #[test]
    fn both_geometries_say_what_the_board_says() {
        let mut rng = rng::seeded(21);
        for variant in VARIANTS.map(|variant| variant.parse::<Variant>().unwrap()) {
            for _ in 0..200 {
                let position = random_position(variant, &mut rng);
                check(AnySize::of(variant), &position);
                if variant == Variant::STANDARD {
                    check(Standard, &position);
                }
            }
        }
    }
}
