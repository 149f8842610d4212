//! Stones plus who plays.

use super::{Bitboard, BySide, Cell, Column, Line, Outcome, Side, Variant};

/// The stones on the board; who plays follows from their number.
///
/// At most one side has a line, and it is the side that moved last. Every column is filled from the bottom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    variant: Variant,
    /// Stones of the side to move.
    mine: Bitboard,
    /// Stones of both sides.
    mask: Bitboard,
}

impl Position {
    /// The empty board.
    pub const fn new(variant: Variant) -> Self {
        Self { variant, mine: Bitboard::EMPTY, mask: Bitboard::EMPTY }
    }

    /// The position with these stones, `mine` belonging to the side to move, whichever [`Side`] their number
    /// makes it. The numbers of stones of the two sides may differ by any amount, as on boards that others
    /// set up.
    ///
    /// # Errors
    ///
    /// Fails if a stone is off the board, on another stone or above an empty cell, or if the side to move has
    /// a line.
    pub fn from_stones(variant: Variant, mine: Bitboard, theirs: Bitboard) -> Result<Self, StonesError> {
        let mask = mine | theirs;
        if !mask.without(Bitboard::full(variant)).is_empty() {
            return Err(StonesError::OffBoard);
        }
        if let Some(cell) = (mine & theirs).cells(variant).next() {
            return Err(StonesError::Overlap { cell });
        }
        let supported = Bitboard::from_bits(mask.bits() << 1) | Bitboard::bottom_row(variant);
        if let Some(cell) = mask.without(supported).cells(variant).next() {
            return Err(StonesError::Floating { cell });
        }
        if mine.has_line(variant) {
            return Err(StonesError::AlreadyWon);
        }
        Ok(Self { variant, mine, mask })
    }

    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// The side that plays next, or would play if the game were not over.
    pub fn side_to_move(&self) -> Side {
        Side::to_move_at(self.ply())
    }

    /// Number of stones on the board.
    pub const fn ply(&self) -> u32 {
        self.mask.count()
    }

    /// Stones of the side to move.
    pub const fn mine(&self) -> Bitboard {
        self.mine
    }

    /// Stones of the side that moved last.
    pub const fn theirs(&self) -> Bitboard {
        self.mask.without(self.mine)
    }

    /// Stones of both sides.
    pub const fn mask(&self) -> Bitboard {
        self.mask
    }

    /// The stones of each side.
    pub fn stones(&self) -> BySide<Bitboard> {
        let to_move = self.side_to_move();
        BySide::from_fn(|side| if side == to_move { self.mine } else { self.theirs() })
    }

    /// The side whose stone is on `cell`; `None` if it is empty or not on the board.
    pub fn stone_at(&self, cell: Cell) -> Option<Side> {
        if !cell.is_on(self.variant) || !self.mask.contains(cell, self.variant) {
            return None;
        }
        let to_move = self.side_to_move();
        Some(if self.mine.contains(cell, self.variant) { to_move } else { to_move.opponent() })
    }

    /// The cells on which a stone would land: the lowest empty one of each column that is not full.
    pub const fn playable(&self) -> Bitboard {
        let guards = Bitboard::from_bits(Bitboard::top_row(self.variant).bits() << 1);
        self.mask.tops(Bitboard::bottom_row(self.variant)).without(guards)
    }

    /// The cell on which a stone in `column` would land; `None` if the column is full or not on the board.
    pub fn landing_cell(&self, column: Column) -> Option<Cell> {
        if !self.variant.has_column(column) {
            return None;
        }
        (self.playable() & Bitboard::column(column, self.variant)).cells(self.variant).next()
    }

    /// The columns that are not full, from the left, whether or not the game is over. For loops that know it
    /// is not.
    pub fn open_columns(&self) -> impl DoubleEndedIterator<Item = Column> + Clone + use<> {
        let position = *self;
        self.variant.columns().filter(move |&column| position.is_open(column))
    }

