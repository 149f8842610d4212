//! What each key does, and how that is explained.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use fourfold_engine::Column;

use super::game::{Mode, PersonAction};

/// Further than any board is wide.
const TO_THE_EDGE: isize = 64;

/// The action of a key that was pressed; `None` if it has none.
pub(super) fn action(key: KeyEvent, mode: Mode) -> Option<PersonAction> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'C')).then_some(PersonAction::Leave);
    }
    match mode {
        Mode::Help => Some(PersonAction::Help),
        Mode::Playing => common(key.code).or_else(|| playing(key.code)),
        Mode::Watching => common(key.code).or_else(|| watching(key.code)),
    }
}

fn common(code: KeyCode) -> Option<PersonAction> {
    match code {
        KeyCode::Char('u' | 'U') | KeyCode::Backspace => Some(PersonAction::Undo),
        KeyCode::Char('n' | 'N' | 'r' | 'R') => Some(PersonAction::NewGame),
        KeyCode::Char('s' | 'S') => Some(PersonAction::SwapSides),
        KeyCode::Char('?') | KeyCode::F(1) => Some(PersonAction::Help),
        KeyCode::Char('q' | 'Q') => Some(PersonAction::Leave),
        _ => None,
    }
}

fn playing(code: KeyCode) -> Option<PersonAction> {
    match code {
        KeyCode::Left => Some(PersonAction::Choose(-1)),
        KeyCode::Right => Some(PersonAction::Choose(1)),
        KeyCode::Home => Some(PersonAction::Choose(-TO_THE_EDGE)),
        KeyCode::End => Some(PersonAction::Choose(TO_THE_EDGE)),
        KeyCode::Enter | KeyCode::Down | KeyCode::Char(' ') => Some(PersonAction::Drop),
        KeyCode::Char('h' | 'H') => Some(PersonAction::Hint),
        KeyCode::Char(digit) => Column::from_digit(digit).map(PersonAction::DropIn),
        _ => None,
    }
}

fn watching(code: KeyCode) -> Option<PersonAction> {
    match code {
        KeyCode::Char(' ' | 'p' | 'P') => Some(PersonAction::Pause),
        KeyCode::Char('+' | '=') | KeyCode::Up => Some(PersonAction::Faster),
        KeyCode::Char('-') | KeyCode::Down => Some(PersonAction::Slower),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('.') => Some(PersonAction::Step),
        KeyCode::Left => Some(PersonAction::Undo),
        _ => None,
    }
}

/// Keys and what they do, for the help.
pub(super) fn explained(is_watched: bool) -> &'static [(&'static str, &'static str)] {
    if is_watched {
        &[
            ("space", "pause or go on"),
            ("+ -", "faster, slower"),
            ("enter", "one move, then pause"),
            ("u", "take back and pause"),
            ("n", "new game"),
            ("s", "swap sides, new game"),
            ("q", "quit"),
        ]
    } else {
        &[
            ("← →", "choose a column"),
            ("enter", "drop a stone (space, ↓)"),
            ("1-9 a-c", "drop a stone there"),
            ("u", "take your move back"),
            ("h", "hint"),
            ("n", "new game (r)"),
            ("s", "swap sides, new game"),
            ("q", "quit (Ctrl-C)"),
        ]
    }
}

/// The signs on the board, for the help.
pub(super) fn signs(is_watched: bool) -> &'static str {
    if is_watched { "(X) last stone  [X] winning line" } else { "(X) last  [X] winning line  * hint" }
}

/// The keys in a few words, for the last line of the screen, the most important first.
pub(super) fn summary(is_watched: bool) -> &'static [&'static str] {
    if is_watched {
        &["? help", "q quit", "space pause", "+ - pace", "enter step", "u undo", "n new", "s swap"]
    } else {
        &["? help", "q quit", "←→ enter or number", "u undo", "h hint", "n new", "s swap"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: KeyCode, mode: Mode, expected: Option<PersonAction>) {
        assert_eq!(action(KeyEvent::from(code), mode), expected);
    }

    #[test]
    fn keys_depend_on_what_there_is_to_do() {
        check(KeyCode::Char(' '), Mode::Playing, Some(PersonAction::Drop));
        check(KeyCode::Char(' '), Mode::Watching, Some(PersonAction::Pause));
        check(KeyCode::Char(' '), Mode::Help, Some(PersonAction::Help));
        check(KeyCode::Char('q'), Mode::Help, Some(PersonAction::Help));
        check(KeyCode::Char('4'), Mode::Playing, Column::from_number(4).map(PersonAction::DropIn));
        check(KeyCode::Char('C'), Mode::Playing, Column::from_number(12).map(PersonAction::DropIn));
        check(KeyCode::Char('4'), Mode::Watching, None);
        check(KeyCode::Char('0'), Mode::Playing, None);
    }

    #[test]
    fn control_c_always_leaves() {
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for mode in [Mode::Playing, Mode::Watching, Mode::Help] {
            assert_eq!(action(key, mode), Some(PersonAction::Leave));
        }
        let other = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(action(other, Mode::Playing), None);
    }

    #[test]
    fn a_key_acts_once() {
        let released = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(action(released, Mode::Playing), None);
    }
}
