//! Puzzles.

use super::{Damage, number, parsed, word};
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{NewPuzzle, StoredPuzzle, Streak, TryRecord};

row! {
    #[derive(Debug)]
    pub(crate) struct PuzzleRow {
        id: String,
        moves: String,
        line: String,
        goal: String,
        prior: i64,
        quality: i64,
        game: Option<String>,
        made_at: i64,
        tries: i64,
        levels: i64,
        solved: i64,
    }
}

impl PuzzleRow {
    pub(crate) fn decode(self) -> Result<StoredPuzzle, Damage> {
        let puzzle = NewPuzzle {
            id: parsed("puzzle.id", &self.id)?,
            goal: word("puzzle.goal", &self.goal)?,
            prior: number("puzzle.prior", self.prior)?,
            quality: number("puzzle.quality", self.quality)?,
            game: self.game.map(|game| parsed("game.id", &game)).transpose()?,
            made_at: UnixMillis(self.made_at),
            moves: self.moves,
            line: self.line,
        };
        Ok(StoredPuzzle { puzzle, record: record(self.tries, self.levels, self.solved)? })
    }
}

pub(crate) fn record(tries: i64, levels: i64, solved: i64) -> Result<TryRecord, Damage> {
    Ok(TryRecord {
        tries: number("puzzle.tries", tries)?,
        levels: number("puzzle.levels", levels)?,
        solved: number("puzzle.solved", solved)?,
    })
}

pub(crate) fn streak(row: Option<(i64, i64, i64)>) -> Result<Streak, Damage> {
    let Some((day, run, best)) = row else { return Ok(Streak::default()) };
    Ok(Streak {
        day: number("puzzle_streak.day", day)?,
        run: number("puzzle_streak.run", run)?,
        best: number("puzzle_streak.best", best)?,
    })
}