    /// The columns that can be played, from the left: none once the game is over.
    pub fn legal_columns(&self) -> impl DoubleEndedIterator<Item = Column> + Clone + use<> {
        let is_over = self.has_line_of_last_mover();
        self.open_columns().filter(move |_| !is_over)
    }

    /// Whether `column` can be played.
    pub fn is_legal(&self, column: Column) -> bool {
        self.check(column).is_ok()
    }

    /// The legal columns with which the side to move completes a line at once, from the left.
    pub fn winning_columns(&self) -> impl Iterator<Item = Column> + use<> {
        let position = *self;
        self.legal_columns().filter(move |&column| position.play_unchecked(column).has_line_of_last_mover())
    }

    /// Plays a stone for the side to move.
    ///
    /// # Errors
    ///
    /// Fails if the game is over, or the column is full or not on the board.
    pub fn play(self, column: Column) -> Result<Self, IllegalMove> {
        self.check(column)?;
        Ok(self.play_unchecked(column))
    }

    /// Plays a stone in a column that the caller knows to be open; the result is nonsense if it is not.
    #[inline]
    pub fn play_unchecked(self, column: Column) -> Self {
        debug_assert!(self.is_open(column), "column {column} is not open");
        let stone =
            self.mask.tops(Bitboard::bottom_row(self.variant)) & Bitboard::column(column, self.variant);
        Self { variant: self.variant, mine: self.theirs(), mask: self.mask | stone }
    }

    /// How the game ended; `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        if let Some(line) = self.winning_line() {
            let by = self.side_to_move().opponent();
            return Some(Outcome::Win { by, line });
        }
        self.is_full().then_some(Outcome::Draw)
    }

    /// Whether `side` has a line.
    pub fn has_won(&self, side: Side) -> bool {
        side != self.side_to_move() && self.has_line_of_last_mover()
    }

    /// Whether the last stone completed a line: the cheap half of [`Position::outcome`].
    #[inline]
    pub fn has_line_of_last_mover(&self) -> bool {
        self.theirs().has_line(self.variant)
    }

    /// Whether no cell is empty.
    pub fn is_full(&self) -> bool {
        self.mask == Bitboard::full(self.variant)
    }

    /// The line that won the game, if one did.
    pub fn winning_line(&self) -> Option<Line> {
        self.theirs().find_line(self.variant)
    }

    /// The position with left and right exchanged.
    pub fn mirror(&self) -> Self {
        let Self { variant, mine, mask } = *self;
        Self { variant, mine: mine.mirror(variant), mask: mask.mirror(variant) }
    }

    /// A number that no other position of the same variant has: 49 bits on 7x6.
    ///
    /// `mine + mask` counts each stone of the side to move twice. Within a column of n stones the sum lies
    /// between 2^n - 1 and 2 (2^n - 1), so it tells n, and then the stones.
    pub const fn key(&self) -> u64 {
        self.mine.bits() + self.mask.bits()
    }

    /// The lesser of the keys of this position and its mirror image.
    pub fn canonical_key(&self) -> u64 {
        self.key().min(self.mirror().key())
    }

    /// The positions from which a move leads to this one, whether or not a game comes to them.
    pub(crate) fn predecessors(&self) -> impl Iterator<Item = Self> + use<> {
        let position = *self;
        // In an empty column that is the guard of the column before, which no stone is on.
        let topmost = Bitboard::from_bits(self.mask.tops(Bitboard::bottom_row(self.variant)).bits() >> 1);
        let last = topmost & self.theirs();
        let may_be_last =
            move |column: &Column| !(last & Bitboard::column(*column, position.variant)).is_empty();
        self.variant.columns().filter(may_be_last).map(move |column| position.take_back_unchecked(column))
    }

    /// Takes back the last stone, which the caller knows to be the topmost of `column`.
    pub(crate) fn take_back_unchecked(self, column: Column) -> Self {
        let stones = self.mask & Bitboard::column(column, self.variant);
        debug_assert!(!stones.is_empty(), "column {column} has no stone");
        let top = Bitboard::from_bits(1 << (u64::BITS - 1 - stones.bits().leading_zeros()));
        let mask = self.mask.without(top);
        Self { variant: self.variant, mine: mask.without(self.mine), mask }
    }

    fn check(&self, column: Column) -> Result<(), IllegalMove> {
        if self.has_line_of_last_mover() || self.is_full() {
            return Err(IllegalMove::GameOver);
        }
        if !self.variant.has_column(column) {
            return Err(IllegalMove::NoSuchColumn { column, width: self.variant.width() });
        }
        if !self.is_open(column) {
            return Err(IllegalMove::ColumnFull { column });
        }
        Ok(())
    }

    /// Whether `column`, which must be on the board, is not full, whether or not the game is over.
    #[inline]
    pub fn is_open(&self, column: Column) -> bool {
        let top = Bitboard::top_row(self.variant) & Bitboard::column(column, self.variant);
        (self.mask & top).is_empty()
    }
}

