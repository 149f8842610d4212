//! Checks what somebody plays in a puzzle: pure. The solution stays here; the one who plays learns the replies only.

use fourfold_engine::notation::{MovesError, parse_moves, print_moves};
use fourfold_engine::{Column, Game, Variant};
use thiserror::Error;

use crate::storage::puzzles::NewPuzzle;

/// Longest list of moves that is looked at: no solution has as many, and a board no more.
const MOVES_MAX: usize = 42;

/// How an attempt stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AttemptStanding {
    /// All moves so far were right; this is the reply, and it goes on.
    GoesOn {
        reply: Column,
        /// The whole line so far, with the reply.
        line: Vec<Column>,
    },
    /// All moves were right, and there is no more to find.
    Solved { line: Vec<Column> },
    /// The last move was not the right one.
    Wrong {
        /// The game up to and with it.
        game: Game,
        right: Column,
    },
}

/// Why an attempt cannot be checked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum AttemptError {
    /// No text of moves.
    #[error(transparent)]
    Moves(#[from] MovesError),
    /// There is nothing to check, or more than there can be.
    #[error("an attempt has 1 move at least and no more than the solution")]
    Length,
    /// Something was played after a wrong move.
    #[error("move {number} was wrong: nothing follows it")]
    AfterWrong {
        /// Which of the moves, from 1.
        number: usize,
    },
    /// The rules forbid it.
    #[error("column {column} cannot be played")]
    Illegal { column: Column },
    /// The puzzle itself makes no sense: the store was damaged.
    #[error("the puzzle is damaged")]
    Damaged,
}

/// Checks the moves of the one who solves, without the replies, which follow from them.
///
/// # Errors
///
/// The moves cannot be those of an attempt.
pub(crate) fn check(puzzle: &NewPuzzle, own_moves: &str) -> Result<AttemptStanding, AttemptError> {
    let own = own_moves_of(own_moves)?;
    let (game, solution) = parts(puzzle)?;
    let right: Vec<Column> = solution.iter().copied().step_by(2).collect();
    if own.is_empty() || own.len() > right.len() {
        return Err(AttemptError::Length);
    }
    let agreed = own.iter().zip(&right).take_while(|(own, right)| own == right).count();
    if agreed + 1 < own.len() {
        return Err(AttemptError::AfterWrong { number: agreed + 1 });
    }
    if agreed < own.len() {
        let game = played(game, &solution[..2 * agreed])?;
        return wrong(game, own[agreed], right[agreed]);
    }
    match solution.get(2 * own.len() - 1) {
        Some(&reply) => Ok(AttemptStanding::GoesOn { reply, line: solution[..2 * own.len()].to_vec() }),
        None => Ok(AttemptStanding::Solved { line: solution }),
    }
}

/// The position in which the next move is to be found after these right ones, and that move.
///
/// # Errors
///
/// The moves are not those of an attempt that goes on.
pub(crate) fn next_question(puzzle: &NewPuzzle, own_moves: &str) -> Result<(Game, Column), AttemptError> {
    let own = own_moves_of(own_moves)?;
    let (game, solution) = parts(puzzle)?;
    if !own.is_empty() {
        match check(puzzle, own_moves)? {
            AttemptStanding::GoesOn { .. } => {}
            AttemptStanding::Solved { .. } => return Err(AttemptError::Length),
            AttemptStanding::Wrong { .. } => return Err(AttemptError::AfterWrong { number: own.len() }),
        }
    }
    let asked = 2 * own.len();
    Ok((played(game, &solution[..asked])?, solution[asked]))
}

/// The game up to the puzzle, and its solution.
fn parts(puzzle: &NewPuzzle) -> Result<(Game, Vec<Column>), AttemptError> {
    let game = Game::from_moves(Variant::STANDARD, &puzzle.moves).map_err(|_| AttemptError::Damaged)?;
    let line = parse_moves(&puzzle.line).map_err(|_| AttemptError::Damaged)?;
    if line.len() % 2 == 1 { Ok((game, line)) } else { Err(AttemptError::Damaged) }
}

