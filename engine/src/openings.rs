//! Openings for fair games: from the empty board the first side wins, from a balanced opening nobody does.
//!
//! A pair of games plays one opening with both colours. The suite is data, scored once by solvers of others
//! (see the head of `data/openings-7x6-ply4.tsv`) and enumerated again by this module's tests.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::board::{Column, IllegalMove, Position, Variant};
use crate::game::{Game, ReplayError};
use crate::notation;
use crate::rng;

/// The first moves of a game.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Opening {
    moves: Vec<Column>,
}

impl Opening {
    /// Reads a list of moves such as `1122`; `-` is the empty board.
    ///
    /// # Errors
    ///
    /// The moves are not legal on a board of this variant, or end the game.
    pub fn from_notation(variant: Variant, moves: &str) -> Result<Self, OpeningError> {
        let game = Game::from_moves(variant, moves)?;
        match game.outcome() {
            Some(_) => Err(OpeningError::Over),
            None => Ok(Self { moves: game.moves().to_vec() }),
        }
    }

    pub fn empty() -> Self {
        Self { moves: Vec::new() }
    }

    pub fn moves(&self) -> &[Column] {
        &self.moves
    }

    /// The moves as a list such as `1122`.
    pub fn notation(&self) -> String {
        notation::print_moves(&self.moves)
    }

    /// The same moves with left and right exchanged.
    pub fn mirror(&self, variant: Variant) -> Self {
        Self { moves: self.moves.iter().map(|column| column.mirror(variant)).collect() }
    }

    /// The game after these moves.
    ///
    /// # Errors
    ///
    /// Fails if the moves are not legal on a board of this variant.
    pub fn game(&self, variant: Variant) -> Result<Game, IllegalMove> {
        let mut game = Game::new(variant);
        for &column in &self.moves {
            game.play(column)?;
        }
        Ok(game)
    }
}

/// Why a list of moves is no opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpeningError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("the game is over after these moves")]
    Over,
}

/// All 7x6 positions after four plies, one of each mirrored pair, with their exact scores.
const SCORED: &str = include_str!("../data/openings-7x6-ply4.tsv");

static BALANCED: LazyLock<Vec<Opening>> = LazyLock::new(|| {
    let scored = scored_openings();
    scored.into_iter().filter(|(_, score)| *score == 0).map(|(opening, _)| opening).collect()
});

/// The rows of [`SCORED`].
pub(crate) fn scored_openings() -> Vec<(Opening, i8)> {
    let parse = |row: &str| {
        let (moves, score) = row.split_once('\t')?;
        Some((Opening { moves: notation::parse_moves(moves).ok()? }, score.parse().ok()?))
    };
    let rows = SCORED.lines().filter(|row| !row.starts_with('#')).skip(1);
    rows.map(|row| parse(row).expect("a test reads every row")).collect()
}

/// The 101 openings of four plies whose exact value is a draw, one of each mirrored pair; none for boards
/// other than 7x6, which nobody has scored.
pub fn balanced(variant: Variant) -> &'static [Opening] {
    if variant == Variant::STANDARD { &BALANCED } else { &[] }
}

/// Draws the balanced opening with this `index`, counted from 0, of the endless series that belongs to
/// `seed`: all openings in random order, then all again in another order, each mirrored or not as a coin
/// decides.
///
/// `None` if the variant has no balanced openings.
pub fn draw(variant: Variant, seed: u64, index: u64) -> Option<Opening> {
    draw_from(balanced(variant), variant, seed, index)
}

/// The same from any openings of this variant; `None` if there are none.
pub fn draw_from(openings: &[Opening], variant: Variant, seed: u64, index: u64) -> Option<Opening> {
    let count = openings.len() as u64;
    let number = index.checked_div(count)?;
    let place = usize::try_from(index % count).ok()?;
    round(openings, variant, seed, number).nth(place)
}

/// All openings once, in the order of this round of the seed's series: each mirrored or not.
pub fn round(
    openings: &[Opening],
    variant: Variant,
    seed: u64,
    number: u64,
) -> impl Iterator<Item = Opening> + '_ {
    shuffled(openings, seed, number).map(
        move |(opening, is_mirrored)| {
            if is_mirrored { opening.mirror(variant) } else { opening.clone() }
        },
    )
}

