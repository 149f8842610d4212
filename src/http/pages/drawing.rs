//! Boards and discs as SVG, in hundredths of a cell. `web/static/drawing.js` draws the same shapes when a page is live.

use std::fmt::Write as _;

use askama::Template;
use askama::filters::HtmlSafe;
use fourfold_engine::{Game, Variant};

use super::words;
use crate::http::texts::Language;
use crate::protocol::terms::WireSide;

/// A cell is so wide and high.
const CELL: i32 = 100;
/// Radius of a hole; a disc fills it but for a hair.
const HOLE: i32 = 41;
/// How far the board reaches beyond its outer cells.
const MARGIN: i32 = 13;
/// How far the drawing reaches beyond the outer cells: the rim and its stroke.
const FRAME: i32 = 16;
/// Room above the board for the disc that is about to fall.
const GHOST_ROOM: i32 = 88;
/// How round the board's corners are.
const CORNER: i32 = 34;

/// A disc around the origin of a drawing.
#[derive(Clone, Copy, Debug, Template)]
#[template(path = "parts/disc.html")]
struct Disc {
    side: WireSide,
    /// Whether it belongs to the line that won.
    in_line: bool,
}

impl HtmlSafe for Disc {}

/// One side's disc as a small picture, to stand beside text.
#[derive(Clone, Copy, Debug, Template)]
#[template(path = "parts/disc-icon.html")]
pub(super) struct DiscIcon {
    disc: Disc,
}

impl HtmlSafe for DiscIcon {}

impl DiscIcon {
    pub(super) fn new(side: WireSide) -> Self {
        Self { disc: Disc { side, in_line: false } }
    }
}

/// A disc in its cell, at the middle of it.
#[derive(Clone, Copy, Debug)]
struct Stone {
    x: i32,
    y: i32,
    disc: Disc,
}

/// A position as a drawing; what does not fit the rules is left out.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    variant: Variant,
    moves: String,
    stones: Vec<Stone>,
    line: Vec<(i32, i32)>,
    /// Rows from the top, each from the left: whose stone is there.
    rows: Vec<Vec<Option<WireSide>>>,
}

impl Drawing {
    /// The position after `moves`.
    pub(super) fn new(variant: Variant, moves: &str) -> Self {
        let game = Game::from_moves(variant, moves).unwrap_or_else(|_| Game::new(variant));
        let line: Vec<_> =
            game.position().winning_line().into_iter().flat_map(fourfold_engine::Line::cells).collect();
        let middle = |[column, row]: [u8; 2]| {
            let x = i32::from(column) * CELL - CELL / 2;
            (x, (i32::from(variant.height()) - i32::from(row)) * CELL + CELL / 2)
        };
        let mut rows = vec![vec![None; usize::from(variant.width())]; usize::from(variant.height())];
        let mut stones = Vec::new();
        let mut heights = vec![0_u8; usize::from(variant.width())];
        let mut side = WireSide::First;
        for column in game.moves() {
            let index = usize::from(column.number() - 1);
            heights[index] += 1;
            let row = heights[index];
            let (x, y) = middle([column.number(), row]);
            let in_line = line.iter().any(|cell| cell.numbers() == [column.number(), row]);
            stones.push(Stone { x, y, disc: Disc { side, in_line } });
            rows[usize::from(variant.height() - row)][index] = Some(side);
            side = other(side);
        }
        let line = line.iter().map(|cell| middle(cell.numbers())).collect();
        Self { variant, moves: moves.to_owned(), stones, line, rows }
    }

    fn width(&self) -> i32 {
        i32::from(self.variant.width()) * CELL
    }

    fn height(&self) -> i32 {
        i32::from(self.variant.height()) * CELL
    }

    /// The last stone, which a ring marks while there is no line.
    fn last(&self) -> Option<&Stone> {
        self.stones.last().filter(|_| self.line.is_empty())
    }

    /// Both ends of the line that won.
    fn ends(&self) -> Option<((i32, i32), (i32, i32))> {
        Some((*self.line.first()?, *self.line.last()?))
    }

