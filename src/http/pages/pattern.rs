//! Patterns of learners as small boards. `web/static/pattern.js` draws the same when a page is live.

use askama::Template;
use askama::filters::HtmlSafe;
use fourfold_bots::KnownPattern;
use fourfold_engine::{Cell, Variant};

use crate::http::texts::Language;

/// A cell is so wide and high.
const CELL: i32 = 100;

/// The empty board under all patterns of a page, which has it once.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/pattern-cells.html")]
pub(super) struct PatternCells {
    /// Middles of its cells.
    cells: Vec<(i32, i32)>,
}

impl HtmlSafe for PatternCells {}

impl PatternCells {
    pub(super) fn new() -> Self {
        let (columns, rows) = (1..=Variant::STANDARD.width(), 1..=Variant::STANDARD.height());
        let cells = columns.flat_map(|column| rows.clone().map(move |row| middle([column, row])));
        Self { cells: cells.collect() }
    }
}

/// What is drawn in one cell.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mark {
    x: i32,
    y: i32,
    /// Radius; outlines are drawn inside of it.
    r: i32,
    class: &'static str,
}

/// Own stones, those of the opponent, and cells that are empty: style, radius and key of the word for them.
const KINDS: [(&str, i32, &str); 3] = [
    ("pattern-own", 38, "learning.cells_own"),
    ("pattern-enemy", 27, "learning.cells_enemy"),
    ("pattern-open", 33, "learning.cells_open"),
];

/// A pattern on its board.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/pattern.html")]
pub(super) struct PatternBoard {
    /// The same in words.
    label: String,
    marks: Vec<Mark>,
}

impl HtmlSafe for PatternBoard {}

impl PatternBoard {
    pub(super) fn known(lang: Language, pattern: &KnownPattern) -> Self {
        Self::new(lang, [&pattern.own, &pattern.enemy, &pattern.answers])
    }

    /// A pattern by its name, such as `own c1 d1 . .` or `own c1 enemy d1 open d2`. What is no cell is left out.
    pub(super) fn named(lang: Language, name: &str) -> Self {
        let mut cells = [const { Vec::new() }; 3];
        let mut kind = 0;
        for word in name.split(' ') {
            match word {
                "own" => kind = 0,
                "enemy" => kind = 1,
                "open" => kind = 2,
                _ => {
                    let cell = word.parse::<Cell>().ok();
                    cells[kind].extend(cell.filter(|cell| cell.is_on(Variant::STANDARD)));
                }
            }
        }
        Self::new(lang, cells.each_ref())
    }

    /// From the cells of each of the kinds.
    fn new(lang: Language, cells: [&Vec<Cell>; 3]) -> Self {
        let (mut marks, mut words) = (Vec::new(), Vec::new());
        for ((class, r, key), cells) in KINDS.into_iter().zip(cells) {
            marks.extend(cells.iter().map(|cell| {
                let (x, y) = middle(cell.numbers());
                Mark { x, y, r, class }
            }));
            if !cells.is_empty() {
                let names: Vec<String> = cells.iter().map(Cell::to_string).collect();
                words.push(lang.fill(key, &[("cells", names.join(" "))]));
            }
        }
        if words.is_empty() {
            // Of the network, one whose cells are all out of reach.
            words.push(lang.text("learning.cells_none").to_owned());
        }
        Self { label: words.join(", "), marks }
    }
}

/// The middle of a cell, whose column and row count from 1.
pub(super) fn middle([column, row]: [u8; 2]) -> (i32, i32) {
    let from_top = i32::from(Variant::STANDARD.height()) - i32::from(row);
    (i32::from(column) * CELL - CELL / 2, from_top * CELL + CELL / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_drawn_cell_by_cell() {
        let board = PatternBoard::named(Language::English, "own c1 . d1 enemy g6 open e1");
        let drawn: Vec<_> = board.marks.iter().map(|mark| (mark.x, mark.y, mark.class)).collect();
        let expected = [
            (250, 550, "pattern-own"),
            (350, 550, "pattern-own"),
            (650, 50, "pattern-enemy"),
            (450, 550, "pattern-open"),
        ];
        assert_eq!(drawn, expected);
        assert_eq!(board.label, "own c1 d1, opponent’s g6, empty e1");
    }

    #[test]
    fn what_is_no_cell_of_the_board_is_left_out() {
        for name in ["", "empty", "own z9 h1 a7 . .", "<script>", "enemy"] {
            let board = PatternBoard::named(Language::English, name);
            assert_eq!((board.marks.len(), board.label.as_str()), (0, "an empty board"), "{name}");
        }
    }

    #[test]
    fn the_empty_board_has_every_cell() {
        assert_eq!(PatternCells::new().cells.len(), 42);
    }
}
