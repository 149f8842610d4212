//! What the screen shows, as text.

use fourfold_bots::{Choice, SearchInfo};
use fourfold_engine::{BySide, Column, Game};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::super::game::{BotId, GameEvent, PersonAction, ScreenSeat};
use super::*;

fn seat(side: Side, name: &str) -> ScreenSeat {
    if name == "human" {
        ScreenSeat::Human
    } else {
        ScreenSeat::Bot { id: BotId(side), name: name.to_owned() }
    }
}

fn state(variant: &str, moves: &str, first: &str, second: &str) -> ScreenGame {
    let game = Game::from_moves(variant.parse().unwrap(), moves).unwrap();
    ScreenGame::new(game, BySide { first: seat(Side::First, first), second: seat(Side::Second, second) })
}

fn act(state: &mut ScreenGame, action: PersonAction) {
    state.apply(GameEvent::Act(action)).unwrap();
}

fn answer(state: &mut ScreenGame, number: u8) {
    let column = Column::from_number(number).unwrap();
    let info = SearchInfo { score: 12, depth: 8, nodes: 12_345, pv: vec![column; 10] };
    let ticket = state.asked().unwrap().ticket;
    state
        .apply(GameEvent::Answer { ticket, report: Ok(Choice { column, info: Some(info) }.into()) })
        .unwrap();
}

fn buffer(state: &ScreenGame, palette: Palette, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, palette)).unwrap();
    terminal.backend().buffer().clone()
}

/// The screen without blanks at the ends of lines and empty lines at the end.
fn text(state: &ScreenGame, width: u16, height: u16) -> String {
    let buffer = buffer(state, Palette::Plain, width, height);
    let row = |cells: &[ratatui::buffer::Cell]| {
        let row: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned()
    };
    let rows: Vec<String> = buffer.content().chunks(usize::from(width)).map(row).collect();
    rows.join("\n").trim_end().to_owned()
}

/// Compares with a file in `screens/`, whose last line feed does not count.
#[track_caller]
fn check(state: &ScreenGame, (width, height): (u16, u16), expected: &str) {
    let shown = text(state, width, height);
    assert_eq!(shown, expected.trim_end(), "\n{shown}\n");
}

#[test]
fn a_game_against_a_bot() {
    let mut state = state("7x6", "44", "human", "negamax:depth=8");
    act(&mut state, PersonAction::Drop);
    answer(&mut state, 5);
    check(&state, (80, 24), include_str!("screens/against_a_bot.txt"));
}

#[test]
fn a_won_game() {
    let state = state("7x6", "4152637", "human", "human");
    check(&state, (80, 24), include_str!("screens/won.txt"));
}

#[test]
fn a_hint_in_a_small_window() {
    let mut state = state("9x6x5", "5", "human", "human");
    act(&mut state, PersonAction::Hint);
    answer(&mut state, 4);
    check(&state, (40, 14), include_str!("screens/small.txt"));
}

#[test]
fn the_keys_are_explained() {
    let mut state = state("7x6", "", "greedy", "random");
    act(&mut state, PersonAction::Help);
    check(&state, (60, 24), include_str!("screens/help.txt"));
}

#[test]
fn a_window_that_is_too_small_says_what_it_needs() {
    let state = state("4x15", "", "human", "human");
    let expected = "The 4x15 board needs 34 columns\nand 21 rows; here are 33 and 30.\nEnlarge the window, or q to quit.";
    check(&state, (33, 30), expected);
}

#[test]
fn every_board_fits_a_usual_window() {
    for width in Variant::MIN_SIDE..=Variant::MAX_WIDTH {
        for height in Variant::MIN_SIDE..=Variant::MAX_HEIGHT {
            let Ok(variant) = Variant::new(width, height, 4) else { continue };
            let state = ScreenGame::new(Game::new(variant), BySide::from_fn(|side| seat(side, "human")));
            let shown = text(&state, 80, 24);
            assert!(shown.contains("first player to move") && shown.contains("? help"), "{shown}");
        }
    }
}

#[test]
fn any_window_can_be_drawn_on() {
    let mut state = state("7x6", "4152637", "human", "mcts");
    for help in [false, true] {
        for (width, height) in [(1, 1), (34, 12), (33, 12), (34, 11), (200, 3), (3, 200)] {
            text(&state, width, height);
        }
        assert_eq!(state.mode() == Mode::Help, help);
        act(&mut state, PersonAction::Help);
    }
}

#[test]
fn colours_are_never_the_only_sign() {
    let state = state("7x6", "4152637", "human", "human");
    let plain = buffer(&state, Palette::Plain, 80, 24);
    let coloured = buffer(&state, Palette::Colours, 80, 24);
    let symbols = |buffer: &Buffer| buffer.content().iter().map(|cell| cell.symbol().to_owned()).collect();
    let (plain_text, coloured_text): (Vec<_>, Vec<_>) = (symbols(&plain), symbols(&coloured));
    assert_eq!(plain_text, coloured_text);
    assert!(plain.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(coloured.content().iter().any(|cell| cell.bg == Color::Red));
}

#[test]
fn no_color_counts_unless_it_is_empty() {
    let palette = |value: Option<&str>| Palette::from_no_color(value.map(OsStr::new));
    assert_eq!(palette(None), Palette::Colours);
    assert_eq!(palette(Some("")), Palette::Colours);
    assert_eq!(palette(Some("1")), Palette::Plain);
}
