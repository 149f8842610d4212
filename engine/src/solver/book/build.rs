//! Makes a book of the solved positions of its last ply.

use std::collections::HashMap;

use super::entries::{self, SettledEntry};
use super::prefix_code::{CodeWord, PrefixCode};
use super::retrieval::Retrieval;
use super::{Book, CODES, SYMBOLS, symbol_of};
use crate::board::{Position, Variant};
use crate::openings::{self, Opening};
use crate::search::Score;

/// A position of the last ply has no score yet.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the position after {moves} has no score yet")]
pub struct MissingScore {
    pub moves: String,
}

/// The positions that a book of `plies` plies needs solved, one of each mirrored pair, in alphabetical order of their
/// moves: those of its last ply that do not speak for themselves.
pub fn frontier(plies: u32) -> Vec<Opening> {
    let mut openings = openings::enumerate(Variant::STANDARD, plies);
    openings.retain(|opening| entries::is_entry(&position_of(opening), plies));
    openings
}

impl Book {
    /// Makes a book of `plies` plies. `scores` has the exact score of each position of [`frontier`], by its canonical
    /// key; whatever else it has is ignored.
    ///
    /// # Errors
    ///
    /// Fails if a score is missing.
    ///
    /// # Panics
    ///
    /// Panics if a score is beyond the scale of 7x6, -18 to 18.
    pub fn build(plies: u32, scores: &HashMap<u64, Score>) -> Result<Self, MissingScore> {
        let entries = all_entries(plies, scores)?;
        let codes =
            [0, 1].map(|parity| code_of(entries.iter().filter(|entry| entry.ply as usize % CODES == parity)));
        let words: Vec<(u64, CodeWord)> = entries
            .iter()
            .map(|entry| {
                let word = codes[entry.ply as usize % CODES].word(symbol_of(entry.score));
                (entry.key, word.expect("the code is made of these scores"))
            })
            .collect();
        Ok(Self { plies, codes, scores: Retrieval::build(&words) })
    }
}

/// A position with its score.
#[derive(Clone, Copy, Debug)]
struct ScoredPosition {
    key: u64,
    ply: u32,
    score: Score,
}

/// The entries of all plies: those of the last as given, the others by minimax from the next.
fn all_entries(plies: u32, scores: &HashMap<u64, Score>) -> Result<Vec<ScoredPosition>, MissingScore> {
    let mut known: HashMap<u64, Score> = HashMap::new();
    let mut entries = Vec::new();
    for ply in (0..=plies).rev() {
        for opening in openings::enumerate(Variant::STANDARD, ply) {
            let position = position_of(&opening);
            if !entries::is_entry(&position, plies) {
                continue;
            }
            let key = position.canonical_key();
            let score = if ply == plies {
                *scores.get(&key).ok_or_else(|| MissingScore { moves: opening.notation() })?
            } else {
                best_of_children(&position, plies, &known)
            };
            known.insert(key, score);
            entries.push(ScoredPosition { key, ply, score });
        }
    }
    Ok(entries)
}

/// The score of a position before the last ply; the scores of later entries are known.
fn best_of_children(position: &Position, plies: u32, known: &HashMap<u64, Score>) -> Score {
    let value = |child: Position| match entries::settle(&child, plies) {
        SettledEntry::Known(score) => score,
        SettledEntry::Entry { position: entry, is_same_side } => {
            let score = known[&entry.canonical_key()];
            if is_same_side { score } else { -score }
        }
    };
    // An entry has no win at hand, so no child is over.
    let scores = position.open_columns().map(|column| -value(position.play_unchecked(column)));
    scores.max().expect("the game goes on")
}

/// The code for the scores of these entries.
fn code_of<'a>(entries: impl Iterator<Item = &'a ScoredPosition>) -> PrefixCode {
    let mut frequencies = [0; SYMBOLS];
    entries.for_each(|entry| frequencies[usize::from(symbol_of(entry.score))] += 1);
    // Two words at least, or there is nothing to tell apart.
    for padded in [symbol_of(Score::DRAW), symbol_of(Score::DRAW) + 1] {
        let count = &mut frequencies[usize::from(padded)];
        *count = (*count).max(1);
    }
    PrefixCode::of_frequencies(&frequencies).expect("two scores or more")
}

fn position_of(opening: &Opening) -> Position {
    *opening.game(Variant::STANDARD).expect("openings are legal").position()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that follow from nothing but the key: a book must give back whatever it was built with.
    fn made_up(key: u64) -> Score {
        let residue = i32::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xff).unwrap();
        Score::new(residue % 37 - 18)
    }

    fn made_up_book(plies: u32) -> Book {
        let keys = frontier(plies).into_iter().map(|opening| position_of(&opening).canonical_key());
        Book::build(plies, &keys.map(|key| (key, made_up(key))).collect()).unwrap()
    }

    #[test]
    fn a_book_gives_back_its_scores_and_their_minimax() {
        let book = made_up_book(6);
        for opening in frontier(6) {
            let position = position_of(&opening);
            let expected = made_up(position.canonical_key());
            assert_eq!(book.score(&position), Some(expected), "{}", opening.notation());
            assert_eq!(book.score(&position.mirror()), Some(expected));
        }
        for ply in 0..6 {
            for opening in openings::enumerate(Variant::STANDARD, ply) {
                let position = position_of(&opening);
                let children = position.open_columns().map(|column| position.play_unchecked(column));
                let value = |child: Position| {
                    if child.has_line_of_last_mover() {
                        return Score::win(Variant::STANDARD, child.ply());
                    }
                    -book.score(&child).unwrap()
                };
                assert_eq!(book.score(&position), children.map(value).max(), "{}", opening.notation());
            }
        }
    }

    #[test]
    fn bytes_give_the_book_back() {
        let book = made_up_book(5);
        let bytes = book.to_bytes();
        assert_eq!(Book::from_bytes(&bytes).as_ref(), Ok(&book));
        for length in [0, 3, 4, 40, bytes.len() - 1] {
            assert!(Book::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(Book::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn positions_beyond_the_book_are_not_answered() {
        let book = made_up_book(4);
        let asked = |variant: &str, moves: &str| {
            let game = crate::Game::from_moves(variant.parse().unwrap(), moves).unwrap();
            book.score(game.position()).is_some()
        };
        assert!(asked("7x6", "4444") && asked("7x6", ""));
        assert!(!asked("7x6", "44444") && !asked("6x5", "44") && !asked("7x6", "1212121"));
    }

    #[test]
    fn a_missing_score_is_named() {
        let error = Book::build(3, &HashMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "the position after 111 has no score yet");
    }
}
