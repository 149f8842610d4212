//! The static value of the 2012 report: tumbling windows of four, summed in powers of ten.

use std::cell::OnceCell;
use std::collections::HashMap;

use fourfold_engine::{Bitboard, Cell, Column, Direction, Line, Variant};

/// Cells of a window.
const WINDOW: usize = 4;

/// What is on a cell; the number is the ternary digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CellContent {
    Empty = 0,
    Own = 1,
    Enemy = 2,
}

/// Sums the windows of all rows, columns and diagonals of a board.
///
/// Rows and diagonals run from left to right, columns from the bottom up. The value of such an array depends
/// on its cells alone ([`array_value`]), so on most boards it is looked up.
#[derive(Debug)]
pub(super) struct TumblingWindows {
    variant: Variant,
    arrays: Vec<Vec<Cell>>,
    /// Built when first needed; `None` within if the board is too large for it.
    lookup: OnceCell<Option<WindowLookup>>,
}

impl TumblingWindows {
    pub(super) fn new(variant: Variant) -> Self {
        Self { variant, arrays: arrays(variant), lookup: OnceCell::new() }
    }

    /// The value for the side with the stones `own`; it counts own and enemy windows a little differently.
    #[inline]
    pub(super) fn value(&self, own: Bitboard, enemy: Bitboard) -> i32 {
        match self.lookup.get_or_init(|| WindowLookup::build(self.variant, &self.arrays)) {
            Some(lookup) => lookup.value(own, enemy),
            None => self.value_by_cells(own, enemy),
        }
    }

    fn value_by_cells(&self, own: Bitboard, enemy: Bitboard) -> i32 {
        let content = |&cell: &Cell| {
            if own.contains(cell, self.variant) {
                CellContent::Own
            } else if enemy.contains(cell, self.variant) {
                CellContent::Enemy
            } else {
                CellContent::Empty
            }
        };
        self.arrays.iter().map(|cells| array_value(cells.iter().map(content))).sum()
    }
}

/// All rows, columns and diagonals that hold a window.
fn arrays(variant: Variant) -> Vec<Vec<Cell>> {
    let mut arrays: Vec<Vec<Cell>> = Vec::new();
    for direction in Direction::ALL {
        let lines: Vec<Line> = Line::all(variant).filter(|line| line.direction() == direction).collect();
        for line in &lines {
            // Lines that start one cell further on overlap in all cells but one: they make one array.
            let cells: Vec<Cell> = line.cells().collect();
            let continued = arrays.iter_mut().find(|array| array.ends_with(&cells[..WINDOW - 1]));
            match continued {
                Some(array) => array.push(cells[WINDOW - 1]),
                None => arrays.push(cells),
            }
        }
    }
    arrays
}

/// The value of one row, column or diagonal.
///
/// For each side a window is filled cell by cell, until it is full or an enemy stone comes; then the next
/// begins. A full window counts by its stones. An enemy stone does not wipe out what was noted before, which
/// may leak into the next window: a quirk of the report, kept.
fn array_value(contents: impl Iterator<Item = CellContent>) -> i32 {
    let mut own = Filling::default();
    let mut enemy = Filling::default();
    let mut value = 0;
    for content in contents {
        match content {
            CellContent::Empty => {
                own.cells += 1;
                enemy.cells += 1;
            }
            CellContent::Own => {
                own.add_stone();
                enemy.cells = 0;
            }
            CellContent::Enemy => {
                enemy.add_stone();
                own.cells = 0;
            }
        }
        // Four own stones add nothing, four enemy stones count in full: another quirk.
        value += own.take_if_full().map_or(0, |stones| [0, 1, 11, 111, 0][stones]);
        value -= enemy.take_if_full().map_or(0, |stones| [0, 1, 11, 111, 1111][stones]);
    }
    value
}

/// A window that one side is filling.
#[derive(Clone, Copy, Default, Debug)]
struct Filling {
    cells: usize,
    /// Where stones were noted.
    stones: [bool; WINDOW],
}

impl Filling {
    fn add_stone(&mut self) {
        self.stones[self.cells] = true;
        self.cells += 1;
    }

