//! The rules once more, as plainly as possible: an array of cells and nothing clever.

use fourfold_engine::{Side, Variant};

/// A board of `cells[column][row]`, row 0 at the bottom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NaiveBoard {
    cells: Vec<Vec<Option<Side>>>,
    connect: usize,
    pub(crate) to_move: Side,
}

/// A cell by column and row, both from 0.
pub(crate) type Place = (usize, usize);

impl NaiveBoard {
    pub(crate) fn new(variant: Variant) -> Self {
        let column = vec![None; usize::from(variant.height())];
        Self {
            cells: vec![column; usize::from(variant.width())],
            connect: usize::from(variant.connect()),
            to_move: Side::First,
        }
    }

    pub(crate) fn stone_at(&self, (column, row): Place) -> Option<Side> {
        self.cells[column][row]
    }

    pub(crate) fn is_open(&self, column: usize) -> bool {
        self.cells.get(column).is_some_and(|cells| cells.contains(&None))
    }

    /// Drops a stone into an open column.
    pub(crate) fn play(&mut self, column: usize) {
        let row = self.cells[column].iter().position(Option::is_none).unwrap();
        self.cells[column][row] = Some(self.to_move);
        self.to_move = self.to_move.opponent();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.cells.iter().flatten().all(Option::is_some)
    }

    pub(crate) fn mirror(&self) -> Self {
        let mut mirrored = self.clone();
        mirrored.cells.reverse();
        mirrored
    }

    /// All lines that `side` has filled, each from left to right or from the bottom up.
    pub(crate) fn lines(&self, side: Side) -> Vec<Vec<Place>> {
        let places = (0..self.cells.len())
            .flat_map(|column| (0..self.cells[column].len()).map(move |row| (column, row)));
        let directions = [(0, 1), (1, 0), (1, -1), (1, 1)];
        places
            .flat_map(|place| directions.into_iter().filter_map(move |step| self.line_from(place, step)))
            .filter(|line| line.iter().all(|&place| self.stone_at(place) == Some(side)))
            .collect()
    }

    fn line_from(&self, (column, row): Place, (right, up): (isize, isize)) -> Option<Vec<Place>> {
        let place = |step: usize| {
            let step = isize::try_from(step).ok()?;
            let column = column.checked_add_signed(right * step)?;
            let row = row.checked_add_signed(up * step)?;
            self.cells.get(column)?.get(row)?;
            Some((column, row))
        };
        (0..self.connect).map(place).collect()
    }
}
