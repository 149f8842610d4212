//! Positions solved beforehand, so that a bot is measured without the solver's time: files of the program have a line
//! for each, the moves that led there and the columns that keep the result.

use std::sync::atomic::AtomicBool;

use fourfold_engine::review::Judge;
use fourfold_engine::solver::SearchLimits;
use fourfold_engine::{Column, Game, Position, Variant};

/// A position and the moves in it that keep the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolvedPosition {
    position: Position,
    good: Vec<Column>,
}

impl SolvedPosition {
    /// Solves where a game stands; `None` if it is over.
    pub fn solve(game: &Game, judge: &mut Judge) -> Option<Self> {
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let scores = judge.column_scores(game.position(), limits).ok()?.value;
        let best = scores.best()?.sign();
        let good = scores.iter().filter(|(_, score)| score.sign() == best).map(|(column, _)| column);
        Some(Self { position: *game.position(), good: good.collect() })
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Whether a win stays a win if this column is played, and a draw a draw.
    pub fn is_good(&self, column: Column) -> bool {
        self.good.contains(&column)
    }

    /// Whether some move throws the result away.
    pub fn is_decision(&self) -> bool {
        self.good.len() < self.position.legal_columns().count()
    }

    /// As a line: the moves of the game, a space, and the columns that keep the result.
    pub fn line(&self, game: &Game) -> String {
        let good: String = self.good.iter().map(ToString::to_string).collect();
        format!("{} {good}", game.notation())
    }

    /// The other way round from [`Self::line`]; `None` if it is no such line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (moves, good) = line.split_once(' ')?;
        let position = *Game::from_moves(Variant::STANDARD, moves).ok()?.position();
        let column = |digit: char| Column::from_number(u8::try_from(digit.to_digit(10)?).ok()?);
        Some(Self { position, good: good.chars().map(column).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::solver::Solver;

    use super::*;

    fn solve(moves: &str) -> Option<SolvedPosition> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        SolvedPosition::solve(&game, &mut Judge::new(Solver::new()))
    }

    #[test]
    fn only_the_centre_keeps_the_win_of_the_empty_board() {
        let solved = solve("").unwrap();
        let good: Vec<u8> = (1..=7).filter(|&n| solved.is_good(Column::from_number(n).unwrap())).collect();
        assert_eq!((good, solved.is_decision()), (vec![4], true));
    }

    #[test]
    fn where_every_move_loses_there_is_nothing_to_decide() {
        let solved = solve("41526").unwrap();
        assert!(!solved.is_decision(), "three in a row with both ends open");
    }

    #[test]
    fn what_is_over_has_no_moves() {
        assert_eq!(solve("1212121"), None);
    }

    #[test]
    fn what_is_no_such_line_is_not_read() {
        for line in ["", "44", "44 8x", "4x 4", "44 0"] {
            assert_eq!(SolvedPosition::parse(line), None, "{line}");
        }
    }
}
