//! The openings that a run plays: drawn by its seed, without repetition until all have come up.

use std::sync::{Arc, Mutex, PoisonError};

use fourfold_engine::Variant;
use fourfold_engine::openings::{self, Opening, OpeningError};
use fourfold_engine::solver::book::{self, Book};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a game's opening comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpeningKind {
    /// The empty board.
    #[default]
    None,
    /// Drawn from the suite of openings whose exact value is a draw.
    Balanced,
    /// Named by the challenger.
    Given,
}

/// Whether left and right of an opening are exchanged when it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// As a coin decides.
    #[default]
    Drawn,
    /// Never: openings of a file, unless they are to be mirrored. Runs of before there was a choice have it not.
    AsWritten,
}

impl Orientation {
    /// Whether it is that of the plans that say nothing.
    pub fn is_drawn(&self) -> bool {
        *self == Self::Drawn
    }
}

/// Openings to draw from.
#[derive(Debug)]
pub struct Suite {
    kind: OpeningKind,
    openings: Vec<Opening>,
    variant: Variant,
    /// The round that was drawn from last: nearly always the next one too.
    last: Mutex<Option<Round>>,
}

/// What stands above the moves of a table.
const HEAD: &str = "moves";

/// All openings in the order of one round.
#[derive(Clone, Debug)]
struct Round {
    drawn_by: (u64, Orientation),
    number: u64,
    openings: Arc<[Opening]>,
}

/// Why there are no openings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("there are no balanced openings for {0}, only for 7x6")]
    NoneBalanced(Variant),
    #[error("there are no balanced openings of {plies} plies: the opening book knows up to {known}")]
    BeyondBook { plies: u32, known: u32 },
    #[error("there is no opening in it")]
    Empty,
    #[error("line {line}: {reason}")]
    Line { line: usize, reason: OpeningError },
}

impl Suite {
    fn new(kind: OpeningKind, openings: Vec<Opening>, variant: Variant) -> Self {
        Self { kind, openings, variant, last: Mutex::new(None) }
    }

    /// Nothing but the empty board.
    pub fn empty(variant: Variant) -> Self {
        Self::new(OpeningKind::None, vec![Opening::empty()], variant)
    }

    /// The engine's suite of drawn positions.
    ///
    /// # Errors
    ///
    /// Nobody has scored openings of this variant.
    pub fn balanced(variant: Variant) -> Result<Self, SuiteError> {
        let openings = openings::balanced(variant).to_vec();
        if openings.is_empty() {
            return Err(SuiteError::NoneBalanced(variant));
        }
        Ok(Self::new(OpeningKind::Balanced, openings, variant))
    }

    /// All drawn positions after so many plies of a 7x6 game in which there is something to choose: 101 after four,
    /// thousands after eight.
    ///
    /// # Errors
    ///
    /// The opening book does not reach so far.
    pub fn balanced_after(plies: u32) -> Result<Self, SuiteError> {
        let beyond = SuiteError::BeyondBook { plies, known: Book::embedded().plies() };
        let openings = book::balanced_after(plies).ok_or(beyond)?;
        if openings.is_empty() {
            return Err(SuiteError::Empty);
        }
        Ok(Self::new(OpeningKind::Balanced, openings, Variant::STANDARD))
    }

    /// A list: the moves of one opening a line, whatever follows them after a blank or tab ignored, as are empty
    /// lines, those that begin with `#`, and a first line that names the columns, as the file of `fourfold review
    /// --mistakes` has it.
    ///
    /// # Errors
    ///
    /// Names the first line that is no opening.
    pub fn from_list(variant: Variant, text: &str) -> Result<Self, SuiteError> {
        let mut openings = Vec::new();
        for (line, row) in (1..).zip(text.lines()) {
            let is_remark = |moves: &&str| moves.starts_with('#') || (line == 1 && *moves == HEAD);
            let Some(moves) = row.split_whitespace().next().filter(|moves| !is_remark(moves)) else {
                continue;
            };
            let opening = Opening::from_notation(variant, moves);
            openings.push(opening.map_err(|reason| SuiteError::Line { line, reason })?);
        }
        if openings.is_empty() {
            return Err(SuiteError::Empty);
        }
        Ok(Self::new(OpeningKind::Given, openings, variant))
    }

