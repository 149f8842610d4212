//! Conditional moves in games by correspondence: what a player answers, said in advance, if the opponent plays so.
//! Pure.

use std::fmt;
use std::str::FromStr;

use fourfold_engine::{Column, Game, IllegalMove, notation};
use thiserror::Error;

/// Lines of one player in one game: more than anybody keeps in mind.
pub(crate) const LINES_MAX: usize = 20;

/// Longest line, in plies: the rest of most games.
pub(crate) const LINE_PLIES_MAX: usize = 20;

/// What a player answers from one position on, in which the opponent is to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConditionalMoves {
    /// All moves on the board when it was said.
    after: Vec<Column>,
    /// Moves of the opponent and answers in turns, an answer last.
    lines: Vec<Vec<Column>>,
}

/// Why lines are no conditional moves.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ConditionalError {
    /// There are too many.
    #[error("at most {LINES_MAX} lines are kept")]
    TooMany,
    /// One of them has no such end, or no end.
    #[error(
        "line {0}: a move of the opponent and an answer, in turns, at most {LINE_PLIES_MAX} columns in all"
    )]
    Length(usize),
    /// One of them is not made of columns.
    #[error("line {0} is not made of columns, such as 3424")]
    Unreadable(usize),
    /// One of them cannot be played.
    #[error("line {line}: {cause}")]
    Illegal { line: usize, cause: IllegalMove },
    /// In one of them the opponent's move ends the game, and nobody can answer.
    #[error("line {0}: the game is over before the answer")]
    Over(usize),
    /// Two of them begin alike and go on with different answers.
    #[error("lines {0} and {1} answer the same moves in two ways")]
    Contradiction(usize, usize),
}

impl ConditionalMoves {
    /// Lines from the position of `game` on, whose side to move is the opponent.
    ///
    /// # Errors
    ///
    /// See [`ConditionalError`]; lines are counted from 1.
    pub(crate) fn new(game: &Game, lines: &[String]) -> Result<Self, ConditionalError> {
        if lines.len() > LINES_MAX {
            return Err(ConditionalError::TooMany);
        }
        let mut checked: Vec<Vec<Column>> = Vec::new();
        for (line, text) in (1..).zip(lines) {
            if text.len() > 2 * LINE_PLIES_MAX {
                return Err(ConditionalError::Length(line));
            }
            let columns = notation::parse_moves(text).map_err(|_| ConditionalError::Unreadable(line))?;
            check_line(game, line, &columns)?;
            if let Some(other) = checked.iter().position(|other| contradict(other, &columns)) {
                return Err(ConditionalError::Contradiction(other + 1, line));
            }
            checked.push(columns);
        }
        Ok(Self { after: game.moves().to_vec(), lines: checked })
    }

    /// What is answered after these moves, if the last one is the opponent's and one of the lines has foreseen it.
    pub(crate) fn answer(&self, moves: &[Column]) -> Option<Column> {
        let since = moves.strip_prefix(&self.after[..])?;
        if since.len().is_multiple_of(2) {
            return None;
        }
        self.lines.iter().find_map(|line| line.strip_prefix(since)?.first().copied())
    }

    /// What of the lines may still come after these moves, in which the opponent is to move.
    pub(crate) fn left(&self, moves: &[Column]) -> Vec<String> {
        let Some(since) = moves.strip_prefix(&self.after[..]) else { return Vec::new() };
        let rest = self.lines.iter().filter_map(|line| line.strip_prefix(since));
        rest.filter(|line| !line.is_empty()).map(notation::print_moves).collect()
    }
}

fn check_line(game: &Game, line: usize, columns: &[Column]) -> Result<(), ConditionalError> {
    if columns.is_empty() || !columns.len().is_multiple_of(2) || columns.len() > LINE_PLIES_MAX {
        return Err(ConditionalError::Length(line));
    }
    let mut game = game.clone();
    for &column in columns {
        if game.outcome().is_some() {
            return Err(ConditionalError::Over(line));
        }
        game.play(column).map_err(|cause| ConditionalError::Illegal { line, cause })?;
    }
    Ok(())
}

/// Whether two lines are alike up to an answer, and then not.
fn contradict(one: &[Column], other: &[Column]) -> bool {
    let alike = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    alike < one.len().min(other.len()) && !alike.is_multiple_of(2)
}

