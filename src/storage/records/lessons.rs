//! Finished games of any source, to learn from: of a record only what that takes is read.

use std::io::BufRead;

use fourfold_engine::{Game, Side};
use serde::Deserialize;

use super::lines::{JsonLines, LineError};
use crate::model::rating::eligibility::UnratedReason;
use crate::model::result::GameResult;
use crate::protocol::terms::WireVariant;

/// A game that was played to some end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedLesson {
    /// All moves, the opening's included.
    pub(crate) game: Game,
    /// Who won, by whatever reason; `None` for a draw.
    pub(crate) winner: Option<Side>,
}

/// What is read of a record. Matches of programs are saved with players that have no account, and other programs write
/// records too: nothing is asked of them that does not matter here.
#[derive(Deserialize)]
struct PlayedRecord {
    #[serde(default)]
    variant: WireVariant,
    moves: String,
    result: Option<GameResult>,
    unrated_because: Option<String>,
}

/// Reads games from lines of JSON.
#[derive(Debug)]
pub(crate) struct Lessons<R> {
    lines: JsonLines<R>,
}

impl<R: BufRead> Lessons<R> {
    /// Reads this file.
    pub(crate) fn new(file: R) -> Self {
        Self { lines: JsonLines::new(file) }
    }

    fn next_lesson(&mut self) -> Result<Option<RecordedLesson>, LineError> {
        loop {
            let Some(played) = self.lines.next_value::<PlayedRecord>()? else { return Ok(None) };
            let left_out = [UnratedReason::Voided, UnratedReason::Load, UnratedReason::Private]
                .map(UnratedReason::as_str);
            if played.unrated_because.as_deref().is_some_and(|reason| left_out.contains(&reason)) {
                continue; // an operator took it out, nobody chose its moves, or it is private
            }
            let Some(result) = played.result.filter(|result| *result != GameResult::Void) else {
                continue; // void or not over: there is nothing to be learnt
            };
            let game = Game::from_moves(played.variant.0, &played.moves);
            let game = game.map_err(|error| self.lines.broken(error.to_string()))?;
            return Ok(Some(RecordedLesson { game, winner: result.winner() }));
        }
    }
}

impl<R: BufRead> Iterator for Lessons<R> {
    type Item = Result<RecordedLesson, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_lesson().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<RecordedLesson, String>> {
        Lessons::new(text.as_bytes()).map(|lesson| lesson.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn games_of_any_source_are_read() {
        let lessons = read(concat!(
            "{\"moves\":\"1212121\",\"result\":\"first\",\"players\":\"whoever\"}\n",
            "{\"event\":\"fault\"}\n",
            "\n",
            "{\"moves\":\"44\",\"result\":\"second\",\"reason\":\"resign\",\"variant\":\"9x6\"}\n",
            "{\"moves\":\"44\",\"result\":\"void\"}\n",
            "{\"moves\":\"44\",\"result\":null}\n",
            "{\"moves\":\"44\",\"result\":\"first\",\"unrated_because\":\"load\"}\n",
        ));
        let seen: Vec<_> =
            lessons.into_iter().map(Result::unwrap).map(|it| (it.game.notation(), it.winner)).collect();
        assert_eq!(seen, [("1212121".into(), Some(Side::First)), ("44".into(), Some(Side::Second))]);
    }

    #[test]
    fn broken_lines_are_named() {
        let message = |text: &str| read(text).pop().unwrap().unwrap_err();
        let full = message("\n{\"moves\":\"4444444\",\"result\":\"draw\"}");
        assert!(full.starts_with("line 2: ") && full.contains("column 4 is full"), "{full}");
        assert!(message("{\"result\":\"draw\"}").starts_with("line 1: not a record: missing field `moves`"));
        assert!(message("[").starts_with("line 1: not a record: "));
    }
}
