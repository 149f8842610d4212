//! Boards as bits, for any variant, with that of 7x6 known to the compiler.

use crate::board::{Bitboard, Variant};

/// What the search has to know about a board: `height + 1` bits a column, as in [`Bitboard`].
///
/// One implementation has no fields and folds to constants, which makes 7x6 about twice as fast as the other.
pub(super) trait Geometry: Copy + Send + Sync {
    fn width(self) -> u32;
    fn height(self) -> u32;
    fn connect(self) -> u32;
    /// The lowest cell of each column.
    fn bottom(self) -> u64;

    #[inline(always)]
    fn cells(self) -> u32 {
        self.width() * self.height()
    }

    /// Bits of a column: its cells and the guard.
    #[inline(always)]
    fn stride(self) -> u32 {
        self.height() + 1
    }

    /// Bits of a key.
    #[inline(always)]
    fn key_bits(self) -> u32 {
        self.width() * self.stride()
    }

    /// All cells.
    #[inline(always)]
    fn full(self) -> u64 {
        (self.bottom() << self.height()).wrapping_sub(self.bottom())
    }

    /// The cells of every second row from the second on: those that follow the opponent's stone in the column.
    #[inline(always)]
    fn even_rows(self) -> u64 {
        // A column of ones and zeros in turn, multiplied into every column.
        let column = 0xAAAA_AAAA_AAAA_AAAA & ((1 << self.height()) - 1);
        self.bottom().wrapping_mul(column)
    }

    /// The score of a win with the stone that is number `stones` on the board. Beyond the last cell: 0.
    #[inline(always)]
    fn win(self, stones: u32) -> i32 {
        ((self.cells() + 2).cast_signed() - stones.cast_signed()).max(0) >> 1
    }

    /// Bit distances between the neighbours of a line, the vertical one left out.
    #[inline(always)]
    fn strides(self) -> [u32; 3] {
        [self.stride() - 1, self.stride(), self.stride() + 1]
    }

    /// The cells where stones would land.
    #[inline(always)]
    fn playable(self, mask: u64) -> u64 {
        mask.wrapping_add(self.bottom()) & self.full()
    }

    /// The cells, whether empty or not, that complete a line with `own`; bits off the board are nonsense.
    #[inline(always)]
    fn completing(self, own: u64) -> u64 {
        let connect = self.connect();
        // Vertically only the cell above counts.
        let mut all = own << 1;
        for step in 2..connect {
            all &= own << step;
        }
        for stride in self.strides() {
            if connect == 4 {
                let (below, above) = (own << stride, own >> stride);
                let (two_below, two_above) = (below & (own << (2 * stride)), above & (own >> (2 * stride)));
                all |= two_below & (above | own << (3 * stride));
                all |= two_above & (below | own >> (3 * stride));
                continue;
            }
            for gap in 0..connect {
                let mut starts = u64::MAX;
                for step in (0..connect).filter(|&step| step != gap) {
                    starts &= own.unbounded_shr(step * stride);
                }
                all |= starts.unbounded_shl(gap * stride);
            }
        }
        all
    }

    /// Whether there is a line in these cells.
    #[inline(always)]
    fn has_line(self, cells: u64) -> bool {
        if self.connect() == 4 {
            let mut starts = 0;
            for stride in [1, self.stride() - 1, self.stride(), self.stride() + 1] {
                let pairs = cells & (cells >> stride);
                starts |= pairs & (pairs >> (2 * stride));
            }
            return starts != 0;
        }
        [1, self.stride() - 1, self.stride(), self.stride() + 1].into_iter().any(|stride| {
            (1..self.connect()).fold(cells, |starts, step| starts & cells.unbounded_shr(step * stride)) != 0
        })
    }

    /// Cells on lines within `cells`.
    #[inline(always)]
    fn open_cells(self, cells: u64) -> u64 {
        let mut all = 0;
        for stride in [1, self.stride() - 1, self.stride(), self.stride() + 1] {
            let pairs = cells & (cells >> stride);
            let starts = pairs & (pairs >> (2 * stride));
            let two = starts | (starts << stride);
            all |= two | (two << (2 * stride));
        }
        all
    }

    /// The cells above those given, column by column.
    #[inline(always)]
    fn above(self, cells: u64) -> u64 {
        let mut all = 0;
        let mut layer = cells;
        for _ in 1..self.height() {
            layer = (layer << 1) & self.full();
            all |= layer;
        }
        all
    }

    /// All cells of the column in which this one cell is.
    #[inline(always)]
    fn column_of(self, cell: u64) -> u64 {
        let column = cell.trailing_zeros() / self.stride();
        ((1 << self.height()) - 1) << (column * self.stride())
    }

    /// Left and right exchanged.
    #[inline(always)]
    fn mirror(self, bits: u64) -> u64 {
        let column = (1_u64 << self.stride()) - 1;
        let mut mirrored = 0;
        for from in 0..self.width() {
            let to = self.width() - 1 - from;
            mirrored |= (bits >> (from * self.stride()) & column) << (to * self.stride());
        }
        mirrored
    }
}

/// Seven columns of six cells, four in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standard;

impl Geometry for Standard {
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

/// Any other variant.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnySize {
    width: u32,
    height: u32,
    connect: u32,
    bottom: u64,
}

impl AnySize {
    pub(super) fn new(variant: Variant) -> Self {
        Self {
            width: variant.width().into(),
            height: variant.height().into(),
            connect: variant.connect().into(),
            bottom: Bitboard::bottom_row(variant).bits(),
        }
    }
}

impl Geometry for AnySize {
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
    fn bottom(self) -> u64 {
        self.bottom
    }
}