/// Why a move breaks the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IllegalMove {
    #[error("the game is over")]
    GameOver,
    #[error("column {column} is not on a board of {width} columns")]
    NoSuchColumn { column: Column, width: u8 },
    #[error("column {column} is full")]
    ColumnFull { column: Column },
}

/// Why stones make no position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StonesError {
    #[error("a stone is off the board")]
    OffBoard,
    #[error("two stones are on {cell}")]
    Overlap { cell: Cell },
    #[error("the stone on {cell} has nothing below it")]
    Floating { cell: Cell },
    #[error("the side to move has already won")]
    AlreadyWon,
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANT: Variant = Variant::STANDARD;

    fn set(cells: &str) -> Bitboard {
        let cells = cells.split_whitespace().map(|cell| Bitboard::cell(cell.parse().unwrap(), VARIANT));
        cells.fold(Bitboard::EMPTY, |set, cell| set | cell)
    }

    #[track_caller]
    fn check_refused(mine: Bitboard, theirs: Bitboard, message: &str) {
        let error = Position::from_stones(VARIANT, mine, theirs).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn stones_that_make_no_position_are_refused() {
        check_refused(set("a1"), set("a1 b1"), "two stones are on a1");
        check_refused(set("a1 c3"), set("c1"), "the stone on c3 has nothing below it");
        check_refused(set("a1 b1 c1 d1"), set("a2 b2"), "the side to move has already won");
        check_refused(Bitboard::from_bits(1 << 6), Bitboard::EMPTY, "a stone is off the board");
        check_refused(Bitboard::EMPTY, Bitboard::from_bits(1 << 49), "a stone is off the board");
    }

    #[test]
    fn stones_may_be_uneven() {
        let position = Position::from_stones(VARIANT, set("a1 b1 c1"), set("g1")).unwrap();
        assert_eq!(position.side_to_move(), Side::First, "an even number of stones");
        assert_eq!(position.stones(), BySide { first: set("a1 b1 c1"), second: set("g1") });
        assert_eq!(position.winning_columns().map(Column::number).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn only_the_last_mover_has_won() {
        let position = Position::from_stones(VARIANT, set("a2 b2 c2"), set("a1 b1 c1 d1")).unwrap();
        assert_eq!(position.side_to_move(), Side::Second);
        assert!(position.has_won(Side::First) && !position.has_won(Side::Second));
        assert_eq!(position.legal_columns().count(), 0);
        assert_eq!(position.open_columns().count(), 7);
    }

    #[test]
    fn stones_land_on_stones() {
        let position = Position::from_stones(VARIANT, set("d1 d3 d5"), set("d2 d4 d6 e1")).unwrap();
        let landing = |number| position.landing_cell(Column::from_number(number).unwrap());
        assert_eq!(landing(4), None, "full");
        assert_eq!(landing(8), None, "not on the board");
        assert_eq!(landing(5), "e2".parse().ok());
        assert_eq!(position.playable(), set("a1 b1 c1 e2 f1 g1"));
    }
}
