//! The panel beside the board: who plays, what bots say, the moves.

use fourfold_engine::{Column, Side};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::super::symbol;
use super::super::game::{MoveKnowledge, ScreenGame, ScreenSeat};
use super::{BOLD, DIM, Palette, words};

/// Columns of a numbered pair of moves: ` 1. 4 3`, and the gap to the next.
const PAIR_WIDTH: u16 = 9;

/// The panel as lines that fit `place`.
pub(super) fn draw(state: &ScreenGame, place: Rect, palette: Palette) -> Paragraph<'static> {
    let width = usize::from(place.width);
    let mut lines = vec![Line::styled("Players", BOLD)];
    for side in Side::BOTH {
        lines.extend(player(state, side, width, palette));
    }
    lines.push(Line::raw(""));
    lines.push(Line::styled("Moves", BOLD));
    let rows_left = usize::from(place.height).saturating_sub(lines.len());
    lines.extend(moves(state.game().moves(), usize::from(place.width / PAIR_WIDTH), rows_left));
    Paragraph::new(lines)
}

fn player(state: &ScreenGame, side: Side, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let is_to_move = state.game().outcome().is_none() && state.game().position().side_to_move() == side;
    let name = words::shorten(&state.name(side), width.saturating_sub(6));
    let mut lines = vec![Line::from(vec![
        Span::styled(if is_to_move { "> " } else { "  " }, BOLD),
        Span::styled(format!(" {} ", symbol(side)), palette.stone(side)),
        Span::raw(format!(" {name}")),
    ])];
    if matches!(state.seats()[side], ScreenSeat::Bot { .. }) {
        lines.extend(said(state, side).map(|text| {
            Line::styled(format!("      {}", words::shorten(&text, width.saturating_sub(6))), DIM)
        }));
    }
    lines
}

/// What a bot said about its last move, in two lines at any time, so that what is below stays where it is.
fn said(state: &ScreenGame, side: Side) -> [String; 2] {
    match state.reports()[side].as_ref().map(|report| &report.known) {
        Some(MoveKnowledge::Estimate(info)) => [words::figures(info), words::best_line(info)],
        _ if words::is_thinking(state, side) => ["thinks".to_owned(), String::new()],
        _ => [String::new(), String::new()],
    }
}

/// The last moves that fit, numbered in pairs.
fn moves(moves: &[Column], pairs_a_row: usize, rows: usize) -> Vec<Line<'static>> {
    let pairs: Vec<String> = moves.chunks(2).zip(1..).map(|(pair, number)| numbered(pair, number)).collect();
    let all: Vec<Line<'_>> = pairs.chunks(pairs_a_row.max(1)).map(|row| Line::raw(row.concat())).collect();
    all[all.len().saturating_sub(rows)..].to_vec()
}

fn numbered(pair: &[Column], number: usize) -> String {
    let columns: Vec<String> = pair.iter().map(|column| column.digit().to_string()).collect();
    format!("{number:>2}. {:<width$}", columns.join(" "), width = usize::from(PAIR_WIDTH) - 4)
}
