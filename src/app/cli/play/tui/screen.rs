//! Draws a game: the board on the left, players and moves on the right if there is room, what is going on below.
//!
//! Reads the state and changes nothing. Signs come first and colours second: stones are X and O, the last one is in
//! parentheses, the winning line in brackets.

mod board;
mod panel;
mod words;

use std::ffi::OsStr;

use fourfold_engine::{Side, Variant};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use self::board::Grid;
use super::game::{Mode, ScreenGame};
use super::keys;

/// Rows below the board: what is going on, a detail, the keys.
const STATUS_ROWS: u16 = 3;

/// Columns that the rows below the board need to say something.
const STATUS_WIDTH_MIN: u16 = 34;

/// Columns between the board and the panel.
const GAP: u16 = 3;

/// Columns without which there is no panel.
const PANEL_WIDTH_MIN: u16 = 24;

/// Whether to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Palette {
    Colours,
    /// Bold, dim and reversed letters only.
    Plain,
}

impl Palette {
    /// From the variable `NO_COLOR`, which counts unless it is empty: see <https://no-color.org>.
    pub(super) fn from_no_color(value: Option<&OsStr>) -> Self {
        if value.is_some_and(|value| !value.is_empty()) { Self::Plain } else { Self::Colours }
    }

    /// Both colours have a background of their own, and so are readable on light and dark terminals.
    fn stone(self, side: Side) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match (self, side) {
            (Self::Plain, _) => bold,
            (Self::Colours, Side::First) => bold.fg(Color::White).bg(Color::Red),
            (Self::Colours, Side::Second) => bold.fg(Color::Black).bg(Color::Yellow),
        }
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

pub(super) fn draw(frame: &mut Frame<'_>, state: &ScreenGame, palette: Palette) {
    let area = frame.area();
    let variant = state.game().variant();
    match Places::find(area, variant) {
        None => draw_too_small(frame, variant),
        Some(places) => {
            draw_title(frame, places.title, variant);
            frame.render_widget(board::draw(state, places.grid, palette), places.board);
            if let Some(place) = places.panel {
                frame.render_widget(panel::draw(state, place, palette), place);
            }
            draw_status(frame, places.status, state);
        }
    }
    if state.mode() == Mode::Help {
        draw_help(frame, state);
    }
}

/// Where everything goes.
struct Places {
    grid: Grid,
    title: Option<Rect>,
    board: Rect,
    panel: Option<Rect>,
    status: Rect,
}

impl Places {
    /// The best arrangement that fits; `None` if none does.
    fn find(area: Rect, variant: Variant) -> Option<Self> {
        let grid = Grid::ALL.into_iter().find(|&grid| {
            let (width, height) = least_size(grid, variant);
            area.width >= width && area.height >= height
        })?;
        let (width, height) = grid.size(variant);
        let spare_rows = area.height - height - STATUS_ROWS;
        let margin = area.width.saturating_sub(width.max(STATUS_WIDTH_MIN)).min(2);
        // Rows that are to spare go to the title first, then to the gap below the board.
        let title_rows = spare_rows.min(1);
        let gap_rows = (spare_rows - title_rows).min(1);
        let inside = Rect { x: area.x + margin, width: area.width - margin, ..area };
        let top = area.y + title_rows;
        let board = Rect { x: inside.x, y: top, width, height };
        let panel_x = board.right() + GAP;
        let panel_width = inside.right().saturating_sub(panel_x);
        let panel = Rect { x: panel_x, y: top, width: panel_width, height };
        let status = Rect { y: board.bottom() + gap_rows, height: STATUS_ROWS, ..inside };
        Some(Self {
            grid,
            title: (title_rows > 0).then_some(Rect { y: area.y, height: 1, ..inside }),
            board,
            panel: (panel_width >= PANEL_WIDTH_MIN).then_some(panel),
            status,
        })
    }
}

fn least_size(grid: Grid, variant: Variant) -> (u16, u16) {
    let (width, height) = grid.size(variant);
    (width.max(STATUS_WIDTH_MIN), height + STATUS_ROWS)
}

fn draw_too_small(frame: &mut Frame<'_>, variant: Variant) {
    let area = frame.area();
    let (width, height) = least_size(Grid::Dense, variant);
    let text = format!(
        "The {variant} board needs {width} columns and {height} rows; here are {} and {}. Enlarge the window, or q to \
         quit.",
        area.width, area.height
    );
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}

fn draw_title(frame: &mut Frame<'_>, place: Option<Rect>, variant: Variant) {
    let Some(place) = place else { return };
    let (width, height, connect) = (variant.width(), variant.height(), variant.connect());
    let rules = format!("  {width}x{height}, {connect} in a line win");
    frame.render_widget(Line::from(vec![Span::styled("Fourfold", BOLD), Span::styled(rules, DIM)]), place);
}

fn draw_status(frame: &mut Frame<'_>, place: Rect, state: &ScreenGame) {
    let width = usize::from(place.width);
    let lines = vec![
        Line::styled(words::shorten(&words::status(state), width), BOLD),
        Line::raw(words::shorten(&words::detail(state), width)),
        Line::styled(words::fill(keys::summary(state.is_watched()), width), DIM),
    ];
    frame.render_widget(Paragraph::new(lines), place);
}

fn draw_help(frame: &mut Frame<'_>, state: &ScreenGame) {
    let mut lines: Vec<Line<'_>> = keys::explained(state.is_watched())
        .iter()
        .map(|(key, about)| Line::from(vec![Span::styled(format!("{key:>9}  "), BOLD), Span::raw(*about)]))
        .collect();
    lines.push(Line::raw(""));
    lines.push(Line::raw(keys::signs(state.is_watched())));
    let width = lines.iter().map(Line::width).max().unwrap_or(0) + 4;
    let area = frame.area();
    let place = centered(area, width, lines.len() + 2);
    let block = Block::bordered().title(" Keys: any key closes this ");
    let inside = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    frame.render_widget(Paragraph::new(lines), inside);
}

/// A place of this size in the middle, or as much of it as there is.
fn centered(area: Rect, width: usize, height: usize) -> Rect {
    let least = |wanted: usize, there: u16| u16::try_from(wanted).unwrap_or(u16::MAX).min(there);
    let (width, height) = (least(width, area.width), least(height, area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

#[cfg(test)]
mod tests;