/// The same openings in the same order, each as it was given.
pub fn round_as_written(openings: &[Opening], seed: u64, number: u64) -> impl Iterator<Item = Opening> + '_ {
    shuffled(openings, seed, number).map(|(opening, _)| opening.clone())
}

/// All openings in the order of a round, and the coin of each that may mirror it.
fn shuffled(openings: &[Opening], seed: u64, number: u64) -> impl Iterator<Item = (&Opening, bool)> {
    let mut rng = rng::seeded_stream(seed, number);
    let mut order: Vec<usize> = (0..openings.len()).collect();
    order.shuffle(&mut rng);
    // One coin for each place, so that an opening does not depend on which others were asked for.
    order.into_iter().zip(rng.random_iter::<bool>()).map(|(opening, coin)| (&openings[opening], coin))
}

/// All positions after `ply` plies in which nobody has won, one of each mirrored pair: the first in
/// alphabetical order of all move lists that lead to the position or its mirror image. Time and memory grow
/// about fourfold a ply.
pub fn enumerate(variant: Variant, ply: u32) -> Vec<Opening> {
    // By key, so that different orders of moves meet. Each position keeps its first move list: parents are
    // visited in alphabetical order, and a list that continues an earlier list is earlier.
    let mut openings = vec![(Position::new(variant), Vec::new())];
    for _ in 0..ply {
        let mut children = BTreeMap::new();
        for (position, moves) in &openings {
            for column in position.open_columns() {
                let child = position.play_unchecked(column);
                if !child.has_line_of_last_mover() {
                    let list = || moves.iter().copied().chain([column]).collect::<Vec<_>>();
                    children.entry(child.canonical_key()).or_insert_with(|| (child, list()));
                }
            }
        }
        openings = children.into_values().collect();
        openings.sort_by(|(_, one), (_, other)| one.cmp(other));
    }
    openings.into_iter().map(|(_, moves)| Opening { moves }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const VARIANT: Variant = Variant::STANDARD;

    #[test]
    fn the_suite_lists_every_position_after_four_plies() {
        let scored: Vec<Opening> = scored_openings().into_iter().map(|(opening, _)| opening).collect();
        assert_eq!(scored, enumerate(VARIANT, 4));
        assert_eq!(scored.len(), 568);
        assert_eq!(balanced(VARIANT).len(), 101);
    }

    #[test]
    fn the_suite_agrees_with_well_known_values() {
        let scored = scored_openings();
        let score =
            |moves: &str| scored.iter().find(|(opening, _)| opening.notation() == moves).map(|row| row.1);
        assert_eq!(score("4444"), Some(1), "all in the centre keeps the first side's win");
        assert_eq!(score("2131"), Some(0));
        assert_eq!(score("3121"), None, "listed under an earlier order of moves");
    }

    #[test]
    fn a_round_has_every_opening_once() {
        let draw_class = |index| {
            let opening = draw(VARIANT, 7, index).unwrap();
            opening.game(VARIANT).unwrap().position().canonical_key()
        };
        for round in [0, 3] {
            let classes: HashSet<u64> = (round * 101..(round + 1) * 101).map(draw_class).collect();
            assert_eq!(classes.len(), 101);
        }
    }

    #[test]
    fn draws_repeat_with_the_seed_and_differ_without() {
        let series = |seed| (0..202).map(|index| draw(VARIANT, seed, index).unwrap()).collect::<Vec<_>>();
        assert_eq!(series(7), series(7));
        assert_ne!(series(7), series(8));
        assert_ne!(series(7)[..101], series(7)[101..], "the second round has its own order");
        let mirrored = series(7).iter().filter(|opening| !balanced(VARIANT).contains(opening)).count();
        assert!((60..140).contains(&mirrored), "{mirrored} of 202 are mirrored");
    }

    #[test]
    fn openings_are_read_from_move_lists() {
        let read = |moves| Opening::from_notation(VARIANT, moves);
        assert_eq!(read("1122").unwrap().notation(), "1122");
        assert_eq!(read("-"), Ok(Opening::empty()));
        assert_eq!(read("1212121"), Err(OpeningError::Over));
        assert_eq!(
            read("19").unwrap_err().to_string(),
            "move 2 is illegal: column 9 is not on a board of 7 columns"
        );
    }

    #[test]
    fn boards_nobody_has_scored_have_no_openings() {
        let variant = "8x7".parse().unwrap();
        assert!(balanced(variant).is_empty());
        assert_eq!(draw(variant, 1, 0), None);
    }
}