/// As it is stored: the moves before, then the lines, with a space before each.
impl fmt::Display for ConditionalMoves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::print_moves(&self.after))?;
        self.lines.iter().try_for_each(|line| write!(f, " {}", notation::print_moves(line)))
    }
}

/// A text is not what was stored.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` are no conditional moves")]
pub struct InvalidConditional(String);

impl FromStr for ConditionalMoves {
    type Err = InvalidConditional;

    fn from_str(text: &str) -> Result<Self, InvalidConditional> {
        let mut parts = text.split(' ').map(notation::parse_moves);
        let mut next = || parts.next().transpose().map_err(|_| InvalidConditional(text.to_owned()));
        let after = next()?.unwrap_or_default();
        let mut lines = Vec::new();
        while let Some(line) = next()? {
            lines.push(line);
        }
        Ok(Self { after, lines })
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;
    use proptest::prelude::*;

    use super::*;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    fn lines(lines: &[&str]) -> Result<ConditionalMoves, ConditionalError> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        ConditionalMoves::new(&game("44"), &lines)
    }

    #[track_caller]
    fn check_answer(moves: &str, expected: Option<char>) {
        let planned = lines(&["3425", "3416", "1212"]).unwrap();
        let answer = planned.answer(game(moves).moves());
        assert_eq!(answer.map(|column| column.to_string()), expected.map(String::from), "{moves}");
    }

    #[test]
    fn what_was_foreseen_is_answered_and_nothing_else() {
        check_answer("443", Some('4'));
        check_answer("44342", Some('5'));
        check_answer("441", Some('2'));
        for other in ["44", "4434", "445", "443425", "44343", "4", "", "433"] {
            check_answer(other, None);
        }
    }

    #[test]
    fn what_may_still_come_gets_shorter_and_ends() {
        let planned = lines(&["3425", "3412", "56"]).unwrap();
        let left = |moves: &str| planned.left(game(moves).moves());
        assert_eq!(left("44"), ["3425", "3412", "56"]);
        assert_eq!(left("4434"), ["25", "12"]);
        assert_eq!(left("443425"), [""; 0]);
        assert_eq!(left("4455"), [""; 0]);
        assert_eq!(left("4"), [""; 0], "moves were taken back");
    }

    #[test]
    fn lines_that_make_no_sense_are_refused_by_their_number() {
        use ConditionalError::{Contradiction, Illegal, Length, Over, TooMany, Unreadable};
        assert_eq!(lines(&["3", "34"]), Err(Length(1)));
        assert_eq!(lines(&["34", ""]), Err(Length(2)));
        assert_eq!(lines(&["1".repeat(999).as_str()]), Err(Length(1)));
        assert_eq!(lines(&["34", "3x"]), Err(Unreadable(2)));
        assert_eq!(lines(&["3 4"]), Err(Unreadable(1)));
        assert_eq!(lines(&["34", "4444445"]).map(|_| ()), Err(Length(2)));
        assert!(matches!(lines(&["444444"]), Err(Illegal { line: 1, .. })));
        assert!(matches!(lines(&["89"]), Err(Illegal { line: 1, .. })));
        assert_eq!(lines(&["313111", "3132"]), Err(Contradiction(1, 2)));
        assert!(lines(&["3131", "31", "3131", "3151"]).is_ok(), "one may be part of another");
        assert_eq!(lines(&["34"; LINES_MAX + 1]), Err(TooMany));
        let won = ConditionalMoves::new(&game("121212"), &["1344".to_owned()]);
        assert_eq!(won, Err(Over(1)));
    }

    #[test]
    fn the_answer_may_end_the_game() {
        let planned = ConditionalMoves::new(&game("4343437"), &["34".to_owned()]);
        assert!(planned.is_err(), "here it is the opponent who connects: {planned:?}");
        let planned = ConditionalMoves::new(&game("7434343"), &["14".to_owned()]).unwrap();
        assert_eq!(planned.answer(game("74343431").moves()).unwrap().to_string(), "4");
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(moves in "[1-7]{0,4}", said in proptest::collection::vec("[1-7]{2}", 0..4)) {
            let game = game(&moves);
            if let Ok(planned) = ConditionalMoves::new(&game, &said) {
                prop_assert_eq!(planned.to_string().parse(), Ok(planned));
            }
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,60}") {
            let _read = text.parse::<ConditionalMoves>();
            let _made = ConditionalMoves::new(&game("44"), &[text]);
        }
    }
}
