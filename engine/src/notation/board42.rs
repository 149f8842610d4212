//! The 42-character board of programs that are called once a move.
//!
//! Rows of seven cells, each from left to right; a blank is empty, `Y` is the caller's own stone and `R` the
//! opponent's. The caller is to move. Which row comes first is the [`RowOrder`].

use crate::board::{Bitboard, Cell, Column, Position, StonesError, Variant};

/// Cells of the one variant that this form knows, 7x6.
const CELLS: usize = 42;
const WIDTH: usize = 7;
const HEIGHT: usize = 6;

/// Which row a board string begins with.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RowOrder {
    /// The bottom row.
    #[default]
    Bottom,
    /// The top row.
    Top,
}

/// Reads a board. A string that is too short is filled up with blanks. The numbers of stones may differ by any amount.
///
/// # Errors
///
/// Fails if the string is too long, a character is unknown, a stone floats, or the game is over.
pub fn parse(text: &str, order: RowOrder) -> Result<Position, Board42Error> {
    let length = text.chars().count();
    if length > CELLS {
        return Err(Board42Error::Length { length });
    }
    let (mut own, mut others) = (Bitboard::EMPTY, Bitboard::EMPTY);
    for (index, symbol) in text.chars().enumerate() {
        let stone = Bitboard::cell(cell_at(index, order), Variant::STANDARD);
        match symbol {
            ' ' => {}
            'Y' => own |= stone,
            'R' => others |= stone,
            _ => return Err(Board42Error::Symbol { symbol, number: index + 1 }),
        }
    }
    let position = Position::from_stones(Variant::STANDARD, own, others)?;
    if position.outcome().is_some() { Err(Board42Error::Over) } else { Ok(position) }
}

fn cell_at(index: usize, order: RowOrder) -> Cell {
    let row = match order {
        RowOrder::Bottom => index / WIDTH,
        RowOrder::Top => HEIGHT - 1 - index / WIDTH,
    };
    let column = Column::from_index(index % WIDTH).expect("a remainder of 7 is a column");
    Cell::new(column, row).expect("the index is below 42")
}

/// Why a string is no board on which a move can be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Board42Error {
    #[error("the board has {length} characters, at most {CELLS} are allowed")]
    Length { length: usize },
    #[error("character {number} of the board is `{symbol}`, only blank, Y and R are allowed")]
    Symbol { symbol: char, number: usize },
    #[error(transparent)]
    Stones(#[from] StonesError),
    #[error("the game is over")]
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::print_diagram;

    #[track_caller]
    fn check_same(bottom_first: &str, top_first: &str) {
        let position = parse(bottom_first, RowOrder::Bottom).unwrap();
        assert_eq!(parse(top_first, RowOrder::Top), Ok(position));
    }

    #[test]
    fn the_order_names_the_row_that_comes_first() {
        check_same("YRYR   RY", &format!("{:28}{:7}{:7}", "", "RY", "YRYR"));
        check_same("", "");
    }

    #[test]
    fn own_stones_are_those_of_the_side_to_move() {
        let position = parse("Y RRRY Y", RowOrder::Bottom).unwrap();
        assert_eq!((position.mine().count(), position.theirs().count()), (3, 3));
        assert!(
            position.mine().contains("a2".parse().unwrap(), Variant::STANDARD),
            "\n{}",
            print_diagram(&position)
        );
    }

    #[test]
    fn the_numbers_of_stones_may_differ_by_any_amount() {
        assert_eq!(parse("RRR RRR", RowOrder::Bottom).unwrap().ply(), 6);
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(parse(text, RowOrder::Bottom).unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_no_board_is_refused() {
        check_refused(&" ".repeat(43), "the board has 43 characters, at most 42 are allowed");
        check_refused("Y.", "character 2 of the board is `.`, only blank, Y and R are allowed");
        check_refused("y", "character 1 of the board is `y`, only blank, Y and R are allowed");
        check_refused("       Y", "the stone on a2 has nothing below it");
        check_refused("RRRR", "the game is over");
        check_refused("YYYY", "the side to move has already won");
        check_refused(&"YYRRYYRRRYYRRY".repeat(3), "the game is over");
    }
}
