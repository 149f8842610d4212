//! Who wins by his threats if all other columns are filled first.

use fourfold_engine::{Bitboard, BySide, Cell, Column, Side, Variant};

/// Rows of the tallest board, and one more for a full column.
const HEIGHTS: usize = Variant::MAX_HEIGHT as usize + 1;

/// Plays the columns with threats out, perfectly, from just below the lowest threat of each; all else is taken
/// for filled. Returns who lands on a cell with which he wins; `None` if nobody does.
///
/// At most two columns are looked at, the outermost: the readme speaks of no more. No threat may be playable.
pub(super) fn play_out_threats(threats: BySide<Bitboard>, variant: Variant) -> Option<Side> {
    let mut columns = (threats.first | threats.second).cells(variant).map(Cell::column);
    let left = columns.next()?;
    match columns.last().filter(|&right| right != left) {
        None => Endgame { threats, variant, left, right: None }.outcome(),
        right => Endgame { threats, variant, left, right }.outcome(),
    }
}

/// A board that is full but for one or two columns.
struct Endgame {
    threats: BySide<Bitboard>,
    variant: Variant,
    left: Column,
    right: Option<Column>,
}

impl Endgame {
    fn outcome(&self) -> Option<Side> {
        let height = usize::from(self.variant.height());
        // One column is begun at the threat itself: whose turn it is there is what counts.
        let (left, right) = match self.right {
            None => (self.lowest_threat(self.left), height),
            Some(right) => (self.lowest_threat(self.left) - 1, self.lowest_threat(right) - 1),
        };
        // By stones in the left and the right column, from full columns backwards: 1 if First wins, -1 if
        // Second does.
        let mut values = [[0_i8; HEIGHTS]; HEIGHTS];
        for in_left in (left..=height).rev() {
            for in_right in (right..=height).rev() {
                values[in_left][in_right] = self.value(&values, in_left, in_right);
            }
        }
        match values[left][right] {
            1 => Some(Side::First),
            -1 => Some(Side::Second),
            _ => None,
        }
    }

    /// The value with so many stones in the columns, from those with one more.
    fn value(&self, values: &[[i8; HEIGHTS]; HEIGHTS], in_left: usize, in_right: usize) -> i8 {
        let mover = self.mover(in_left, in_right);
        let win = match mover {
            Side::First => 1,
            Side::Second => -1,
        };
        let height = usize::from(self.variant.height());
        let left = (in_left < height).then(|| {
            if self.is_threat(mover, self.left, in_left) { win } else { values[in_left + 1][in_right] }
        });
        let right = self.right.filter(|_| in_right < height).map(|column| {
            if self.is_threat(mover, column, in_right) { win } else { values[in_left][in_right + 1] }
        });
        // The mover's best: the greatest value times the sign of his win.
        let best = left.into_iter().chain(right).map(|value| value * win).max();
        best.map_or(0, |value| value * win)
    }