    /// The number of stones of a full window, which is then begun anew.
    fn take_if_full(&mut self) -> Option<usize> {
        if self.cells < WINDOW {
            return None;
        }
        let stones = self.stones.iter().filter(|&&is_stone| is_stone).count();
        *self = Self::default();
        Some(stones)
    }
}

/// Rows and diagonals at most, on boards that are looked up.
const LANES: usize = 32;
/// The longest row that is looked up: 3^10 fits 16 bits, and the table a processor's cache.
const WIDTH_MAX: u8 = 10;
/// Of the places in a row, and the number of values that a row of each length has.
const POWERS_OF_THREE: [u16; WIDTH_MAX as usize + 1] = {
    let mut powers = [1; WIDTH_MAX as usize + 1];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = 3 * powers[place - 1];
        place += 1;
    }
    powers
};
/// The highest column: its stones are looked up by a code of one bit more.
const HEIGHT_MAX: u8 = 8;

/// Values of all rows, columns and diagonals by their stones.
///
/// A column's stones say all about the column, and which ternary digits they are in the number of each row
/// and diagonal. Added up over the columns, the digits make the numbers.
#[derive(Debug)]
struct WindowLookup {
    stride: u32,
    /// Of one column, by code.
    codes: usize,
    shares: Vec<ColumnShare>,
    /// Where in `values` each row or diagonal begins.
    offsets: Vec<usize>,
    values: Vec<i16>,
}

/// What the stones of one column add.
#[derive(Clone, Debug)]
struct ColumnShare {
    /// The value of the column itself.
    value: i32,
    /// The digit in the number of each row and diagonal, times its power of three.
    digits: [u16; LANES],
}

impl WindowLookup {
    /// `None` if the board is too large.
    fn build(variant: Variant, arrays: &[Vec<Cell>]) -> Option<Self> {
        let is_column = |array: &&Vec<Cell>| array[0].column() == array[1].column();
        let lanes: Vec<&Vec<Cell>> = arrays.iter().filter(|array| !is_column(array)).collect();
        if variant.width() > WIDTH_MAX || variant.height() > HEIGHT_MAX || lanes.len() > LANES {
            return None;
        }
        let mut starts: HashMap<usize, usize> = HashMap::new();
        let mut values: Vec<i16> = Vec::new();
        let mut offsets = Vec::new();
        for length in lanes.iter().map(|lane| lane.len()) {
            let start = *starts.entry(length).or_insert(values.len());
            if start == values.len() {
                values.extend(values_by_number(length));
            }
            offsets.push(start);
        }
        let stride = u32::from(variant.height()) + 1;
        let codes = 1 << stride;
        let mut shares = Vec::with_capacity(codes * usize::from(variant.width()));
        for column in variant.columns() {
            shares.extend((0..codes).map(|code| ColumnShare::of(code, column, variant.height(), &lanes)));
        }
        Some(Self { stride, codes, shares, offsets, values })
    }

    #[inline]
    fn value(&self, own: Bitboard, enemy: Bitboard) -> i32 {
        // As in a position's key, own stones counted twice tell each column's stones apart.
        let mut key = own.bits() + (own | enemy).bits();
        let mut value = 0;
        let mut numbers = [0_u16; LANES];
        for column in self.shares.chunks_exact(self.codes) {
            let [low, high, ..] = key.to_le_bytes();
            let code = usize::from(u16::from_le_bytes([low, high])) & (self.codes - 1);
            let share = &column[code];
            value += share.value;
            numbers.iter_mut().zip(&share.digits).for_each(|(number, digit)| *number += digit);
            key >>= self.stride;
        }
        let lanes = numbers.iter().zip(&self.offsets);
        value
            + lanes
                .map(|(&number, &offset)| i32::from(self.values[offset + usize::from(number)]))
                .sum::<i32>()
    }
}

