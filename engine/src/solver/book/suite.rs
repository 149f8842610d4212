//! Suites of openings by their length, labelled by the opening book.

use super::{Book, is_quiet};
use crate::board::Variant;
use crate::openings::{self, Opening};
use crate::search::Score;

/// All 7x6 positions after `ply` plies in which there is something to choose (see [`is_quiet`]), one of each
/// mirrored pair, with their exact scores: 568 after four plies, 7120 after six, 67,557 after eight.
///
/// `None` if the book does not reach so far.
pub fn scored_after(ply: u32) -> Option<Vec<(Opening, Score)>> {
    let book = Book::embedded();
    if ply > book.plies() {
        return None;
    }
    let label = |opening: Opening| {
        let game = opening.game(Variant::STANDARD).ok()?;
        let score = book.score(game.position())?;
        is_quiet(game.position()).then_some((opening, score))
    };
    Some(openings::enumerate(Variant::STANDARD, ply).into_iter().filter_map(label).collect())
}

/// Those of [`scored_after`] whose value is a draw.
pub fn balanced_after(ply: u32) -> Option<Vec<Opening>> {
    let scored = scored_after(ply)?.into_iter();
    Some(scored.filter(|(_, score)| *score == Score::DRAW).map(|(opening, _)| opening).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_agrees_with_the_suite_that_others_scored() {
        let book: Vec<(Opening, i32)> =
            scored_after(4).unwrap().into_iter().map(|(opening, score)| (opening, score.value())).collect();
        let others: Vec<(Opening, i32)> =
            openings::scored_openings().into_iter().map(|(opening, score)| (opening, score.into())).collect();
        assert_eq!(book, others);
        assert_eq!(balanced_after(4).unwrap(), openings::balanced(Variant::STANDARD));
    }

    #[test]
    fn there_is_nothing_beyond_the_book() {
        assert_eq!(scored_after(Book::embedded().plies() + 1), None);
    }
}
