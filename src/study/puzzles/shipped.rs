//! The puzzles that come with the program, so that a fresh daemon has one of the day at once.
//!
//! `shipped.txt` is what `fourfold puzzles` prints, graded by bots with `--grade`: `docs/puzzles.md` says from which
//! games, and what the grades look like.

use fourfold_engine::{Game, Variant};

use super::mining::puzzle_id;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{Goal, NewPuzzle};
use crate::storage::words::Word as _;

/// One puzzle a line; lines that begin with `#` are comments.
const TEXT: &str = include_str!("shipped.txt");

/// All of them, in the order of the file.
///
/// # Panics
///
/// Never: a test reads the file.
pub(crate) fn puzzles() -> Vec<NewPuzzle> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| read_line(line).expect("a line as `fourfold puzzles` prints it")).collect()
}

/// A puzzle as a line of the file: goal, prior, quality, the moves to the position, the solution.
pub(crate) fn line_of(puzzle: &NewPuzzle) -> String {
    let NewPuzzle { goal, prior, quality, moves, line, .. } = puzzle;
    format!("{} {prior} {quality} {moves} {line}", goal.word())
}

/// Reads [`line_of`] back; `None` if it is none.
pub(crate) fn read_line(text: &str) -> Option<NewPuzzle> {
    let mut words = text.split(' ');
    let goal = Goal::from_word(words.next()?)?;
    let (prior, quality) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (moves, line) = (words.next()?, words.next()?);
    let game = Game::from_moves(Variant::STANDARD, moves).ok()?;
    Some(NewPuzzle {
        id: puzzle_id(game.position()),
        moves: moves.into(),
        line: line.into(),
        goal,
        prior,
        quality,
        game: None,
        // Before all days: each of them may be the one of any day.
        made_at: UnixMillis(0),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::attempt::{AttemptStanding, check};
    use super::*;

    #[test]
    fn every_line_is_a_puzzle_of_its_own() {
        let puzzles = puzzles();
        assert!(puzzles.len() >= 2_000, "{} puzzles", puzzles.len());
        let lines: HashSet<&str> = TEXT.lines().collect();
        let ids: HashSet<_> = puzzles.iter().map(|puzzle| puzzle.id.clone()).collect();
        assert_eq!(ids.len(), puzzles.len());
        for puzzle in &puzzles {
            let own: String = puzzle.line.chars().step_by(2).collect();
            assert!(matches!(check(puzzle, &own), Ok(AttemptStanding::Solved { .. })), "{puzzle:?}");
            assert!(lines.contains(line_of(puzzle).as_str()), "{puzzle:?}");
        }
    }

    #[test]
    fn lines_that_make_no_sense_are_none() {
        for text in ["", "win", "won 1 2 44 4", "win x 2 44 4", "win 1 2 11111111 4"] {
            assert_eq!(read_line(text), None, "{text:?}");
        }
    }
}
