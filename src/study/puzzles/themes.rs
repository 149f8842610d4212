//! What a puzzle is about, as its position and solution show: pure. None of it is asked of the solver again.

use std::str::FromStr;

use fourfold_engine::notation::parse_moves;
use fourfold_engine::search::winning_cells;
use fourfold_engine::{Cell, Game, Position, Side, Variant};
use thiserror::Error;

use crate::storage::puzzles::{Goal, NewPuzzle};

/// Own moves of a win that is called long: the usual one has two or three.
const LONG_WIN_MOVES_MIN: usize = 4;

/// What a puzzle is about; a puzzle may be about several things, or none of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Theme {
    /// A move of the solution threatens in two places at once.
    Fork,
    /// One column alone holds the draw.
    OnlyDefence,
    /// It comes to a threat where no stone can fall yet, in a row that the side gets in the end: an odd one for the
    /// first, an even one for the second.
    OddThreat,
    /// A move of the solution lets the other side stop a threat of one's own.
    Sacrifice,
    /// A win of many moves.
    LongWin,
}

impl Theme {
    /// All of them, in the order in which they are shown.
    pub(crate) const ALL: [Self; 5] =
        [Self::Fork, Self::OnlyDefence, Self::OddThreat, Self::Sacrifice, Self::LongWin];

    /// As addresses of pages have it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::OnlyDefence => "defence",
            Self::OddThreat => "odd",
            Self::Sacrifice => "sacrifice",
            Self::LongWin => "long",
        }
    }

    /// As the HTTP interface has it.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::OnlyDefence => "only_defence",
            Self::OddThreat => "odd_threat",
            Self::Sacrifice => "sacrifice",
            Self::LongWin => "long_win",
        }
    }
}

/// There is no such theme.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a theme is one of {}", Theme::ALL.map(Theme::code).join(", "))]
pub(crate) struct UnknownTheme;

impl FromStr for Theme {
    type Err = UnknownTheme;

    /// By either of its words: what one has from an address may be asked of the interface, and the other way round.
    fn from_str(text: &str) -> Result<Self, UnknownTheme> {
        let is_meant = |theme: &Self| theme.word() == text || theme.code() == text;
        Self::ALL.into_iter().find(is_meant).ok_or(UnknownTheme)
    }
}

/// Empty cells with which a side would have four, whether a stone can fall there or not.
pub(crate) fn threats(position: &Position, side: Side) -> Vec<Cell> {
    let stones = position.stones();
    let all = stones.first | stones.second;
    let variant = position.variant();
    winning_cells(stones[side], all, variant).cells(variant).collect()
}

/// Those of them where a stone falls next.
pub(crate) fn open_threats(position: &Position, side: Side) -> Vec<Cell> {
    let is_open = |cell: &Cell| position.landing_cell(cell.column()) == Some(*cell);
    threats(position, side).into_iter().filter(is_open).collect()
}

/// What a puzzle is about.
pub(crate) fn themes(puzzle: &NewPuzzle) -> Vec<Theme> {
    let Ok(game) = Game::from_moves(Variant::STANDARD, &puzzle.moves) else { return Vec::new() };
    let Ok(line) = parse_moves(&puzzle.line) else { return Vec::new() };
    let side = game.position().side_to_move();
    let mut position = *game.position();
    let (mut forks, mut gives_up) = (false, false);
    for column in &line {
        if !position.is_legal(*column) {
            return Vec::new();
        }
        let is_own = position.side_to_move() == side;
        let landing = position.landing_cell(*column);
        let above = landing.and_then(|cell| Cell::new(*column, cell.row_index() + 1));
        gives_up |= is_own && above.is_some_and(|above| threats(&position, side).contains(&above));
        position = position.play_unchecked(*column);
        forks |= is_own && open_threats(&position, side).len() > 1;
    }
    let parity = |cell: &Cell| (cell.row_number() % 2 == 1) == (side == Side::First);
    let open = open_threats(&position, side);
    let is_waiting = threats(&position, side).iter().any(|cell| parity(cell) && !open.contains(cell));
    let is_win = puzzle.goal == Goal::Win;
    [
        (Theme::Fork, forks),
        (Theme::OnlyDefence, !is_win),
        (Theme::OddThreat, is_win && !forks && is_waiting),
        (Theme::Sacrifice, gives_up),
        (Theme::LongWin, is_win && line.len().div_ceil(2) >= LONG_WIN_MOVES_MIN),
    ]
    .into_iter()
    .filter_map(|(theme, holds)| holds.then_some(theme))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::shipped;
    use super::*;
    use crate::model::time::UnixMillis;
    use crate::study::puzzles::mining::puzzle_id;

    fn puzzle(goal: Goal, moves: &str, line: &str) -> NewPuzzle {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        NewPuzzle {
            id: puzzle_id(game.position()),
            moves: moves.to_owned(),
            line: line.to_owned(),
            goal,
            prior: 1_000,
            quality: 100,
            game: None,
            made_at: UnixMillis(0),
        }
    }

    #[track_caller]
    fn check(goal: Goal, moves: &str, line: &str, expected: &[Theme]) {
        assert_eq!(themes(&puzzle(goal, moves, line)), expected, "{moves} {line}");
    }

    #[test]
    fn a_move_with_two_threats_is_a_fork() {
        check(Goal::Win, "4131", "5", &[Theme::Fork]);
        check(Goal::Win, "56456656322532554411", "4", &[Theme::Fork]);
    }

    #[test]
    fn a_threat_of_ones_own_rows_is_waited_for() {
        check(Goal::Win, "441432654121226441125527", "6", &[Theme::OddThreat]);
    }

    #[test]
    fn whoever_plays_below_a_threat_of_ones_own_gives_it_up() {
        let gives_up = |moves, line| themes(&puzzle(Goal::Win, moves, line)).contains(&Theme::Sacrifice);
        assert!(gives_up("324365555336667375262", "24444"));
        assert!(!gives_up("37551752643255146773356631", "6"), "two threats in a pile are none");
        check(Goal::Draw, "4131", "4", &[Theme::OnlyDefence]);
    }

    #[test]
    fn what_makes_no_sense_is_about_nothing() {
        check(Goal::Win, "4131", "44444444", &[]);
        check(Goal::Win, "4131", "x", &[]);
    }

    #[test]
    fn a_theme_has_a_word_for_pages_and_one_for_programs() {
        for theme in Theme::ALL {
            assert_eq!((theme.word().parse(), theme.code().parse()), (Ok(theme), Ok(theme)));
        }
        assert_eq!("Fork".parse::<Theme>(), Err(UnknownTheme));
        let message = "a theme is one of fork, only_defence, odd_threat, sacrifice, long_win";
        assert_eq!(UnknownTheme.to_string(), message);
    }

    #[test]
    fn every_theme_is_met_in_the_puzzles_that_come_with_the_program() {
        let all: Vec<_> = shipped::puzzles().iter().flat_map(themes).collect();
        for theme in Theme::ALL {
            let count = all.iter().filter(|other| **other == theme).count();
            assert!(count >= 5, "{theme:?}: {count}");
        }
    }
}