fn own_moves_of(text: &str) -> Result<Vec<Column>, AttemptError> {
    if text.len() > MOVES_MAX {
        return Err(AttemptError::Length);
    }
    Ok(parse_moves(text)?)
}

fn played(mut game: Game, line: &[Column]) -> Result<Game, AttemptError> {
    for &column in line {
        game.play(column).map_err(|_| AttemptError::Damaged)?;
    }
    Ok(game)
}

fn wrong(mut game: Game, column: Column, right: Column) -> Result<AttemptStanding, AttemptError> {
    game.play(column).map_err(|_| AttemptError::Illegal { column })?;
    Ok(AttemptStanding::Wrong { game, right })
}

/// The solution as text, for whoever has given up.
///
/// # Errors
///
/// The puzzle is damaged.
pub(crate) fn solution(puzzle: &NewPuzzle) -> Result<String, AttemptError> {
    Ok(print_moves(&parts(puzzle)?.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::UnixMillis;
    use crate::storage::puzzles::Goal;

    fn puzzle() -> NewPuzzle {
        NewPuzzle {
            id: "p".parse().unwrap(),
            moves: "1111112222".into(),
            line: "34567".into(),
            goal: Goal::Win,
            prior: 1_500,
            quality: 0,
            game: None,
            made_at: UnixMillis(0),
        }
    }

    #[test]
    fn right_moves_are_replied_to_until_there_is_no_more_to_find() {
        let columns = |text| parse_moves(text).unwrap();
        let reply = |number| Column::from_number(number).unwrap();
        assert_eq!(
            check(&puzzle(), "3"),
            Ok(AttemptStanding::GoesOn { reply: reply(4), line: columns("34") })
        );
        assert_eq!(
            check(&puzzle(), "35"),
            Ok(AttemptStanding::GoesOn { reply: reply(6), line: columns("3456") })
        );
        assert_eq!(check(&puzzle(), "357"), Ok(AttemptStanding::Solved { line: columns("34567") }));
        assert_eq!(solution(&puzzle()).as_deref(), Ok("34567"));
    }

    #[test]
    fn a_wrong_move_ends_an_attempt() {
        let Ok(AttemptStanding::Wrong { game, right }) = check(&puzzle(), "36") else {
            panic!("it is wrong")
        };
        assert_eq!((game.notation().as_str(), right.number()), ("1111112222346", 5));
        assert_eq!(check(&puzzle(), "363"), Err(AttemptError::AfterWrong { number: 2 }));
        let full = Column::from_number(1).unwrap();
        assert_eq!(check(&puzzle(), "1"), Err(AttemptError::Illegal { column: full }));
        assert_eq!(check(&puzzle(), "c").unwrap_err().to_string(), "column 12 cannot be played");
    }

    #[test]
    fn what_is_no_attempt_is_refused() {
        for (moves, expected) in [("", AttemptError::Length), ("3577", AttemptError::Length)] {
            assert_eq!(check(&puzzle(), moves), Err(expected));
        }
        assert!(matches!(check(&puzzle(), "3x"), Err(AttemptError::Moves(_))));
        assert_eq!(check(&puzzle(), &"3".repeat(5_000)), Err(AttemptError::Length));
        let damaged = NewPuzzle { line: "34".into(), ..puzzle() };
        assert_eq!(check(&damaged, "3"), Err(AttemptError::Damaged));
    }

    #[test]
    fn a_question_follows_right_moves_only() {
        let at =
            |moves| next_question(&puzzle(), moves).map(|(game, right)| (game.notation(), right.number()));
        assert_eq!(at(""), Ok(("1111112222".into(), 3)));
        assert_eq!(at("3"), Ok(("111111222234".into(), 5)));
        assert_eq!(at("357"), Err(AttemptError::Length));
        assert_eq!(at("4"), Err(AttemptError::AfterWrong { number: 1 }));
    }
}
