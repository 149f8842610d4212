//! Boards as pictures: SVG text from a position, and nothing else.

use std::fmt::{self, Write as _};

use fourfold_engine::{Cell, Column, Game, Outcome, Side, Variant};

/// Side of a cell, in user units. All other lengths are shares of it.
const CELL: usize = 40;
/// Around the board, and below it for the column numbers.
const MARGIN: usize = 10;
/// Height of the row of column numbers.
const NUMBERS: usize = 24;

// The colours and marks of the board on the pages (`web/static/style.css`, `web/templates/parts/disc.html`), so that a
// picture that is passed on shows the game that was played.

/// The board.
pub(super) const FRAME: Colour = Colour([0x27, 0x48, 0xc8]);
/// The holes in it.
pub(super) const HOLE: Colour = Colour([0x0a, 0x14, 0x42]);
/// Stones of the side that moves first, and the ring on them.
pub(super) const FIRST: (Colour, Colour) = (Colour([0xe8, 0x40, 0x2c]), Colour([0xa1, 0x27, 0x15]));
/// Stones of the other side, and the star on them.
pub(super) const SECOND: (Colour, Colour) = (Colour([0xff, 0xc9, 0x3c]), Colour([0xb9, 0x7a, 0x00]));
/// The star of a stone, in hundredths of a cell of the pages.
const STAR: &str = "M0-25 6.5-6.5 25 0 6.5 6.5 0 25-6.5 6.5-25 0-6.5-6.5z";
/// Around the last stone and those of a winning line, and through these.
pub(super) const MARK: Colour = Colour([0xff, 0xff, 0xff]);
/// Beneath the line, which crosses gold as well.
const INK: Colour = Colour([0x11, 0x18, 0x27]);

/// Red, green and blue; written as `#rrggbb`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Colour(pub(super) [u8; 3]);

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([red, green, blue]) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Draws the position after all moves of a game.
///
/// The sides differ by shape as well as by colour: discs of the first side have a ring, those of the second a star. The
/// last stone has a border; a winning line is struck through and its stones have one each.
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
    let stone = game.position().stone_at(cell);
    let fill = match stone {
        None => HOLE,
        Some(Side::First) => FIRST.0,
        Some(Side::Second) => SECOND.0,
    };
    push(svg, format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"16\" fill=\"{fill}\"/>"));
    match stone {
        None => {}
        Some(Side::First) => push(
            svg,
            format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"10\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>",
                FIRST.1
            ),
        ),
        Some(Side::Second) => push(
            svg,
            format_args!(
                "<path transform=\"translate({x} {y}) scale(.4)\" d=\"{STAR}\" fill=\"{}\"/>",
                SECOND.1
            ),
        ),
    }
}

fn push_border(svg: &mut String, (x, y): (usize, usize)) {
    push(
        svg,
        format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"16.5\" fill=\"none\" stroke=\"{MARK}\" stroke-width=\"3\"/>"
        ),
    );
}

fn push_last_move(svg: &mut String, game: &Game) {
    let position = game.position();
    let stones_in = |column: Column| {
        let rows = 0..usize::from(game.variant().height());
        rows.rev().filter_map(|row| Cell::new(column, row)).find(|cell| position.stone_at(*cell).is_some())
    };
    if let Some(cell) = game.moves().last().and_then(|column| stones_in(*column)) {
        push_border(svg, centre(game.variant(), cell));
    }
}

fn push_line(svg: &mut String, game: &Game) {
    let Some(Outcome::Win { by: _, line }) = game.outcome() else { return };
    let centres: Vec<_> = line.cells().map(|cell| centre(game.variant(), cell)).collect();
    for cell in &centres {
        push_border(svg, *cell);
    }
    let (Some((x1, y1)), Some((x2, y2))) = (centres.first(), centres.last()) else { return };
    for (colour, width) in [(INK, 7), (MARK, 4)] {
        push(
            svg,
            format_args!(
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" \
                 stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
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
        let svg = draw("7x6", "443");
        assert_eq!(svg.matches("r=\"16\" fill=\"#e8402c\"").count(), 2);
        assert_eq!(svg.matches("stroke=\"#a12715\"").count(), 2);
        assert_eq!(svg.matches("r=\"16\" fill=\"#ffc93c\"").count(), 1);
        assert_eq!(svg.matches(STAR).count(), 1);
        assert_eq!(svg.matches(&HOLE.to_string()).count(), 42 - 3, "empty cells");
    }

    #[test]
    fn colours_and_marks_are_those_of_the_pages() {
        let sheet = include_str!("../../web/static/style.css");
        let tokens = [
            ("coral", FIRST.0),
            ("coral-edge", FIRST.1),
            ("gold", SECOND.0),
            ("gold-edge", SECOND.1),
            ("mark", MARK),
        ];
        for (token, colour) in tokens {
            assert!(sheet.contains(&format!("  --{token}: {colour};")), "{token}");
        }
        for (token, colour) in [("board", FRAME), ("hole", HOLE)] {
            assert!(sheet.contains(&format!("  --{token}: light-dark({colour},")), "{token}");
        }
        assert!(include_str!("../../web/templates/parts/disc.html").contains(STAR));
    }

    #[test]
    fn the_last_stone_is_marked_where_it_lies() {
        assert!(!draw("7x6", "").contains("r=\"16.5\""));
        assert!(draw("7x6", "12").contains("<circle cx=\"70\" cy=\"230\" r=\"16.5\""));
        assert!(draw("7x6", "122").contains("<circle cx=\"70\" cy=\"190\" r=\"16.5\""));
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
