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
        Self::of_size([variant.width(), variant.height(), variant.connect()])
    }

    /// A board of any width, height and length of a line.
    pub(crate) fn of_size(size: [u8; 3]) -> Self {
        let [width, height, connect] = size.map(usize::from);
        Self { cells: vec![vec![None; height]; width], connect, to_move: Side::First }
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

    /// Takes the topmost stone of a column away, which was the last one played.
    pub(crate) fn take_back(&mut self, column: usize) {
        let stone = self.cells[column].iter_mut().rev().find(|cell| cell.is_some()).unwrap();
        *stone = None;
        self.to_move = self.to_move.opponent();
    }

    /// Whether the topmost stone of a column is part of a line.
    pub(crate) fn is_line_at_top_of(&self, column: usize) -> bool {
        let row = self.cells[column].iter().rposition(Option::is_some).unwrap();
        let side = self.stone_at((column, row));
        let run = |right: isize, up: isize| {
            let places = (1..).map_while(|step| {
                let column = column.checked_add_signed(right * step)?;
                let row = row.checked_add_signed(up * step)?;
                self.cells.get(column)?.get(row).copied()
            });
            places.take_while(|&stone| stone == side).count()
        };
        let directions = [(0, 1), (1, 0), (1, -1), (1, 1)];
        directions.into_iter().any(|(right, up)| run(right, up) + 1 + run(-right, -up) >= self.connect)
    }

    /// The score of the side to move by plain alpha-beta, at most `alpha` or at least `beta` where it is out of the
    /// window. Nobody has a line.
    pub(crate) fn score(&mut self, mut alpha: i32, beta: i32) -> i32 {
        if self.is_full() {
            return 0;
        }
        // Beyond the window there is nothing to look for: the next stone of either side is the soonest that wins.
        let (mine, theirs) = (self.win_of(self.to_move) - 1, self.win_of(self.to_move.opponent()) - 1);
        if mine.max(0) <= alpha || -theirs.max(0) >= beta {
            return if mine.max(0) <= alpha { alpha } else { beta };
        }
        for column in 0..self.cells.len() {
            if !self.is_open(column) {
                continue;
            }
            let side = self.to_move;
            self.play(column);
            let score =
                if self.is_line_at_top_of(column) { self.win_of(side) } else { -self.score(-beta, -alpha) };
            self.take_back(column);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        alpha
    }

    /// The score of a side that has just won: its stones that are left, and one.
    pub(crate) fn win_of(&self, side: Side) -> i32 {
        let cells = self.cells.iter().flatten();
        let played = cells.clone().filter(|&&stone| stone == Some(side)).count();
        let all = cells.count() / 2
            + usize::from(side == Side::First && self.cells.iter().flatten().count() % 2 == 1);
        i32::try_from(all - played + 1).unwrap()
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
