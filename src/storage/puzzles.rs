//! What is stored of puzzles: positions and solutions, who tried them, and streaks.

use async_trait::async_trait;

use super::error::StoreError;
use super::rushes::{RushBoard, RushPlace};
use crate::model::ids::{GameId, PlayerId, PuzzleId};
use crate::model::time::UnixMillis;

/// What is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Goal {
    /// The one column that wins.
    Win,
    /// The one column that does not lose.
    Draw,
}

super::words::words!(Goal { Win: "win", Draw: "draw" });

/// A puzzle before anybody has seen it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NewPuzzle {
    /// Made of the position, the same for its mirror image.
    pub(crate) id: PuzzleId,
    /// The moves to the position, in notation, on the standard board.
    pub(crate) moves: String,
    /// The solution: the solver's moves and the replies in turn, in notation; first and last the solver's.
    pub(crate) line: String,
    /// What is to be found.
    pub(crate) goal: Goal,
    /// How hard it seems, in Elo points.
    pub(crate) prior: u32,
    /// How good a puzzle it is: the least good ones go when there are too many.
    pub(crate) quality: u32,
    /// The game in which it was found; `None` if it came with the program.
    pub(crate) game: Option<GameId>,
    /// When it was found.
    pub(crate) made_at: UnixMillis,
}

/// A puzzle as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPuzzle {
    pub(crate) puzzle: NewPuzzle,
    /// How those did who tried it.
    pub(crate) record: TryRecord,
}

/// How many players tried a puzzle, and how they did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct TryRecord {
    /// Players who tried it.
    pub(crate) tries: u64,
    /// The sum of the levels that these had then, in Elo points.
    pub(crate) levels: u64,
    /// Of these, who solved it at the first attempt and without a hint.
    pub(crate) solved: u64,
}

/// A puzzle in a list to choose from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PuzzleEntry {
    pub(crate) id: PuzzleId,
    /// How hard it seems, in Elo points.
    pub(crate) prior: u32,
    /// How those did who tried it.
    pub(crate) record: TryRecord,
    /// When it was found.
    pub(crate) made_at: UnixMillis,
}

/// Puzzles to be kept. Those that are there already are left as they are, but for the grade of those that come with the
/// program, which a new release may know better.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Harvest {
    pub(crate) puzzles: Vec<NewPuzzle>,
    /// Of all puzzles found in games, so many are kept at most. The least good ones go that nobody has tried.
    pub(crate) keep: u32,
}

/// Puzzles that a guest must have tried before its attempts count for them: guests are made for nothing, and who makes
/// one for each attempt could give a puzzle any grade.
pub(crate) const GUEST_TRIES_TO_COUNT: usize = 3;

/// Whether an attempt succeeded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TryResult {
    /// All moves were right, without a hint.
    Solved,
    /// A move was wrong, or a hint was taken.
    Failed,
}

/// A player's attempt at a puzzle. Only the first one counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PuzzleTry {
    pub(crate) player: PlayerId,
    pub(crate) puzzle: PuzzleId,
    pub(crate) result: TryResult,
    /// How strong the player had shown to be until then, in Elo points.
    pub(crate) level: u32,
    pub(crate) at: UnixMillis,
}

/// Days in a row on which somebody solved the daily puzzle. Pure.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Streak {
    /// The last such day, in days since 1970; meaningless as long as `run` is 0.
    pub(crate) day: u32,
    /// Days up to then without a gap.
    pub(crate) run: u32,
    /// The most that `run` ever was.
    pub(crate) best: u32,
}

impl Streak {
    /// After the daily puzzle of `day` was solved. A day that is not later than the last one changes nothing.
    pub(crate) fn solved_on(self, day: u32) -> Self {
        if self.run > 0 && day <= self.day {
            return self;
        }
        let run = if self.run > 0 && day == self.day + 1 { self.run + 1 } else { 1 };
        Self { day, run, best: self.best.max(run) }
    }

    /// How long it is as seen on `today`: it lasts until a whole day has passed without a solution.
    pub(crate) fn as_of(self, today: u32) -> u32 {
        if today <= self.day.saturating_add(1) { self.run } else { 0 }
    }
}

/// Days on which somebody solved the daily puzzle that are kept: a year and what a calendar shows of the month before.
pub(crate) const PUZZLE_DAYS_KEPT: u32 = 400;

/// The part of a store that is about puzzles. Written by [`super::store::Write::AddPuzzles`],
/// [`super::store::Write::TryPuzzle`], [`super::store::Write::SolveDaily`] and [`super::store::Write::NoteRush`].
#[async_trait]
pub trait PuzzleStore {
    async fn puzzle(&self, id: &PuzzleId) -> Result<Option<StoredPuzzle>, StoreError>;

    /// All puzzles, by their ids.
    async fn puzzles(&self) -> Result<Vec<PuzzleEntry>, StoreError>;

    /// The first attempts of a player, the oldest first.
    async fn puzzle_tries(&self, player: &PlayerId) -> Result<Vec<PuzzleTry>, StoreError>;

    async fn puzzle_streak(&self, player: &PlayerId) -> Result<Streak, StoreError>;

    /// The days from `since` on on which a player solved the daily puzzle, in order.
    async fn puzzle_days(&self, player: &PlayerId, since: u32) -> Result<Vec<u32>, StoreError>;

    /// The best runs of a kind, one of each account that is not banned.
    async fn rush_board(&self, wanted: &RushBoard) -> Result<Vec<RushPlace>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_grows_day_by_day_and_breaks_after_a_gap() {
        let mut streak = Streak::default();
        for (day, run, best) in [(10, 1, 1), (11, 2, 2), (11, 2, 2), (12, 3, 3), (14, 1, 3), (13, 1, 3)] {
            streak = streak.solved_on(day);
            assert_eq!((streak.run, streak.best), (run, best), "on day {day}");
        }
        assert_eq!([13, 14, 15, 16].map(|today| streak.as_of(today)), [1, 1, 1, 0]);
        assert_eq!(Streak::default().as_of(0), 0);
        assert_eq!(Streak::default().solved_on(0).run, 1);
    }
}
