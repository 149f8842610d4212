//! Which column is searched first.

use crate::board::{Column, Position, Variant};

/// The columns of a board in a fixed order of search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnOrder {
    columns: Vec<Column>,
}

impl ColumnOrder {
    /// From left to right.
    #[must_use]
    pub fn ascending(variant: Variant) -> Self {
        Self { columns: variant.columns().collect() }
    }

    /// From the centre outwards, of two equally far the left one first: 4 3 5 2 6 1 7. More lines run through
    /// the centre, so good moves come early and cut off the rest.
    #[must_use]
    pub fn centre_first(variant: Variant) -> Self {
        let mut columns: Vec<Column> = variant.columns().collect();
        // Twice the distance from the centre, which lies between two columns if the width is even.
        columns.sort_by_key(|column| (2 * column.index() + 1).abs_diff(usize::from(variant.width())));
        Self { columns }
    }

    /// The column searched at this place, counted from 0; `None` past the last.
    #[inline]
    pub fn column(&self, place: usize) -> Option<Column> {
        self.columns.get(place).copied()
    }

    /// The columns that are not full, in this order.
    pub fn open_columns(&self, position: &Position) -> impl Iterator<Item = Column> {
        self.columns.iter().copied().filter(|&column| position.is_open(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::notation::print_moves;

    #[track_caller]
    fn check_centre_first(variant: &str, moves: &str, expected: &str) {
        let game = Game::from_moves(variant.parse().unwrap(), moves).unwrap();
        let order = ColumnOrder::centre_first(game.variant());
        assert_eq!(print_moves(&order.open_columns(game.position()).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn the_centre_comes_first() {
        check_centre_first("7x6", "", "4352617");
        check_centre_first("8x7", "", "45362718");
        check_centre_first("7x6", "444444", "352617");
    }
}
