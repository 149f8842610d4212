//! A game under way, as a network sees it.

use fourfold_engine::search::Tactics;
use fourfold_engine::{Bitboard, Column, Position, Side};

use super::layout::{Drop, PackedStones, VARIANT};
use super::network::{Cursor, Network, squash};
use super::shape::COLUMN_BITS;

/// A sum of weights that squashes to a sure win.
pub(super) const SURE: f32 = 3.0;

/// A position with what the network needs to value the moves in it.
#[derive(Debug)]
pub(super) struct Walk<'n> {
    network: &'n Network,
    position: Position,
    stones: PackedStones,
    cursor: Cursor,
    /// The indices before each move that will be taken back, one set after the other.
    kept: Vec<u32>,
}

/// Moves with the sums of their afterstates, for the side that moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Valued {
    moves: [(Column, f32); VARIANT.width() as usize],
    count: usize,
}

impl Valued {
    pub(super) fn as_slice(&self) -> &[(Column, f32)] {
        &self.moves[..self.count]
    }

    /// The best move, of equal ones the leftmost.
    pub(super) fn best(&self) -> (Column, f32) {
        let better =
            |best: (Column, f32), other: &(Column, f32)| if other.1 > best.1 { *other } else { best };
        self.as_slice()[1..].iter().fold(self.moves[0], better)
    }
}

/// The factor between the view of a side and that of the first player.
pub(super) fn sign(side: Side) -> f32 {
    match side {
        Side::First => 1.0,
        Side::Second => -1.0,
    }
}

impl<'n> Walk<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
        let position = Position::new(VARIANT);
        let cursor = Cursor::new(&network.layout);
        let mut walk =
            Self { network, position, stones: PackedStones::of(&position), cursor, kept: Vec::new() };
        walk.set(position);
        walk
    }

    /// Goes to another position.
    pub(super) fn set(&mut self, position: Position) {
        self.position = position;
        self.stones = PackedStones::of(&position);
        self.cursor.set(&self.network.layout, self.stones);
    }

    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// The indices of the position's weights.
    pub(super) fn indices(&self) -> &[u32] {
        &self.cursor.indices
    }

    /// The sum of the position's weights, for the first player. Somebody must have moved.
    pub(super) fn sum(&self) -> f32 {
        let mover = self.position.side_to_move().opponent();
        self.network.table(mover).sum(&self.cursor.indices)
    }

    pub(super) fn play(&mut self, column: Column) {
        let drop = Drop::new(self.stones, column.index(), self.position.side_to_move());
        self.cursor.drop(&self.network.layout, drop);
        self.position = self.position.play_unchecked(column);
        self.stones = PackedStones::of(&self.position);
    }

    /// The moves into `cells`, at least one, valued as they are.
    pub(super) fn value_moves(&mut self, cells: Bitboard) -> Valued {
        let side = self.position.side_to_move();
        let (table, sign) = (self.network.table(side), sign(side));
        let before = self.cursor.look(table);
        self.for_each(cells, |walk, column| {
            let drop = Drop::new(walk.stones, column.index(), side);
            sign * walk.cursor.sum_after(&walk.network.layout, table, drop, before)
        })
    }

    /// The same, but valued by the best reply that the opponent has.
    pub(super) fn value_moves_by_replies(&mut self, cells: Bitboard) -> Valued {
        self.for_each(cells, |walk, column| walk.after(column, |walk| -walk.value()))
    }

    /// What `look` sees after a move, which is then taken back.
    pub(super) fn after<T>(&mut self, column: Column, look: impl FnOnce(&mut Self) -> T) -> T {
        let (position, stones) = (self.position, self.stones);
        let kept = self.kept.len();
        self.kept.extend_from_slice(&self.cursor.indices);
        self.play(column);
        let seen = look(self);
        self.cursor.indices.copy_from_slice(&self.kept[kept..]);
        self.kept.truncate(kept);
        (self.position, self.stones) = (position, stones);
        seen
    }

    /// Moves the value of the position, which somebody must have made, towards `sum`, for the first player.
    pub(super) fn learn(&self, sum: f32, step: f32) {
        let table = self.network.table(self.position.side_to_move().opponent());
        let error = squash(sum) - squash(table.sum(&self.cursor.indices));
        table.add(&self.cursor.indices, step * error);
    }

    /// Learns what the moves in the position are worth by their best replies, and before that the moves after those, so
    /// many plies ahead in all: with 1 only those in the position itself.
    pub(super) fn explore(&mut self, plies: u32, step: f32) {
        if plies == 0 || self.position.is_full() {
            return;
        }
        let Tactics::Safe(cells) = Tactics::of(&self.position) else { return };
        for cell in cells.cells(VARIANT) {
            self.after(cell.column(), |walk| walk.explore(plies - 1, step));
        }
        let sign = sign(self.position.side_to_move());
        for &(column, sum) in self.value_moves_by_replies(cells).as_slice() {
            self.after(column, |walk| walk.learn(sum * sign, step));
        }
    }

    /// The value for the side to move, looking at its moves.
    fn value(&mut self) -> f32 {
        if self.position.is_full() {
            return 0.0;
        }
        match Tactics::of(&self.position) {
            Tactics::Win(_) => SURE,
            Tactics::Lost(_) => -SURE,
            Tactics::Safe(cells) => self.value_moves(cells).best().1,
        }
    }

    #[inline]
    fn for_each(&mut self, cells: Bitboard, mut value: impl FnMut(&mut Self, Column) -> f32) -> Valued {
        let unused = Column::from_index(0).expect("every board has it");
        let mut moves = [(unused, 0.0); VARIANT.width() as usize];
        let mut count = 0;
        let mut left = cells.bits();
        while left != 0 {
            let column = Column::from_index((left.trailing_zeros() / COLUMN_BITS) as usize);
            let column = column.expect("cells are on the board");
            left &= left - 1;
            moves[count] = (column, value(self, column));
            count += 1;
        }
        Valued { moves, count }
    }
}