    /// Who moves with so many stones in the columns and all others full. A right column that there is not
    /// counts as one of the full ones.
    fn mover(&self, in_left: usize, in_right: usize) -> Side {
        let full_columns = usize::from(self.variant.width()) - 2;
        let stones = full_columns * usize::from(self.variant.height()) + in_left + in_right;
        if stones.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn is_threat(&self, side: Side, column: Column, row: usize) -> bool {
        let cell = Cell::new(column, row).expect("below the height");
        self.threats[side].contains(cell, self.variant)
    }

    /// The row of the lowest threat of either side in a column that has one; above the bottom, because no
    /// threat is playable.
    fn lowest_threat(&self, column: Column) -> usize {
        let in_column = (self.threats.first | self.threats.second) & Bitboard::column(column, self.variant);
        in_column.cells(self.variant).next().expect("the column has a threat").row_index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, second: &str, expected: Option<Side>) {
        check_on("7x6", first, second, expected);
    }

    #[track_caller]
    fn check_on(variant: &str, first: &str, second: &str, expected: Option<Side>) {
        let variant: Variant = variant.parse().unwrap();
        let cell = |name: &str| Bitboard::cell(name.parse().unwrap(), variant);
        let cells =
            |names: &str| names.split_whitespace().fold(Bitboard::EMPTY, |set, name| set | cell(name));
        let threats = BySide { first: cells(first), second: cells(second) };
        assert_eq!(play_out_threats(threats, variant), expected, "{first} against {second} on {variant}");
        let mirrored = BySide::from_fn(|side| threats[side].mirror(variant));
        assert_eq!(play_out_threats(mirrored, variant), expected, "mirrored");
    }

    const FIRST: Option<Side> = Some(Side::First);
    const SECOND: Option<Side> = Some(Side::Second);

    #[test]
    fn in_one_column_the_first_player_gets_the_odd_rows() {
        check("a3", "", FIRST);
        check("a2", "", None);
        check("", "a2", SECOND);
        check("", "a3", None);
        check("a3", "a2", SECOND);
        check("a5", "a3", FIRST); // a3 is First's, so Second's threat comes to nothing
        check("a2 a5", "a4", SECOND); // Second plays a2 himself and gets a4 too
    }

    #[test]
    fn in_two_columns_nobody_wants_to_play_below_the_other_s_threat() {
        // One stone below each threat is to be played; First moves if the rows add up to an even number.
        check("a3", "g3", None); // each plays below his own threat and is parried
        check("a3 g3", "", FIRST);
        check("a2", "g2", SECOND); // who parries on a2, and whom First has to let play g2 in the end
    }

    #[test]
    fn other_boards_have_other_parities() {
        // 8x7: the other seven columns hold 49 stones, so that Second begins the last one.
        check_on("8x7", "a3", "", None);
        check_on("8x7", "", "a3", SECOND);
        check_on("8x7", "a2", "", FIRST);
    }

    #[test]
    fn columns_between_the_outermost_are_left_out() {
        check("a2 g2", "d2", None);
    }

    /// Minimax as one would write it down.
    fn minimax(
        threats: BySide<Bitboard>,
        variant: Variant,
        heights: [(Column, usize); 2],
        mover: Side,
    ) -> i32 {
        let full = usize::from(variant.height());
        let win = if mover == Side::First { 1 } else { -1 };
        let values = (0..2).filter(|&index| heights[index].1 < full).map(|index| {
            let (column, row) = heights[index];
            if threats[mover].contains(Cell::new(column, row).unwrap(), variant) {
                return win;
            }
            let mut after = heights;
            after[index].1 += 1;
            minimax(threats, variant, after, mover.opponent())
        });
        let values: Vec<i32> = values.collect();
        let best = if mover == Side::First { values.iter().max() } else { values.iter().min() };
        best.copied().unwrap_or(0)
    }

    #[test]
    fn two_columns_are_played_as_by_minimax() {
        let variant = Variant::STANDARD;
        let [left, right] = [1, 7].map(|number| Column::from_number(number).unwrap());
        for pattern in 0..4_u32.pow(6) {
            // Two threats of each column, on rows 2 to 6: whose they are, and where.
            let digit = |place: u32| (pattern / 4_u32.pow(place) % 4) as usize;
            let mut threats = BySide { first: Bitboard::EMPTY, second: Bitboard::EMPTY };
            for (column, place) in [(left, 0), (right, 3)] {
                let rows = [1 + digit(place), 2 + digit(place + 1)];
                for (index, row) in rows.into_iter().enumerate() {
                    let side = Side::BOTH[digit(place + 2) >> index & 1];
                    let set = threats[side] | Bitboard::cell(Cell::new(column, row).unwrap(), variant);
                    threats[side] = set;
                }
            }
            let lowest = |column| {
                let set = (threats.first | threats.second) & Bitboard::column(column, variant);
                set.cells(variant).next().unwrap().row_index() - 1
            };
            let heights = [(left, lowest(left)), (right, lowest(right))];
            let mover =
                if (heights[0].1 + heights[1].1).is_multiple_of(2) { Side::First } else { Side::Second };
            let expected = match minimax(threats, variant, heights, mover) {
                1 => FIRST,
                -1 => SECOND,
                _ => None,
            };
            assert_eq!(play_out_threats(threats, variant), expected, "{threats:?}");
        }
    }
}
