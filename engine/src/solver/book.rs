//! The opening book: exact scores of all positions of the first plies of a 7x6 game, in a few bits each.
//!
//! The book stores no positions. A position's key asks a keyless map for a score, and because every position of
//! those plies is in the map, every answer is right. What a look at the next two plies shows needs no entry: wins at
//! hand, losses that cannot be helped, and replies that are forced, which are followed to a position that has one.
//!
//! - `entries` says which positions those are, `build` makes a book of the scores of its last ply.
//! - `retrieval` is the map, `prefix_code` how scores are written.
//! - `suite` has all openings of a length, with what the book says of them.
//!
//! A book of 10 plies comes from 627,283 solved positions; those of the plies before follow by minimax.

mod build;
mod entries;
mod prefix_code;
mod retrieval;
mod suite;

use std::sync::LazyLock;

pub use self::build::{MissingScore, frontier};
use self::entries::SettledEntry;
pub use self::entries::is_quiet;
use self::prefix_code::PrefixCode;
use self::retrieval::Retrieval;
pub use self::suite::{balanced_after, scored_after};
use crate::board::{Position, Variant};
use crate::search::Score;

/// The book that comes with the engine; `data/README.md` says how it was made.
const EMBEDDED: &[u8] = include_bytes!("../../data/book-7x6.bin");

/// What a book file begins with: its kind and version.
const MAGIC: [u8; 4] = *b"FFB1";

/// The deepest book that makes sense: positions of 16 plies are solved in milliseconds, and there are hundreds of
/// millions.
pub const PLIES_MAX: u32 = 16;

/// Scores run from a loss to the opponent's fourth stone to a win with one's own.
const SCORE_MAX: i32 = 18;

/// Different scores.
const SYMBOLS: usize = 2 * SCORE_MAX.unsigned_abs() as usize + 1;

/// Scores are distributed differently where the first side moves and where the second does.
const CODES: usize = 2;

/// Bytes of the lengths of one code's words, two to a byte.
const CODE_BYTES: usize = SYMBOLS.div_ceil(2);

static BOOK: LazyLock<Option<Book>> = LazyLock::new(|| Book::from_bytes(EMBEDDED).ok());

/// Exact scores of all 7x6 positions of the first plies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Book {
    /// Stones of the fullest positions it knows.
    plies: u32,
    /// For an even and an odd number of stones.
    codes: [PrefixCode; CODES],
    scores: Retrieval,
}

impl Book {
    /// The book that comes with the engine.
    ///
    /// # Panics
    ///
    /// Never: a test reads the data that is compiled in.
    pub fn embedded() -> &'static Self {
        BOOK.as_ref().expect("a test reads the embedded book")
    }

    /// Stones of the fullest positions it knows.
    pub fn plies(&self) -> u32 {
        self.plies
    }

    /// The exact score of a position; `None` if it is not of this book: another board size, too many stones, the game
    /// over, or stones that no game puts there.
    pub fn score(&self, position: &Position) -> Option<Score> {
        let is_covered = position.variant() == Variant::STANDARD
            && position.ply() <= self.plies
            && !position.has_line_of_last_mover()
            && entries::is_reachable(position);
        if !is_covered {
            return None;
        }
        Some(match entries::settle(position, self.plies) {
            SettledEntry::Known(score) => score,
            SettledEntry::Entry { position, is_same_side } => {
                let score = score_of(self.scores.symbol(position.canonical_key(), self.code(&position)));
                if is_same_side { score } else { -score }
            }
        })
    }

    fn code(&self, position: &Position) -> &PrefixCode {
        &self.codes[position.ply() as usize % CODES]
    }

    /// Reads a book as [`Book::to_bytes`] wrote it.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are no book, not all of it, or more than one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BookError> {
        let bytes = bytes.strip_prefix(&MAGIC).ok_or(BookError::NotABook)?;
        Self::from_body(bytes).ok_or(BookError::Damaged)
    }

    /// What follows the magic: plies, number of starts, seed, codes, solution.
    fn from_body(bytes: &[u8]) -> Option<Self> {
        let (&[plies], bytes) = bytes.split_first_chunk()?;
        let (&starts, bytes) = bytes.split_first_chunk()?;
        let (&seed, bytes) = bytes.split_first_chunk()?;
        let (even, bytes) = bytes.split_at_checked(CODE_BYTES)?;
        let (odd, solution) = bytes.split_at_checked(CODE_BYTES)?;
        let codes = [unpack_code(even)?, unpack_code(odd)?];
        let scores = Retrieval::of_parts(u64::from_le_bytes(seed), u32::from_le_bytes(starts), solution)?;
        let plies = u32::from(plies);
        (plies <= PLIES_MAX).then_some(Self { plies, codes, scores })
    }

    /// The book as bytes, from which [`Book::from_bytes`] reads it again.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (seed, starts, solution) = self.scores.parts();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(&self.plies.to_le_bytes()[..1]); // at most PLIES_MAX
        bytes.extend(starts.to_le_bytes());
        bytes.extend(seed.to_le_bytes());
        self.codes.iter().for_each(|code| bytes.extend(pack_code(code)));
        bytes.extend(solution);
        bytes
    }
}

fn symbol_of(score: Score) -> u8 {
    u8::try_from(score.value() + SCORE_MAX).expect("scores of 7x6 are within 18 of a draw")
}

fn score_of(symbol: u8) -> Score {
    Score::new(i32::from(symbol) - SCORE_MAX)
}

/// Lengths of words, the first of two in the lower half of a byte.
fn pack_code(code: &PrefixCode) -> impl Iterator<Item = u8> + '_ {
    code.lengths().chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |length| length << 4))
}

fn unpack_code(bytes: &[u8]) -> Option<PrefixCode> {
    let lengths: Vec<u8> = bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]).take(SYMBOLS).collect();
    PrefixCode::of_lengths(&lengths)
}

/// Why bytes are not a book.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BookError {
    #[error("this is not an opening book")]
    NotABook,
    #[error("the opening book is damaged")]
    Damaged,
}
