//! What the memory remembers: a few stones of one side along a line.

use std::collections::BTreeSet;
use std::fmt;

use fourfold_engine::{Cell, Column, Direction, Line, Position, Side, Variant};

/// Cells of a winning line, on the only boards the memory knows.
pub(super) const LINE: i32 = 4;

/// Stones of one side, and where they point.
///
/// Patterns are relative to the bot, not to a colour, so that one memory serves both seats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pattern {
    /// Place 0: a stone, or the first cell of a window.
    pub start: Cell,
    pub heading: Heading,
    pub stones: PatternStones,
    pub owner: Owner,
}

/// Which of the four places from the start on hold a stone of the owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PatternStones(u8);

impl PatternStones {
    /// Two and three stones in a row, from the start on.
    pub const PAIR: Self = Self(0b0011);
    pub const THREE: Self = Self(0b0111);

    /// The stones on these places, which are 0 to 3; `None` unless there are one to three.
    pub fn on(places: impl IntoIterator<Item = i32>) -> Option<Self> {
        let bits = places
            .into_iter()
            .try_fold(0_u8, |bits, place| (0..LINE).contains(&place).then(|| bits | 1 << place))?;
        (1..=3).contains(&bits.count_ones()).then_some(Self(bits))
    }

    pub fn is_on(self, place: i32) -> bool {
        (0..LINE).contains(&place) && self.0 >> place & 1 == 1
    }

    /// The places with a stone, rising.
    pub fn places(self) -> impl Iterator<Item = i32> {
        (0..LINE).filter(move |&place| self.is_on(place))
    }

    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn is_three(self) -> bool {
        self.count() == 3
    }
}

/// Whose stones they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    Own,
    Enemy,
}

/// One of the eight ways to go from a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Heading {
    Above,
    Right,
    Left,
    AboveRight,
    AboveLeft,
    BelowRight,
    BelowLeft,
    /// No pattern points here, because stones do not float; but an answer may lie here.
    Below,
}

impl Heading {
    pub const ALL: [Self; 8] = [
        Self::Above,
        Self::Right,
        Self::Left,
        Self::AboveRight,
        Self::AboveLeft,
        Self::BelowRight,
        Self::BelowLeft,
        Self::Below,
    ];

    /// Columns to the right and rows up, for one step.
    fn step(self) -> [i32; 2] {
        match self {
            Self::Above => [0, 1],
            Self::Right => [1, 0],
            Self::Left => [-1, 0],
            Self::AboveRight => [1, 1],
            Self::AboveLeft => [-1, 1],
            Self::BelowRight => [1, -1],
            Self::BelowLeft => [-1, -1],
            Self::Below => [0, -1],
        }
    }

    pub fn opposite(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::Right => Self::Left,
            Self::Left => Self::Right,
            Self::AboveRight => Self::BelowLeft,
            Self::AboveLeft => Self::BelowRight,
            Self::BelowRight => Self::AboveLeft,
            Self::BelowLeft => Self::AboveRight,
            Self::Below => Self::Above,
        }
    }

    /// The cell so many steps away, which may be negative; `None` off the board.
    pub fn cell(self, from: Cell, steps: i32, variant: Variant) -> Option<Cell> {
        self.cell_of_any_board(from, steps).filter(|cell| cell.is_on(variant))
    }

    fn cell_of_any_board(self, from: Cell, steps: i32) -> Option<Cell> {
        let [right, up] = self.step().map(|step| isize::try_from(step * steps).ok());
        let column = from.column().index().checked_add_signed(right?)?;
        let row = from.row_index().checked_add_signed(up?)?;
        Cell::new(Column::from_index(column)?, row)
    }

    fn along(direction: Direction) -> Self {
        match direction {
            Direction::Vertical => Self::Above,
            Direction::Horizontal => Self::Right,
            Direction::Falling => Self::BelowRight,
            Direction::Rising => Self::AboveRight,
        }
    }
}

impl Pattern {
    /// The cell at a place of the pattern's axis; places before the start are negative.
    pub fn cell(&self, place: i32, variant: Variant) -> Option<Cell> {
        self.heading.cell(self.start, place, variant)
    }

    /// Three stones of the bot: the next one wins.
    pub fn is_own_three(&self) -> bool {
        self.owner == Owner::Own && self.stones.is_three()
    }
}

/// Prints the owner and the four places, such as `own c1 d1 . .`.
impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match self.owner {
            Owner::Own => "own",
            Owner::Enemy => "enemy",
        };
        let place = |place| {
            let cell = self.heading.cell_of_any_board(self.start, place);
            cell.filter(|_| self.stones.is_on(place)).map_or(".".to_owned(), |cell| cell.to_string())
        };
        let places: Vec<String> = (0..LINE).map(place).collect();
        formatter.pad(&format!("{owner} {}", places.join(" ")))
    }
}

/// What counts as a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Vocabulary {
    /// Two or three stones in a row with an empty cell ahead: the patterns of the article.
    Runs,
    /// One to three stones on any four aligned cells of which the other side has none: our extension.
    Windows,
}

impl Vocabulary {
    /// The patterns of a position as the side to move sees them, in a fixed order.
    pub fn snapshot(self, position: &Position) -> BTreeSet<Pattern> {
        match self {
            Self::Runs => runs(position).collect(),
            Self::Windows => windows(position).collect(),
        }
    }

    /// The places of the cells with which a pattern is answered: of a run the cell ahead, then the one behind,
    /// of a window its empty cells.
    pub fn answers(self, stones: PatternStones) -> Vec<i32> {
        match self {
            Self::Runs if stones.is_three() => vec![3, -1],
            Self::Runs => vec![2, -1],
            Self::Windows => (0..LINE).filter(|&place| !stones.is_on(place)).collect(),
        }
    }