    pub fn kind(&self) -> OpeningKind {
        self.kind
    }

    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Equal for equal suites: what a resumed run is checked against.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for opening in &self.openings {
            hasher.update(opening.notation().as_bytes());
            hasher.update(b"\n");
        }
        hasher.finalize()
    }

    /// The opening with this index of the series that belongs to `seed`, as [`openings::draw_from`] has it.
    pub fn draw(&self, seed: u64, orientation: Orientation, index: u64) -> Opening {
        let count = self.openings.len() as u64; // no suite is empty
        let openings = self.round((seed, orientation), index / count);
        let place = usize::try_from(index % count).unwrap_or_default();
        openings[place].clone()
    }

    fn round(&self, drawn_by: (u64, Orientation), number: u64) -> Arc<[Opening]> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = |round: &&Round| (round.drawn_by, round.number) == (drawn_by, number);
        if let Some(round) = last.as_ref().filter(is_last) {
            return Arc::clone(&round.openings);
        }
        let openings: Arc<[Opening]> = match drawn_by {
            (seed, Orientation::Drawn) => {
                openings::round(&self.openings, self.variant, seed, number).collect()
            }
            (seed, Orientation::AsWritten) => {
                openings::round_as_written(&self.openings, seed, number).collect()
            }
        };
        *last = Some(Round { drawn_by, number, openings: Arc::clone(&openings) });
        openings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANT: Variant = Variant::STANDARD;

    #[test]
    fn lists_may_have_remarks() {
        let suite = Suite::from_list(VARIANT, "moves\tscore\n# head\n\n1122\n2131\t0\n-\n").unwrap();
        let drawn = |orientation| {
            let draw = |index| suite.draw(7, orientation, index).notation();
            let mut drawn: Vec<String> = (0..3).map(draw).collect();
            drawn.sort();
            drawn
        };
        let mirrored = drawn(Orientation::Drawn);
        assert!(mirrored.contains(&String::new()));
        assert!(mirrored.iter().any(|moves| moves == "1122" || moves == "7766"), "{mirrored:?}");
        assert_eq!(drawn(Orientation::AsWritten), ["", "1122", "2131"]);
    }

    #[test]
    fn openings_as_written_are_never_mirrored() {
        let suite = Suite::from_list(VARIANT, "1122\n").unwrap();
        let drawn = |orientation| {
            let draw = |index| suite.draw(7, orientation, index).notation();
            (0..20).map(draw).collect::<std::collections::BTreeSet<String>>()
        };
        assert_eq!(drawn(Orientation::AsWritten).into_iter().collect::<Vec<_>>(), ["1122"]);
        assert_eq!(drawn(Orientation::Drawn).into_iter().collect::<Vec<_>>(), ["1122", "7766"]);
    }

    #[test]
    fn mistakes_name_their_line() {
        let check = |text: &str, message: &str| {
            assert_eq!(Suite::from_list(VARIANT, text).unwrap_err().to_string(), message);
        };
        check("44\n9\n", "line 2: move 1 is illegal: column 9 is not on a board of 7 columns");
        check("44\n\n1212121\n", "line 3: the game is over after these moves");
        check("# nothing\n", "there is no opening in it");
        let other = "8x7".parse().unwrap();
        assert_eq!(Suite::balanced(other).unwrap_err(), SuiteError::NoneBalanced(other));
    }

    #[test]
    fn suites_of_the_book_are_drawn_positions() {
        assert_eq!(
            Suite::balanced_after(4).unwrap().checksum(),
            Suite::balanced(VARIANT).unwrap().checksum()
        );
        assert!(matches!(Suite::balanced_after(16), Err(SuiteError::BeyondBook { plies: 16, known: _ })));
        assert_eq!(Suite::balanced_after(0).unwrap_err(), SuiteError::Empty, "the empty board is won");
    }

    #[test]
    fn suites_draw_what_the_ladder_draws() {
        let suite = Suite::balanced(VARIANT).unwrap();
        assert_eq!(Some(suite.draw(3, Orientation::Drawn, 150)), openings::draw(VARIANT, 3, 150));
        assert_ne!(suite.checksum(), Suite::empty(VARIANT).checksum());
    }
}
