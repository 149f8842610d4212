//! Move lists and board diagrams as text.
//!
//! A move list is one base-36 column digit a move, counted from 1: `44353`. A diagram shows the rows from the
//! top, the first side as `X`, the second as `O`:
//!
//! ```text
//! . . . . . . .
//! . . . . . . .
//! . . . . . . .
//! . . . . . . .
//! . . X O . . .
//! . . O X X . .
//! ```
//!
//! The rules are not checked for move lists: that is [`crate::Game`]'s business.

pub mod board42;

use crate::board::{Bitboard, BySide, Cell, Column, Position, Side, StonesError, Variant};

const FIRST_STONE: char = 'X';
const SECOND_STONE: char = 'O';
const NO_STONE: char = '.';

/// Reads a move list; `-` and the empty string are the empty list.
///
/// # Errors
///
/// Fails if a character is no base-36 digit from 1 to 12 (`c`).
pub fn parse_moves(text: &str) -> Result<Vec<Column>, MovesError> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let wrong = |digit, index| MovesError { digit, number: index + 1, columns: Variant::MAX_WIDTH };
    let parse = |(index, digit)| Column::from_digit(digit).ok_or_else(|| wrong(digit, index));
    text.chars().enumerate().map(parse).collect()
}

/// Prints a move list; the empty list is the empty string.
pub fn print_moves(moves: &[Column]) -> String {
    moves.iter().map(|column| column.digit()).collect()
}

/// Reads a diagram: one line a row from the top, blanks between the cells optional, lower case allowed, empty
/// lines skipped.
///
/// # Errors
///
/// Fails if the size is not the variant's, a character is unknown, a stone floats, both sides have a line, or
/// the first side has not either as many stones as the second or one more.
pub fn parse_diagram(variant: Variant, text: &str) -> Result<Position, DiagramError> {
    let rows: Vec<&str> = text.lines().map(str::trim).filter(|row| !row.is_empty()).collect();
    if rows.len() != usize::from(variant.height()) {
        return Err(DiagramError::Rows { rows: rows.len(), variant });
    }
    let mut stones = BySide::<Bitboard>::default();
    for (row_index, row) in rows.into_iter().rev().enumerate() {
        parse_row(variant, row_index, row, &mut stones)?;
    }
    let count = stones.map(Bitboard::count);
    if count.first != count.second && count.first != count.second + 1 {
        return Err(DiagramError::Count { first: count.first, second: count.second });
    }
    let to_move = Side::to_move_at(count.first + count.second);
    Ok(Position::from_stones(variant, stones[to_move], stones[to_move.opponent()])?)
}

fn parse_row(
    variant: Variant,
    row_index: usize,
    row: &str,
    stones: &mut BySide<Bitboard>,
) -> Result<(), DiagramError> {
    let row_number = row_index + 1;
    let symbols: Vec<char> = row.chars().filter(|symbol| !symbol.is_whitespace()).collect();
    if symbols.len() != usize::from(variant.width()) {
        return Err(DiagramError::Width { row_number, cells: symbols.len(), variant });
    }
    for (column, symbol) in variant.columns().zip(symbols) {
        let cell = Cell::new(column, row_index).expect("there are as many rows as the variant has");
        match symbol.to_ascii_uppercase() {
            FIRST_STONE => stones.first |= Bitboard::cell(cell, variant),
            SECOND_STONE => stones.second |= Bitboard::cell(cell, variant),
            NO_STONE => {}
            _ => return Err(DiagramError::Symbol { symbol, cell }),
        }
    }
    Ok(())
}

/// Prints a diagram, cells separated by blanks, a line feed after each row.
pub fn print_diagram(position: &Position) -> String {
    let variant = position.variant();
    let row = |row_index| {
        let symbols = variant.columns().map(|column| symbol(position, column, row_index).to_string());
        symbols.collect::<Vec<_>>().join(" ") + "\n"
    };
    (0..usize::from(variant.height())).rev().map(row).collect()
}

fn symbol(position: &Position, column: Column, row_index: usize) -> char {
    let cell = Cell::new(column, row_index).expect("the row is on the board");
    match position.stone_at(cell) {
        Some(Side::First) => FIRST_STONE,
        Some(Side::Second) => SECOND_STONE,
        None => NO_STONE,
    }
}

/// A character of a move list is no column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("move {number} is `{digit}`, not a column from 1 to {columns}{}", spelling(*.columns))]
pub struct MovesError {
    digit: char,
    number: usize,
    /// How many columns there are.
    columns: u8,
}

impl MovesError {
    /// The same on a board of so many columns.
    #[must_use = "it is another error than before"]
    pub fn on(self, columns: u8) -> Self {
        Self { columns, ..self }
    }
}

/// How the columns of wide boards are written.
fn spelling(columns: u8) -> &'static str {
    match columns {
        ..=9 => "",
        10 => " (a is 10)",
        11 => " (a is 10, b 11)",
        12.. => " (a is 10, b 11, c 12)",
    }
}

/// Why a text is no diagram of a position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DiagramError {
    #[error("the diagram has {rows} rows, not the {} of {variant}", variant.height())]
    Rows { rows: usize, variant: Variant },
    #[error("row {row_number} has {cells} cells, not the {} of {variant}", variant.width())]
    Width { row_number: usize, cells: usize, variant: Variant },
    #[error("`{symbol}` on {cell} is not one of X, O and .")]
    Symbol { symbol: char, cell: Cell },
    #[error("{first} stones of the first side and {second} of the second cannot come from alternating moves")]
    Count { first: u32, second: u32 },
    #[error(transparent)]
    Stones(#[from] StonesError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn move_lists_round_trip() {
        for text in ["", "4", "44353", "1c"] {
            assert_eq!(print_moves(&parse_moves(text).unwrap()), text);
        }
        assert_eq!(parse_moves("-"), Ok(Vec::new()));
        assert_eq!(print_moves(&parse_moves("1C").unwrap()), "1c");
    }

    #[test]
    fn the_bad_move_is_named() {
        for text in ["44 53", "440", "44d", "44-", "44é"] {
            let error = parse_moves(text).unwrap_err();
            assert!(error.to_string().starts_with("move 3 is `"), "{error}");
        }
    }

    const DIAGRAM: &str = "\
. . . . . . .
. . . . . . .
. . . . . . .
. . . X . . .
. . . O . . .
. . O X X . .
";

    #[test]
    fn diagrams_round_trip() {
        let position = parse_diagram(Variant::STANDARD, DIAGRAM).unwrap();
        assert_eq!(print_diagram(&position), DIAGRAM);
        assert_eq!(position.side_to_move(), Side::Second);
        let dense = DIAGRAM.replace(' ', "").to_lowercase();
        assert_eq!(parse_diagram(Variant::STANDARD, &dense), Ok(position));
    }

    #[track_caller]
    fn check_refused(diagram: &str, message: &str) {
        let error = parse_diagram("4x4".parse().unwrap(), diagram).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn what_is_no_position_is_refused() {
        check_refused("", "the diagram has 0 rows, not the 4 of 4x4");
        check_refused("....\n....\n....\n...", "row 1 has 3 cells, not the 4 of 4x4");
        check_refused("....\n....\n....\n..#.", "`#` on c1 is not one of X, O and .");
        check_refused(
            "....\n....\n....\n..O.",
            "0 stones of the first side and 1 of the second cannot come from alternating moves",
        );
        check_refused("....\n..X.\n....\n..O.", "the stone on c3 has nothing below it");
        check_refused("....\n....\nOOOO\nXXXX", "the side to move has already won");
    }
}
