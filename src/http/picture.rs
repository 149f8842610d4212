//! Boards as pictures: SVG text from a position, and nothing else.

use std::fmt::Write as _;

use fourfold_engine::{Cell, Column, Game, Outcome, Side, Variant};

/// Side of a cell, in user units. All other lengths are shares of it.
const CELL: usize = 40;
/// Around the board, and below it for the column numbers.
const MARGIN: usize = 10;
/// Height of the row of column numbers.
const NUMBERS: usize = 24;

/// The board.
const FRAME: &str = "#1d4ed8";
/// The holes in it.
const HOLE: &str = "#eff6ff";
/// Stones of the side that moves first: full discs, yellow.
const FIRST: &str = "#facc15";
/// Stones of the other side: rings, red.
const SECOND: &str = "#dc2626";
/// Marks on stones, and text.
const INK: &str = "#111827";

/// Draws the position after all moves of a game.
///
/// The sides differ by shape as well as by colour: discs of the first side are full, those of the second hollow. The
/// last stone has a point in its middle; a winning line is struck through and its stones have a border.
pub(crate) fn board(game: &Game) -> String {
    let variant = game.variant();
    let (columns, rows) = (usize::from(variant.width()), usize::from(variant.height()));
    let (width, height) = (columns * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN + NUMBERS);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">{}</title>\n",
        title(game)
    );
    let (frame_width, frame_height) = (columns * CELL, rows * CELL);
    push(
        &mut svg,
        format_args!(
            "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{frame_width}\" height=\"{frame_height}\" rx=\"6\" \
             fill=\"{FRAME}\"/>"
        ),
    );
    for column in variant.columns() {
        push_number(&mut svg, variant, column);
        for row in 0..rows {
            if let Some(cell) = Cell::new(column, row) {
                push_cell(&mut svg, game, cell);
            }
        }
    }
    push_last_move(&mut svg, game);
    push_line(&mut svg, game);
    svg.push_str("</svg>\n");
    svg
}

/// The position in words, for those who do not see it.
fn title(game: &Game) -> String {
    let moves = game.notation();
    let moves = if moves.is_empty() { String::from("no moves") } else { format!("moves {moves}") };
    let state = match game.outcome() {
        Some(Outcome::Win { by: Side::First, line: _ }) => "the first side has won",
        Some(Outcome::Win { by: Side::Second, line: _ }) => "the second side has won",
        Some(Outcome::Draw) => "a draw",
        None => match game.position().side_to_move() {
            Side::First => "the first side is to move",
            Side::Second => "the second side is to move",
        },
    };
    format!("Connect Four {}, {moves}: {state}", game.variant())
}

fn push(svg: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = writeln!(svg, "{element}");
}

/// The middle of a cell.
fn centre(variant: Variant, cell: Cell) -> (usize, usize) {
    let from_top = usize::from(variant.height()) - 1 - cell.row_index();
    (MARGIN + cell.column().index() * CELL + CELL / 2, MARGIN + from_top * CELL + CELL / 2)
}

fn push_number(svg: &mut String, variant: Variant, column: Column) {
    let x = MARGIN + column.index() * CELL + CELL / 2;
    let y = MARGIN + usize::from(variant.height()) * CELL + NUMBERS;
    let digit = column.digit();
    push(
        svg,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"16\" text-anchor=\"middle\" \
             fill=\"#6b7280\">{digit}</text>"
        ),
    );
}

fn push_cell(svg: &mut String, game: &Game, cell: Cell) {
    let (x, y) = centre(game.variant(), cell);
    let look = match game.position().stone_at(cell) {
        None => format!("r=\"16\" fill=\"{HOLE}\""),
        Some(Side::First) => format!("r=\"16\" fill=\"{FIRST}\""),
        Some(Side::Second) => {
            format!("r=\"12.5\" fill=\"{HOLE}\" stroke=\"{SECOND}\" stroke-width=\"7\"")
        }
    };
    push(svg, format_args!("<circle cx=\"{x}\" cy=\"{y}\" {look}/>"));
}

fn push_last_move(svg: &mut String, game: &Game) {
    let position = game.position();
    let stones_in = |column: Column| {
        let rows = 0..usize::from(game.variant().height());
        rows.rev().filter_map(|row| Cell::new(column, row)).find(|cell| position.stone_at(*cell).is_some())
    };
    if let Some(cell) = game.moves().last().and_then(|column| stones_in(*column)) {
        let (x, y) = centre(game.variant(), cell);
        push(svg, format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{INK}\"/>"));
    }
}

fn push_line(svg: &mut String, game: &Game) {
    let Some(Outcome::Win { by: _, line }) = game.outcome() else { return };
    let centres: Vec<_> = line.cells().map(|cell| centre(game.variant(), cell)).collect();
    for (x, y) in &centres {
        push(
            svg,
            format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"17\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2.5\"/>"
            ),
        );
    }
    if let (Some((x1, y1)), Some((x2, y2))) = (centres.first(), centres.last()) {
        push(
            svg,
            format_args!(
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{INK}\" stroke-width=\"4\" \
                 stroke-linecap=\"round\"/>"
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(variant: &str, moves: &str) -> String {
        board(&Game::from_moves(variant.parse().unwrap(), moves).unwrap())
    }

    #[test]
    fn the_sides_differ_by_shape() {
        let svg = draw("7x6", "44");
        assert_eq!(svg.matches("r=\"16\" fill=\"#facc15\"").count(), 1);
        assert_eq!(svg.matches("r=\"12.5\"").count(), 1);
        assert_eq!(svg.matches(HOLE).count(), 42 - 2 + 1, "empty cells, and the hole of the ring");
    }

    #[test]
    fn the_last_stone_is_marked_where_it_lies() {
        assert!(!draw("7x6", "").contains("r=\"4\""));
        assert!(draw("7x6", "12").contains("<circle cx=\"70\" cy=\"230\" r=\"4\""));
        assert!(draw("7x6", "122").contains("<circle cx=\"70\" cy=\"190\" r=\"4\""));
    }

    #[test]
    fn a_winning_line_is_struck_through() {
        let svg = draw("7x6", "1212121");
        assert!(svg.contains("<line x1=\"30\" y1=\"230\" x2=\"30\" y2=\"110\""), "{svg}");
        assert!(svg.contains("the first side has won"), "{svg}");
        assert!(!draw("7x6", "121212").contains("<line"));
    }

    #[test]
    fn every_size_fits_its_frame() {
        for variant in ["4x4x3", "12x4", "4x15", "9x6x5"] {
            let svg = draw(variant, "1");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        }
        assert!(draw("12x4", "c").contains(">c</text>"));
    }
}
