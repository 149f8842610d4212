//! The board as 42 characters, the argument of programs that are called once a move. The engine reads the same form.

use fourfold_engine::notation::board42::RowOrder;
use fourfold_engine::{Cell, Column, Position};

use super::column_from;

/// Rows of seven cells from left to right: blank, `Y` for the side to move, `R` for its opponent.
pub(in super::super) fn print(position: &Position, order: RowOrder) -> String {
    let height = usize::from(position.variant().height());
    let rows: Vec<usize> = match order {
        RowOrder::Bottom => (0..height).collect(),
        RowOrder::Top => (0..height).rev().collect(),
    };
    let symbol = |column: Column, row: usize| {
        let stone = Cell::new(column, row).and_then(|cell| position.stone_at(cell));
        match stone {
            None => ' ',
            Some(side) if side == position.side_to_move() => 'Y',
            Some(_) => 'R',
        }
    };
    let columns = position.variant().columns();
    rows.into_iter().flat_map(|row| columns.clone().map(move |column| symbol(column, row))).collect()
}

/// `Move N`, whatever else is printed.
pub(super) fn read(line: &str) -> Option<Option<Column>> {
    match line.strip_prefix("Move ") {
        None => Some(None),
        Some(number) => column_from(number.trim(), |number| number.checked_sub(1)).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::notation::board42::{RowOrder, parse};

    use super::super::Dialect::Board42;
    use super::super::testing::{check_read, game};
    use super::print;

    #[test]
    fn what_is_printed_is_the_board() {
        let text = print(game("445").position(), RowOrder::Bottom);
        assert_eq!(text, format!("   RR  {}{}", "   Y   ", " ".repeat(28)));
        for order in [RowOrder::Bottom, RowOrder::Top] {
            let position = *game("4455612").position();
            let mirrored = parse(&print(&position, order), order).unwrap();
            assert_eq!((mirrored.mine(), mirrored.theirs()), (position.mine(), position.theirs()));
        }
    }

    #[test]
    fn only_a_line_with_a_move_counts() {
        let dialect = Board42(RowOrder::Bottom);
        check_read(dialect, "Move 3", Ok(Some(3)));
        check_read(dialect, "thinking about Move 3", Ok(None));
        check_read(dialect, "", Ok(None));
        check_read(dialect, "Move", Ok(None));
        check_read(dialect, "Move 0", Err(()));
        check_read(dialect, "Move left", Err(()));
    }
}
