//! The board: cursor, column digits, stones.

use fourfold_engine::{Bitboard, Cell, Column, Outcome, Side, Variant};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::super::symbol;
use super::super::game::ScreenGame;
use super::{BOLD, DIM, Palette};

/// Columns of a cell without its borders: the stone and a sign on either side of it.
const CELL_WIDTH: u16 = 3;

/// Rows above the cells: the cursor and the digits.
const HEAD_ROWS: u16 = 2;

/// How the cells are set apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grid {
    /// A line around each cell.
    Ruled,
    /// A line around the board only; empty cells have a dot.
    Dense,
}

impl Grid {
    /// From large to small.
    pub(super) const ALL: [Self; 2] = [Self::Ruled, Self::Dense];

    /// Columns and rows of the terminal that the board takes.
    pub(super) fn size(self, variant: Variant) -> (u16, u16) {
        let (width, height) = (u16::from(variant.width()), u16::from(variant.height()));
        match self {
            Self::Ruled => (width * (CELL_WIDTH + 1) + 1, HEAD_ROWS + 2 * height + 1),
            Self::Dense => (width * CELL_WIDTH + 2, HEAD_ROWS + height + 1),
        }
    }

    /// What stands between two cells of a row.
    fn separator(self) -> &'static str {
        match self {
            Self::Ruled => "│",
            Self::Dense => "",
        }
    }

    fn empty_cell(self) -> &'static str {
        match self {
            Self::Ruled => "   ",
            Self::Dense => " · ",
        }
    }

    /// A horizontal line over the whole width, with its left end, middle joints and right end.
    fn rule(self, variant: Variant, [left, joint, right]: [&str; 3]) -> Line<'static> {
        let cells = vec!["───"; usize::from(variant.width())];
        let joint = match self {
            Self::Ruled => joint,
            Self::Dense => "",
        };
        Line::styled(format!("{left}{}{right}", cells.join(joint)), DIM)
    }
}

/// The board as lines, of the size that [`Grid::size`] says.
pub(super) fn draw(state: &ScreenGame, grid: Grid, palette: Palette) -> Paragraph<'static> {
    let variant = state.game().variant();
    let signs = Signs::of(state);
    let mut lines = vec![head(grid, variant, |column| signs.above(column))];
    lines.push(head(grid, variant, |column| {
        let style = if signs.cursor == Some(column) { BOLD } else { DIM };
        Span::styled(format!(" {} ", column.digit()), style)
    }));
    if grid == Grid::Ruled {
        lines.push(grid.rule(variant, ["┌", "┬", "┐"]));
    }
    for row in (0..usize::from(variant.height())).rev() {
        lines.push(cells(state, &signs, grid, palette, row));
        if grid == Grid::Ruled && row > 0 {
            lines.push(grid.rule(variant, ["├", "┼", "┤"]));
        }
    }
    lines.push(grid.rule(variant, ["└", "┴", "┘"]));
    Paragraph::new(lines)
}

/// A row above the cells.
fn head(grid: Grid, variant: Variant, text: impl Fn(Column) -> Span<'static>) -> Line<'static> {
    let gap = " ".repeat(grid.separator().chars().count());
    let mut spans = vec![Span::raw(" ")];
    for column in variant.columns() {
        spans.push(text(column));
        spans.push(Span::raw(gap.clone()));
    }
    Line::from(spans)
}

fn cells(state: &ScreenGame, signs: &Signs, grid: Grid, palette: Palette, row: usize) -> Line<'static> {
    let variant = state.game().variant();
    let mut spans = vec![Span::styled("│", DIM)];
    for column in variant.columns() {
        if column.index() > 0 {
            spans.push(Span::styled(grid.separator(), DIM));
        }
        let cell = Cell::new(column, row).expect("the row is on the board");
        spans.push(match state.game().position().stone_at(cell) {
            Some(side) => signs.stone(cell, side, palette, variant),
            None => signs.empty(cell, grid),
        });
    }
    spans.push(Span::styled("│", DIM));
    Line::from(spans)
}

/// What is marked on the board.
struct Signs {
    /// Where a person's next stone would go by Enter; `None` if no person plays.
    cursor: Option<Column>,
    /// The cell it would fall to, and whose it would be; `None` too while a bot is to move.
    target: Option<(Cell, Side)>,
    hint: Option<Column>,
    last: Option<Cell>,
    winning: Bitboard,
}

impl Signs {
    fn of(state: &ScreenGame) -> Self {
        let game = state.game();
        let position = game.position();
        let cursor = (game.outcome().is_none() && !state.is_watched()).then(|| state.cursor());
        let target =
            cursor.filter(|_| state.is_persons_turn()).and_then(|column| position.landing_cell(column));
        let winning = match game.outcome() {
            Some(Outcome::Win { line, .. }) => line.bitboard(game.variant()),
            Some(Outcome::Draw) | None => Bitboard::EMPTY,
        };
        Self {
            cursor,
            target: target.map(|cell| (cell, position.side_to_move())),
            hint: state.hint().map(|hint| hint.column),
            last: last_cell(state),
            winning,
        }
    }

    /// The cursor and the hint above a column.
    fn above(&self, column: Column) -> Span<'static> {
        let hint = if self.hint == Some(column) { '*' } else { ' ' };
        let cursor = if self.cursor == Some(column) { '▼' } else { ' ' };
        Span::styled(format!("{hint}{cursor} "), BOLD)
    }

    fn stone(&self, cell: Cell, side: Side, palette: Palette, variant: Variant) -> Span<'static> {
        let (style, stone) = (palette.stone(side), symbol(side));
        if !(self.winning & Bitboard::cell(cell, variant)).is_empty() {
            Span::styled(format!("[{stone}]"), style.add_modifier(Modifier::REVERSED))
        } else if self.last == Some(cell) {
            Span::styled(format!("({stone})"), style)
        } else {
            Span::styled(format!(" {stone} "), style)
        }
    }

    fn empty(&self, cell: Cell, grid: Grid) -> Span<'static> {
        match self.target {
            Some((target, side)) if target == cell => {
                Span::styled(format!(" {} ", symbol(side).to_ascii_lowercase()), DIM)
            }
            _ => Span::styled(grid.empty_cell(), DIM),
        }
    }
}

/// The cell of the last stone.
fn last_cell(state: &ScreenGame) -> Option<Cell> {
    let game = state.game();
    let column = *game.moves().last()?;
    let stones = game.moves().iter().filter(|&&other| other == column).count();
    Cell::new(column, stones - 1)
}