    /// Whether the vocabulary can have this pattern.
    pub fn has(self, heading: Heading, stones: PatternStones) -> bool {
        match self {
            Self::Runs => {
                heading != Heading::Below && (stones == PatternStones::PAIR || stones == PatternStones::THREE)
            }
            Self::Windows => Direction::ALL.into_iter().any(|direction| heading == Heading::along(direction)),
        }
    }
}

fn owner_of(side: Side, position: &Position) -> Owner {
    if side == position.side_to_move() { Owner::Own } else { Owner::Enemy }
}

fn runs(position: &Position) -> impl Iterator<Item = Pattern> {
    let starts = position.mask().cells(position.variant());
    starts.flat_map(move |start| {
        let headings = Heading::ALL.into_iter().filter(|&heading| heading != Heading::Below);
        headings.filter_map(move |heading| run(position, start, heading))
    })
}

/// The run that begins at an occupied cell, if there is one.
///
/// The article's program compares only the last stone of three with the first, so that `X O X _` passes for a
/// pair. We ask for both.
fn run(position: &Position, start: Cell, heading: Heading) -> Option<Pattern> {
    let side = position.stone_at(start)?;
    let cell = |place| heading.cell(start, place, position.variant());
    let stone = |place| cell(place).and_then(|cell| position.stone_at(cell));
    if stone(1) != Some(side) {
        return None;
    }
    let stones = match stone(2) {
        None => cell(2).map(|_| PatternStones::PAIR)?,
        Some(third) if third == side && stone(3).is_none() => cell(3).map(|_| PatternStones::THREE)?,
        Some(_) => return None,
    };
    Some(Pattern { start, heading, stones, owner: owner_of(side, position) })
}

fn windows(position: &Position) -> impl Iterator<Item = Pattern> {
    Line::all(position.variant()).filter_map(|line| {
        let sides: Vec<Option<Side>> = line.cells().map(|cell| position.stone_at(cell)).collect();
        let mut owners = sides.iter().copied().flatten();
        let side = owners.next().filter(|&side| owners.all(|other| other == side))?;
        let places = (0..).zip(&sides).filter(|(_, stone)| stone.is_some()).map(|(place, _)| place);
        let start = line.cells().next()?;
        Some(Pattern {
            start,
            heading: Heading::along(line.direction()),
            stones: PatternStones::on(places)?,
            owner: owner_of(side, position),
        })
    })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    fn snapshot(vocabulary: Vocabulary, moves: &str) -> Vec<String> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        vocabulary.snapshot(game.position()).iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn check_runs(moves: &str, expected: &[&str]) {
        assert_eq!(snapshot(Vocabulary::Runs, moves), expected, "after {moves}");
    }

    #[test]
    fn a_floor_pair_is_two_patterns() {
        check_runs("3747", &["own c1 d1 . .", "own d1 c1 . .", "enemy g1 g2 . ."]);
    }

    #[test]
    fn a_pair_at_the_edge_or_blocked_points_one_way() {
        check_runs("13", &[]);
        check_runs("1727", &["own a1 b1 . .", "enemy g1 g2 . ."]);
        check_runs("374", &["enemy c1 d1 . .", "enemy d1 c1 . ."]);
        check_runs("3542", &[]); // O X X O
    }

    #[test]
    fn three_are_a_pattern_beside_the_pairs_that_they_hold() {
        check_runs(
            "374757",
            &[
                "own c1 d1 e1 .",
                "own d1 e1 . .",
                "own d1 c1 . .",
                "own e1 d1 c1 .",
                "enemy g1 g2 g3 .",
                "enemy g2 g3 . .",
            ],
        );
    }

    #[test]
    fn three_with_the_far_end_blocked_are_none_in_that_direction() {
        // . . X X X O .   with O on f1 and g1, g2
        check_runs("364757", &["own d1 c1 . .", "own e1 d1 c1 .", "enemy g1 g2 . ."]);
    }

    #[test]
    fn a_gap_hides_the_third_stone() {
        // X X . X: seen only as the pair.
        check_runs("17274", &["enemy a1 b1 . .", "own g1 g2 . ."]);
        let windows = snapshot(Vocabulary::Windows, "17274");
        assert!(windows.contains(&"enemy a1 b1 . d1".to_owned()), "{windows:?}");
    }

    #[test]
    fn a_window_with_stones_of_both_is_none() {
        let windows = snapshot(Vocabulary::Windows, "1");
        assert_eq!(windows, ["enemy a1 . . .", "enemy a1 . . .", "enemy a1 . . ."], "up, right and rising");
        let windows = snapshot(Vocabulary::Windows, "12");
        assert!(
            windows.iter().all(|window| !(window.contains("a1") && window.contains("b1"))),
            "{windows:?}"
        );
        assert!(!windows.contains(&"own . b1 . .".to_owned()), "a1 is of the other side: {windows:?}");
    }

    #[test]
    fn enemy_is_relative_to_the_side_to_move() {
        check_runs("374", &["enemy c1 d1 . .", "enemy d1 c1 . ."]);
        check_runs("3741", &["own c1 d1 . .", "own d1 c1 . ."]);
    }

    #[test]
    fn what_a_position_shows_belongs_to_its_vocabulary() {
        let game = Game::from_moves(Variant::STANDARD, "443525667123").unwrap();
        for vocabulary in [Vocabulary::Runs, Vocabulary::Windows] {
            let snapshot = vocabulary.snapshot(game.position());
            assert!(snapshot.len() > 2);
            for pattern in snapshot {
                assert!(vocabulary.has(pattern.heading, pattern.stones), "{pattern}");
            }
        }
    }
}
