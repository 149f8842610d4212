//! Aligned cells.

use std::fmt;

use super::{Bitboard, Cell, Direction, Variant};

/// `connect` aligned cells, the ones a side must fill to win: 69 of them on 7x6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Line {
    start: Cell,
    direction: Direction,
    length: u8,
}

impl Line {
    /// The line that starts at its leftmost cell, or its lowest if vertical.
    fn from_start(start: Cell, direction: Direction, variant: Variant) -> Self {
        Self { start, direction, length: variant.connect() }
    }

    /// All lines of a board, by direction and then by start: column by column from the left, each from the
    /// bottom.
    pub fn all(variant: Variant) -> impl Iterator<Item = Self> {
        Direction::ALL.into_iter().flat_map(move |direction| {
            let starts = Bitboard::full(variant).line_starts(direction, variant);
            starts.cells(variant).map(move |start| Self::from_start(start, direction, variant))
        })
    }

    pub fn direction(self) -> Direction {
        self.direction
    }

    /// The cells from left to right, or from the bottom up if vertical.
    pub fn cells(self) -> impl ExactSizeIterator<Item = Cell> + Clone {
        (0..usize::from(self.length)).map(move |step| self.cell(step))
    }

    /// The same cells as a set.
    pub fn bitboard(self, variant: Variant) -> Bitboard {
        self.cells().fold(Bitboard::EMPTY, |set, cell| set | Bitboard::cell(cell, variant))
    }

    fn cell(self, step: usize) -> Cell {
        let (column, row) = (self.start.column().index(), self.start.row_index());
        let (column, row) = match self.direction {
            Direction::Vertical => (column, row + step),
            Direction::Horizontal => (column + step, row),
            Direction::Falling => (column + step, row - step),
            Direction::Rising => (column + step, row + step),
        };
        super::Column::from_index(column)
            .and_then(|column| Cell::new(column, row))
            .expect("a line is built only where all its cells are on a board")
    }
}

impl Bitboard {
    /// The line that [`Bitboard::has_line`] found: of several the first by direction (vertical, horizontal,
    /// falling, rising), then the leftmost, then the lowest.
    pub fn find_line(self, variant: Variant) -> Option<Line> {
        Direction::ALL.into_iter().find_map(|direction| {
            let start = self.line_starts(direction, variant).cells(variant).next()?;
            Some(Line::from_start(start, direction, variant))
        })
    }
}

/// Prints the cells, such as `a1 b1 c1 d1`.
impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: Vec<String> = self.cells().map(|cell| cell.to_string()).collect();
        formatter.pad(&cells.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_counts(variant: &str, expected: [usize; 4]) {
        let variant: Variant = variant.parse().unwrap();
        let count = |direction| Line::all(variant).filter(|line| line.direction() == direction).count();
        assert_eq!(Direction::ALL.map(count), expected);
    }

    #[test]
    fn every_board_has_its_lines() {
        check_counts("7x6", [21, 24, 12, 12]); // vertical, horizontal, falling, rising: 69
        check_counts("4x4", [4, 4, 1, 1]);
        check_counts("9x6x5", [18, 30, 10, 10]);
        check_counts("10x5", [20, 35, 14, 14]);
        check_counts("4x15x8", [32, 0, 0, 0]);
    }

    #[test]
    fn a_line_is_the_set_of_its_cells() {
        for line in Line::all(Variant::STANDARD) {
            let set = line.bitboard(Variant::STANDARD);
            assert_eq!(set.count(), 4);
            assert_eq!(set.find_line(Variant::STANDARD), Some(line));
        }
    }
}
