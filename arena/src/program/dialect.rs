//! The languages that programs speak over standard streams, as pure codecs: a question becomes text, a line a column.

mod aigames;
mod board42;
mod cfour;
mod kaggle;
mod simple;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fourfold_engine::notation::board42::RowOrder;
use fourfold_engine::{Column, Game, Variant};

use crate::time::TimeControl;

pub(super) use self::board42::print as board42;

/// A language of questions and answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// One line a turn, `7x6 1000 4453`; the answer is a column from 1.
    Simple,
    /// Called once a move with the board as 42 characters; prints `Move N` or writes `Move.txt`.
    Board42(RowOrder),
    /// Observation and configuration of `ConnectX` as one JSON object a line; the answer is a column from 0.
    Kaggle,
    /// The text protocol of the "Four in a Row" competition: `settings`, `update`, `action`; `place_disc N` from 0.
    Aigames,
    /// UCI as cutechess-cli speaks it for its variant `cfour`.
    Cfour,
}

/// All names, as they are typed.
pub const NAMES: [&str; 5] = ["simple", "board42", "kaggle", "aigames", "cfour"];

/// A question for a move.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// All moves so far. The side to move is asked.
    pub game: &'a Game,
    /// The hard limit for this move: with a bank, all that is left of it.
    pub budget: Duration,
    /// A good time for this move, for dialects that cannot tell a bank from a limit.
    pub advised: Duration,
    pub time: TimeControl,
    /// What both sides have left, the first side first, in milliseconds; zeros if no clock runs.
    pub remaining_ms: [u64; 2],
    /// Search nodes for this move, where the dialect can say so.
    pub nodes: Option<u64>,
}

/// What a program is told before it is asked, and the line that shows that it is ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ProgramNotice {
    pub(super) text: String,
    pub(super) ready: Option<&'static str>,
}

/// A line that is no answer, though one was due.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line:?} is no move in the dialect {dialect}: expected {}", dialect.example())]
pub struct Malformed {
    /// Cut where it is long.
    line: String,
    dialect: Dialect,
}

/// How much of a line is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;

impl Dialect {
    /// Whether a position of this variant can be said.
    pub fn plays(self, variant: Variant) -> bool {
        match self {
            Self::Simple | Self::Kaggle | Self::Aigames => true,
            Self::Board42(_) | Self::Cfour => variant == Variant::STANDARD,
        }
    }

    /// What an answer looks like.
    fn example(self) -> &'static str {
        match self {
            Self::Simple => "a column from 1, such as 4",
            Self::Board42(_) => "a column from 1, such as Move 4",
            Self::Kaggle => "a column from 0, such as 3",
            Self::Aigames => "a column from 0, such as place_disc 3",
            Self::Cfour => "a drop, such as bestmove P@d1",
        }
    }

    /// What a new process is told.
    pub(super) fn greeting(self) -> Option<ProgramNotice> {
        match self {
            Self::Cfour => Some(cfour::greeting()),
            Self::Simple | Self::Board42(_) | Self::Kaggle | Self::Aigames => None,
        }
    }

    /// What is said before a game.
    pub(super) fn new_game(self) -> Option<ProgramNotice> {
        match self {
            Self::Cfour => Some(cfour::new_game()),
            Self::Simple | Self::Board42(_) | Self::Kaggle | Self::Aigames => None,
        }
    }

    /// What is said for the last time.
    pub(super) fn farewell(self) -> &'static str {
        match self {
            Self::Simple | Self::Cfour => "quit\n",
            Self::Board42(_) | Self::Kaggle | Self::Aigames => "",
        }
    }

    /// The text of a question, with the end of its last line.
    pub fn ask(self, question: &Question<'_>) -> String {
        match self {
            Self::Simple => simple::ask(question),
            Self::Board42(order) => board42::print(question.game.position(), order),
            Self::Kaggle => kaggle::ask(question),
            Self::Aigames => aigames::ask(question),
            Self::Cfour => cfour::ask(question),
        }
    }

    /// Reads a line that came after a question: a column, which need not be legal, or `None` if the line says something
    /// beside that the dialect allows.
    ///
    /// # Errors
    ///
    /// The line should have been a move.
    pub fn read(self, line: &str, game: &Game) -> Result<Option<Column>, Malformed> {
        let line = line.trim();
        let column = match self {
            Self::Board42(_) if board42::is_beside(line) => return Ok(None),
            Self::Cfour if cfour::is_beside(line) => return Ok(None),
            Self::Simple => simple::read(line),
            Self::Board42(_) => board42::read(line),
            Self::Kaggle => kaggle::read(line),
            Self::Aigames => aigames::read(line),
            Self::Cfour => cfour::read(line, game),
        };
        let shown = || line.chars().take(SHOWN_CHARS_MAX).collect();
        column.map(Some).ok_or_else(|| Malformed { line: shown(), dialect: self })
    }
}

/// A column by its number, written in decimal digits alone.
fn column_from(digits: &str, convert: impl Fn(usize) -> Option<usize>) -> Option<Column> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Column::from_index(convert(number)?)
}

/// Milliseconds, at least 1: a limit of 0 means none in many programs.
fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Simple => "simple",
            Self::Board42(RowOrder::Bottom) => "board42",
            Self::Board42(RowOrder::Top) => "board42,order=top",
            Self::Kaggle => "kaggle",
            Self::Aigames => "aigames",
            Self::Cfour => "cfour",
        })
    }
}

/// A text names no dialect.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no dialect: there are {}, and board42,order=top", NAMES.join(", "))]
pub struct DialectError {
    text: String,
}

impl FromStr for Dialect {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        match text {
            "simple" => Ok(Self::Simple),
            "board42" | "board42,order=bottom" => Ok(Self::Board42(RowOrder::Bottom)),
            "board42,order=top" => Ok(Self::Board42(RowOrder::Top)),
            "kaggle" => Ok(Self::Kaggle),
            "aigames" => Ok(Self::Aigames),
            "cfour" => Ok(Self::Cfour),
            _ => Err(DialectError { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A question with 1.5 s for the move, of 60 s and 50 s on the clocks.
    pub(in super::super) fn question(game: &Game) -> Question<'_> {
        Question {
            game,
            budget: Duration::from_mins(1),
            advised: Duration::from_millis(1_500),
            time: TimeControl { bank_ms: Some(60_000), increment_ms: 100, ..TimeControl::default() },
            remaining_ms: [60_000, 50_000],
            nodes: None,
        }
    }

    pub(in super::super) fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).expect("the moves are legal")
    }

    /// Columns count from 1 here.
    #[track_caller]
    pub(in super::super) fn check_read(dialect: Dialect, line: &str, expected: Result<Option<u8>, ()>) {
        let read = dialect.read(line, &game("44"));
        let read = read.map(|column| column.map(Column::number)).map_err(|_| ());
        assert_eq!(read, expected, "{dialect}: {line:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_printed() {
        for name in NAMES.into_iter().chain(["board42,order=top"]) {
            assert_eq!(name.parse::<Dialect>().unwrap().to_string(), name);
        }
        for name in ["", "Simple", "board42,order=left", "chess"] {
            assert!(name.parse::<Dialect>().is_err(), "{name}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_shown() {
        let line = format!("\u{1b}[2J{}", "x".repeat(1000));
        let words = Dialect::Simple.read(&line, &testing::game("")).unwrap_err().to_string();
        assert!(words.len() < 160 && words.contains(r"\u{1b}[2J"), "{words}");
    }
}
