//! Which cells a network looks at together.

use std::collections::HashSet;

use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::{Bitboard, Variant};
use rand::RngExt;

/// Bits of a column in a [`Bitboard`] of the only board the networks play on.
pub(super) const COLUMN_BITS: u32 = 7;
/// Columns of that board.
pub(super) const COLUMNS: usize = 7;
/// Rows of that board.
pub(super) const ROWS: u32 = 6;

/// The n-tuples of a network, each a set of cells.
///
/// The mirror image of a tuple is not listed: it uses the same weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkShape {
    tuples: Vec<Bitboard>,
}

impl NetworkShape {
    /// Most tuples of a network that learns: more than ever helped, and few enough for small files.
    pub const TUPLES_MAX: usize = 400;
    /// Most networks whose mean is one: more take longer for a move than a look two plies further ahead.
    pub const MEMBERS_MAX: usize = 8;
    /// Most tuples of such a mean.
    const JOINED_MAX: usize = Self::TUPLES_MAX * Self::MEMBERS_MAX;
    /// Fewest cells of a tuple: of less there are not [`NetworkShape::TUPLES_MAX`] different ones.
    pub const CELLS_MIN: u32 = 4;
    /// Most cells of a tuple: weights grow about threefold with each.
    pub const CELLS_MAX: u32 = 10;

    /// Draws `tuples` random walks of `cells` different cells each: from a random cell on to one of the up to
    /// eight neighbours, again and again. No walk is drawn twice or as the mirror image of another.
    ///
    /// Random walks did as well as hand-made tuples in Thill, Koch and Konen, "Reinforcement Learning with
    /// N-tuples on the Game Connect-4" (2012), where 70 of 8 cells were enough.
    ///
    /// # Panics
    ///
    /// Panics without tuples, above [`NetworkShape::TUPLES_MAX`], and unless `cells` is from
    /// [`NetworkShape::CELLS_MIN`] to [`NetworkShape::CELLS_MAX`].
    pub fn draw(tuples: usize, cells: u32, seed: u64) -> Self {
        assert!((1..=Self::TUPLES_MAX).contains(&tuples), "{tuples} tuples");
        assert!((Self::CELLS_MIN..=Self::CELLS_MAX).contains(&cells), "{cells} cells");
        let mut rng = rng::seeded(seed);
        let mut known = HashSet::new();
        let mut drawn = Vec::with_capacity(tuples);
        while drawn.len() < tuples {
            let walk = random_walk(cells, &mut rng);
            let mirror = walk.mirror(Variant::STANDARD);
            if known.insert(walk.min(mirror)) {
                drawn.push(walk);
            }
        }
        Self { tuples: drawn }
    }

    /// The shape with these tuples; `None` unless there are 1 to [`NetworkShape::TUPLES_MAX`] times
    /// [`NetworkShape::MEMBERS_MAX`] with [`NetworkShape::CELLS_MIN`] to [`NetworkShape::CELLS_MAX`] cells of the board
    /// each.
    pub fn from_tuples(tuples: Vec<Bitboard>) -> Option<Self> {
        let on_board = Bitboard::full(Variant::STANDARD);
        let fits = |tuple: &Bitboard| {
            (Self::CELLS_MIN..=Self::CELLS_MAX).contains(&tuple.count()) && tuple.without(on_board).is_empty()
        };
        let is_good = (1..=Self::JOINED_MAX).contains(&tuples.len()) && tuples.iter().all(fits);
        is_good.then_some(Self { tuples })
    }

    /// The tuples of several networks, one after the other. One that two of them have is there twice.
    pub(super) fn joined<'s>(shapes: impl IntoIterator<Item = &'s Self>) -> Self {
        Self { tuples: shapes.into_iter().flat_map(Self::tuples).copied().collect() }
    }

    /// The tuples as sets of cells.
    pub fn tuples(&self) -> &[Bitboard] {
        &self.tuples
    }

    /// Cells of the largest tuple; all have as many if they were drawn.
    pub fn cells_max(&self) -> u32 {
        self.tuples.iter().map(|tuple| tuple.count()).max().unwrap_or_default()
    }
}

fn random_walk(cells: u32, rng: &mut GameRng) -> Bitboard {
    let columns = i32::try_from(COLUMNS).expect("few columns");
    let rows = ROWS.cast_signed();
    let (mut column, mut row) = (rng.random_range(0..columns), rng.random_range(0..rows));
    let mut walk = Bitboard::EMPTY;
    loop {
        let bit = column.cast_unsigned() * COLUMN_BITS + row.cast_unsigned();
        walk |= Bitboard::from_bits(1 << bit);
        if walk.count() == cells {
            return walk;
        }
        let (right, up) = (rng.random_range(-1..=1), rng.random_range(-1..=1));
        column = (column + right).clamp(0, columns - 1);
        row = (row + up).clamp(0, rows - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_walks_of_different_cells() {
        let shape = NetworkShape::draw(100, 8, 7);
        assert_eq!(shape, NetworkShape::draw(100, 8, 7));
        assert_ne!(shape, NetworkShape::draw(100, 8, 8));
        let on_board = Bitboard::full(Variant::STANDARD);
        let mut seen = HashSet::new();
        for tuple in shape.tuples() {
            assert_eq!(tuple.count(), 8);
            assert!(tuple.without(on_board).is_empty());
            assert!(
                seen.insert(*tuple) && !seen.contains(&tuple.mirror(Variant::STANDARD))
                    || is_symmetric(*tuple)
            );
        }
    }

    fn is_symmetric(tuple: Bitboard) -> bool {
        tuple == tuple.mirror(Variant::STANDARD)
    }

    #[test]
    fn the_smallest_tuples_do_not_run_out() {
        assert_eq!(
            NetworkShape::draw(NetworkShape::TUPLES_MAX, NetworkShape::CELLS_MIN, 1).tuples().len(),
            NetworkShape::TUPLES_MAX
        );
    }

    #[test]
    fn only_sets_of_cells_make_a_shape() {
        let tuple = NetworkShape::draw(1, 8, 1).tuples()[0];
        assert!(NetworkShape::from_tuples(vec![tuple; 2]).is_some());
        assert!(NetworkShape::from_tuples(Vec::new()).is_none());
        assert!(NetworkShape::from_tuples(vec![tuple; NetworkShape::JOINED_MAX + 1]).is_none());
        assert!(NetworkShape::from_tuples(vec![Bitboard::EMPTY]).is_none());
        assert!(NetworkShape::from_tuples(vec![Bitboard::from_bits(0xF << 6)]).is_none(), "a guard bit");
        assert!(
            NetworkShape::from_tuples(vec![Bitboard::full(Variant::STANDARD)]).is_none(),
            "too many cells"
        );
    }
}