impl ColumnShare {
    fn of(code: usize, column: Column, height: u8, lanes: &[&Vec<Cell>]) -> Self {
        let contents = column_contents(code, height);
        let mut digits = [0; LANES];
        for (digit, lane) in digits.iter_mut().zip(lanes) {
            let place = lane.iter().position(|cell| cell.column() == column);
            if let Some((place, cell)) = place.map(|place| (place, lane[place])) {
                *digit = contents[cell.row_index()] as u16 * POWERS_OF_THREE[place];
            }
        }
        Self { value: array_value(contents.into_iter()), digits }
    }
}

/// The stones of a column, from the bottom, from its bits in the sum of own stones and all stones. Codes that
/// no stones have give any content.
fn column_contents(code: usize, height: u8) -> Vec<CellContent> {
    // n stones of the enemy make 2^n - 1, and each own stone adds its bit.
    let count = (code + 1).ilog2().min(u32::from(height));
    let own = code + 1 - (1 << count);
    (0..u32::from(height))
        .map(|row| match (row < count, own >> row & 1) {
            (false, _) => CellContent::Empty,
            (true, 1) => CellContent::Own,
            (true, _) => CellContent::Enemy,
        })
        .collect()
}

/// The values of all arrays of this length, by the number whose ternary digits are the cells, the first cell
/// the lowest.
fn values_by_number(length: usize) -> impl Iterator<Item = i16> {
    (0..POWERS_OF_THREE[length]).map(move |number| {
        let contents = POWERS_OF_THREE[..length].iter().map(|power| match number / power % 3 {
            0 => CellContent::Empty,
            1 => CellContent::Own,
            _ => CellContent::Enemy,
        });
        i16::try_from(array_value(contents)).expect("a few windows are below 10,000")
    })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Position, rng};
    use rand::RngExt;

    use super::*;

    #[track_caller]
    fn check(array: &str, expected: i32) {
        let contents = array.chars().map(|letter| match letter {
            '1' => CellContent::Own,
            '2' => CellContent::Enemy,
            _ => CellContent::Empty,
        });
        assert_eq!(array_value(contents), expected, "{array}");
    }

    #[test]
    fn rows_have_their_published_values() {
        check(".......", 0);
        check("111....", 111);
        check(".111...", 111);
        check("..111..", 11);
        check("....111", 0);
        check("...111.", 1);
        check("1111...", 0);
        check("2222...", -1111);
        check("112....", 10);
        check("2221...", 1);
        check("1.12...", -1);
        check(".1.1.1.", 11);
        check(".1122..", -11);
        check("22..11.", 0);
    }

    #[test]
    fn columns_have_their_published_values() {
        check("111...", 111);
        check("..111.", 11);
    }

    #[test]
    fn a_stone_at_the_bottom_centre_is_worth_four() {
        let position = *Game::from_moves(Variant::STANDARD, "4").unwrap().position();
        let board = TumblingWindows::new(Variant::STANDARD);
        assert_eq!(board.value(position.theirs(), position.mine()), 4);
        assert_eq!(board.value(position.mine(), position.theirs()), -4);
    }

    #[test]
    fn a_board_has_its_arrays() {
        let mut lengths: Vec<usize> = arrays(Variant::STANDARD).iter().map(Vec::len).collect();
        lengths.sort_unstable();
        let expected = [vec![4; 4], vec![5; 4], vec![6; 4 + 7], vec![7; 6]].concat();
        assert_eq!(lengths, expected, "12 diagonals, 7 columns, 6 rows");
    }

    #[test]
    fn looked_up_values_are_those_of_the_cells() {
        let mut rng = rng::seeded(31);
        for (variant, is_looked_up) in [("7x6", true), ("8x7", true), ("10x5", true), ("12x4", false)] {
            let variant: Variant = variant.parse().unwrap();
            let board = TumblingWindows::new(variant);
            assert_eq!(WindowLookup::build(variant, &board.arrays).is_some(), is_looked_up);
            let mut position = Position::new(variant);
            // The game goes on after wins, so that full windows count too.
            while !position.is_full() {
                let open: Vec<Column> = position.open_columns().collect();
                position = position.play_unchecked(open[rng.random_range(0..open.len())]);
                let (mine, theirs) = (position.mine(), position.theirs());
                assert_eq!(board.value(mine, theirs), board.value_by_cells(mine, theirs), "{position:?}");
            }
        }
    }
}
