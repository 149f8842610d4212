//! Classes of positions, by how far the game has come and how far away its end is, solved beforehand.
//!
//! The classes are those of the public test sets by which solvers and learners are compared; the positions are our own,
//! from random games (`tests/data/positions`). `cargo run --example classes` solves some of each: nobody trains on
//! them.

use std::fmt;
use std::sync::OnceLock;

use fourfold_engine::review::Judge;
use fourfold_engine::{Game, ReplayError, Variant};

use super::solved::SolvedPosition;

/// The positions that ship with the program: a class, a line of moves, and the columns that keep the result.
static SHIPPED: &str = include_str!("../../data/classes.txt");

/// Where a game stands and how many plies it still takes if nobody errs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PositionClass {
    /// At most 14 stones, fewer than 14 plies to go.
    BeginEasy,
    /// At most 14 stones, 14 to 27 plies to go.
    BeginMedium,
    /// At most 14 stones, 28 plies to go or more.
    BeginHard,
    /// 15 to 28 stones, fewer than 14 plies to go.
    MiddleEasy,
    /// 15 to 28 stones, 14 to 27 plies to go.
    MiddleMedium,
    /// 29 stones or more.
    EndEasy,
}

impl PositionClass {
    pub const ALL: [Self; 6] = [
        Self::BeginEasy,
        Self::BeginMedium,
        Self::BeginHard,
        Self::MiddleEasy,
        Self::MiddleMedium,
        Self::EndEasy,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::BeginEasy => "begin-easy",
            Self::BeginMedium => "begin-medium",
            Self::BeginHard => "begin-hard",
            Self::MiddleEasy => "middle-easy",
            Self::MiddleMedium => "middle-medium",
            Self::EndEasy => "end-easy",
        }
    }

    /// The class of a position that goes on, by its stones and by the plies to the end if nobody errs.
    pub fn of(stones: u32, plies_to_end: u32) -> Self {
        match (stones, plies_to_end) {
            (0..=14, 0..14) => Self::BeginEasy,
            (0..=14, 14..28) => Self::BeginMedium,
            (0..=14, _) => Self::BeginHard,
            (15..=28, 0..14) => Self::MiddleEasy,
            (15..=28, _) => Self::MiddleMedium,
            _ => Self::EndEasy,
        }
    }

    /// Its numbers of stones, at least and at most.
    pub fn stones(self) -> (u32, u32) {
        match self {
            Self::BeginEasy | Self::BeginMedium | Self::BeginHard => (0, 14),
            Self::MiddleEasy | Self::MiddleMedium => (15, 28),
            Self::EndEasy => (29, 42),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for PositionClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The solved positions that ship with the program, class by class.
///
/// # Panics
///
/// Panics if the program was built with a broken file, which a test rules out.
pub fn shipped() -> &'static [(PositionClass, SolvedPosition)] {
    static POSITIONS: OnceLock<Vec<(PositionClass, SolvedPosition)>> = OnceLock::new();
    POSITIONS.get_or_init(|| {
        let lines = SHIPPED.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| parse(line).expect("the file is part of the program and was tested")).collect()
    })
}

/// Solves a position and writes it as the program's file has it; `None` if the game is over.
///
/// # Errors
///
/// The moves are not those of a game.
pub fn solved_line(
    class: PositionClass,
    moves: &str,
    judge: &mut Judge,
) -> Result<Option<String>, ReplayError> {
    let game = Game::from_moves(Variant::STANDARD, moves)?;
    Ok(SolvedPosition::solve(&game, judge).map(|solved| format!("{class} {}", solved.line(&game))))
}

fn parse(line: &str) -> Option<(PositionClass, SolvedPosition)> {
    let (class, solved) = line.split_once(' ')?;
    Some((PositionClass::named(class)?, SolvedPosition::parse(solved)?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::Column;
    use fourfold_engine::solver::{SearchLimits, Solver};

    use super::*;

    /// Rows of moves and the score of each column, made by another program.
    static COLUMNS: &str = include_str!("../../../tests/data/positions/columns.tsv");

    /// Positions of the cheap classes that are solved again.
    const SOLVED_AGAIN: usize = 20;

    fn lines() -> impl Iterator<Item = &'static str> {
        SHIPPED.lines().filter(|line| !line.starts_with('#'))
    }

    #[test]
    fn positions_are_of_the_class_that_the_solver_gives_them() {
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let mut judge = Judge::new(Solver::new());
        for class in [PositionClass::EndEasy, PositionClass::MiddleEasy, PositionClass::BeginEasy] {
            for line in lines().filter(|line| line.starts_with(class.name())).take(SOLVED_AGAIN) {
                let game = Game::from_moves(Variant::STANDARD, line.split(' ').nth(1).unwrap()).unwrap();
                let score = judge.score(game.position(), limits).unwrap().value;
                assert_eq!(
                    PositionClass::of(game.ply(), score.plies_to_end(game.position())),
                    class,
                    "{line}"
                );
                let (from, to) = class.stones();
                assert!((from..=to).contains(&game.ply()), "{line}");
            }
        }
    }

    #[test]
    fn every_class_has_as_many_positions() {
        let count = |class| shipped().iter().filter(|(of, _)| *of == class).count();
        assert_eq!(PositionClass::ALL.map(count), [500; 6]);
    }

    #[test]
    fn what_ships_is_what_the_solver_says() {
        let mut judge = Judge::new(Solver::new());
        for class in [PositionClass::EndEasy, PositionClass::MiddleEasy, PositionClass::BeginEasy] {
            let of_class = lines().filter(|line| line.starts_with(class.name()));
            for line in of_class.take(SOLVED_AGAIN) {
                let moves = line.split(' ').nth(1).unwrap();
                assert_eq!(solved_line(class, moves, &mut judge).unwrap().as_deref(), Some(line));
            }
        }
    }

    #[test]
    fn another_program_says_the_same() {
        let by_moves: HashMap<&str, &SolvedPosition> = lines()
            .zip(shipped())
            .map(|(line, (_, solved))| (line.split(' ').nth(1).unwrap(), solved))
            .collect();
        let mut compared = 0;
        for row in COLUMNS.lines().skip(1) {
            let (moves, scores) = row.split_once('\t').unwrap();
            let Some(solved) = by_moves.get(moves) else { continue };
            let sign = |score: &str| score.parse().ok().map(i32::signum);
            let signs: Vec<Option<i32>> = scores.split('\t').map(sign).collect();
            let best = *signs.iter().max().unwrap();
            for (index, sign) in signs.iter().enumerate() {
                let column = Column::from_index(index).unwrap();
                assert_eq!(solved.is_good(column), sign.is_some() && *sign == best, "{moves} {column}");
            }
            compared += 1;
        }
        assert!(compared > 100, "{compared} of 300 rows are common");
    }

    #[test]
    fn what_cannot_be_solved_is_told() {
        let mut judge = Judge::new(Solver::new());
        assert!(solved_line(PositionClass::EndEasy, "48", &mut judge).is_err());
        assert_eq!(solved_line(PositionClass::EndEasy, "1212121", &mut judge), Ok(None));
        for line in ["", "begin 44 4", "begin-easy", "begin-easy 44", "begin-easy 48 4"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