    /// The board's outline.
    fn rim(&self) -> String {
        let (left, right) = (-MARGIN, self.width() + MARGIN);
        let (top, bottom) = (-MARGIN, self.height() + MARGIN);
        let arc = |x: i32, y: i32| format!("a{CORNER},{CORNER} 0 0 1 {x},{y}");
        format!(
            "M{},{top}H{}{}V{}{}H{}{}V{}{}z",
            left + CORNER,
            right - CORNER,
            arc(CORNER, CORNER),
            bottom - CORNER,
            arc(-CORNER, CORNER),
            left + CORNER,
            arc(-CORNER, -CORNER),
            top + CORNER,
            arc(CORNER, -CORNER),
        )
    }

    /// The outline with a hole for each cell.
    fn front(&self) -> String {
        let mut path = self.rim();
        for x in (CELL / 2..self.width()).step_by(100) {
            for y in (CELL / 2..self.height()).step_by(100) {
                let (left, across) = (x - HOLE, 2 * HOLE);
                // Writing to a string never fails.
                let _ = write!(
                    path,
                    "M{left},{y}a{HOLE},{HOLE} 0 1 0 {across},0a{HOLE},{HOLE} 0 1 0 -{across},0z"
                );
            }
        }
        path
    }
}

fn other(side: WireSide) -> WireSide {
    match side {
        WireSide::First => WireSide::Second,
        WireSide::Second => WireSide::First,
    }
}

/// A large board, which a module takes over.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/board.html")]
pub(super) struct BoardDrawing {
    lang: Language,
    drawing: Drawing,
    /// Room above the board for the disc about to fall.
    has_ghost: bool,
}

impl HtmlSafe for BoardDrawing {}

impl BoardDrawing {
    /// A board to play on.
    pub(super) fn to_play(lang: Language, drawing: Drawing) -> Self {
        Self { lang, drawing, has_ghost: true }
    }

    /// A board only to look at.
    pub(super) fn to_show(lang: Language, drawing: Drawing) -> Self {
        Self { lang, drawing, has_ghost: false }
    }

    /// Left, top, width and height of what is drawn.
    fn view_box(&self) -> String {
        let above = FRAME + if self.has_ghost { GHOST_ROOM } else { 0 };
        let (width, height) = (self.drawing.width() + 2 * FRAME, self.drawing.height() + above + FRAME);
        format!("-{FRAME} -{above} {width} {height}")
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &Vec<Option<WireSide>>)> {
        let rows = &self.drawing.rows;
        rows.iter().enumerate().map(|(index, row)| (rows.len() - index, row))
    }
}

/// A small flat board for lists.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/mini.html")]
pub(super) struct MiniBoard {
    pub(super) drawing: Drawing,
}

impl HtmlSafe for MiniBoard {}

/// A small board before a move, with the cells of two choices.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/turn.html")]
pub(super) struct TurnBoard {
    pub(super) drawing: Drawing,
    /// Middles of the cells chosen among before.
    pub(super) before: Vec<(i32, i32)>,
    /// Of those chosen among since.
    pub(super) after: Vec<(i32, i32)>,
}

impl HtmlSafe for TurnBoard {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stones_lie_where_they_fell() {
        let drawing = Drawing::new(Variant::STANDARD, "1122");
        assert_eq!(drawing.rows[5][..3], [Some(WireSide::First), Some(WireSide::First), None]);
        assert_eq!(drawing.rows[4][..3], [Some(WireSide::Second), Some(WireSide::Second), None]);
        let last = drawing.last().expect("four stones");
        assert_eq!((last.x, last.y, last.disc.side), (150, 450, WireSide::Second));
    }

    #[test]
    fn a_line_is_drawn_through_its_stones() {
        let drawing = Drawing::new(Variant::STANDARD, "1122334");
        assert_eq!(drawing.line.len(), 4);
        assert_eq!(drawing.stones.iter().filter(|stone| stone.disc.in_line).count(), 4);
        assert!(drawing.last().is_none(), "the line is mark enough");
    }

    #[test]
    fn the_front_has_a_hole_for_each_cell() {
        let drawing = Drawing::new("5x4".parse().expect("a variant"), "");
        assert_eq!(drawing.front().matches('M').count(), 1 + 20);
    }
}
