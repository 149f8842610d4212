//! Runs through puzzles for whoever asks over HTTP, and the tables of the best ones.

use rand::RngExt as _;
use tracing::warn;

use super::attempt::{self, AttemptStanding};
use super::choosing::{self, day_of};
use super::runs::{EndedRun, RunStanding, Verdict};
use super::service::{PuzzleError, Puzzles, ShownPuzzle, Trier};
use crate::model::clock;
use crate::model::ids::{PlayerId, PuzzleId, RunId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::puzzles::TryResult;
use crate::storage::rushes::{RushBoard, RushKind, RushPlace, RushResult};
use crate::storage::store::Write;
use crate::storage::writer::WriteError;
use crate::system::shares::Share;

/// Puzzles of a run: more than anybody solves in three minutes, at three seconds each.
const RUN_PUZZLES_MAX: usize = 60;

/// A run as it is shown.
#[derive(Debug)]
pub(crate) struct ShownRun {
    pub(crate) id: RunId,
    pub(crate) standing: RunStanding,
    /// The puzzle to solve now.
    pub(crate) puzzle: Option<ShownPuzzle>,
    /// What became of an answer: the puzzle, the verdict, and the moves so far with their replies if they were right.
    pub(crate) answered: Option<(PuzzleId, Verdict, String)>,
    /// Of an account whose run is over, its place among the runs of the day.
    pub(crate) rank_today: Option<u32>,
}

/// From when on runs are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RushPeriod {
    /// Since midnight, in UTC.
    Day,
    /// Since Monday, in UTC.
    Week,
    /// Since there are runs.
    All,
}

impl RushPeriod {
    /// The first of its days, seen on `today`. Day 0 was a Thursday.
    pub(crate) fn since(self, today: u32) -> u32 {
        match self {
            Self::Day => today,
            Self::Week => today.saturating_sub((today + 3) % 7),
            Self::All => 0,
        }
    }
}

impl Puzzles {
    /// Begins a run, which ends the one that the same player has.
    ///
    /// # Errors
    ///
    /// A share is used up, there are no puzzles, or the store failed.
    pub(crate) async fn begin_run(
        &self,
        trier: Trier<'_>,
        kind: RushKind,
        now: UnixMillis,
    ) -> Result<ShownRun, PuzzleError> {
        let player = trier.who.map(|who| who.id.clone());
        self.settle_runs(player.as_ref(), now).await;
        self.shares.spend(Share::PuzzleTry, trier.payer)?;
        let place = self.shares.hold(Share::PuzzleRun, trier.payer)?;
        let all = self.all().await?;
        let puzzles = choosing::rush(&all, RUN_PUZZLES_MAX, chance().random());
        let puzzles: Vec<PuzzleId> = puzzles.into_iter().cloned().collect();
        if puzzles.is_empty() {
            return Err(PuzzleError::NoSuchPuzzle);
        }
        let id = RunId::random(&mut chance());
        let standing = self.runs().begin(id.clone(), player, (kind, puzzles), place, clock::now());
        self.shown_run(id, standing, None, trier, now).await
    }

    /// How a run stands.
    ///
    /// # Errors
    ///
    /// It is not there, or another's, or the store failed.
    pub(crate) async fn run(
        &self,
        trier: Trier<'_>,
        id: RunId,
        now: UnixMillis,
    ) -> Result<ShownRun, PuzzleError> {
        let player = trier.who.map(|who| &who.id);
        let standing = self.runs().standing(&id, player, clock::now())?;
        self.shown_run(id, standing, None, trier, now).await
    }

    /// Judges the moves of somebody in the puzzle of this number, which is the one that was handed out last.
    ///
    /// # Errors
    ///
    /// The run is not there, the number is another's, the moves are none of an attempt, a share is used up, or the
    /// store failed.
    pub(crate) async fn answer_run(
        &self,
        trier: Trier<'_>,
        id: RunId,
        (number, own_moves): (u32, &str),
        now: UnixMillis,
    ) -> Result<ShownRun, PuzzleError> {
        self.shares.spend(Share::PuzzleTry, trier.payer)?;
        let (player, came) = (trier.who.map(|who| &who.id), clock::now());
        let asked = self.runs().asked(&id, player, number, came)?;
        let Some(puzzle) = asked else { return self.run(trier, id, now).await };
        let shown = self.show(&puzzle).await?;
        let (verdict, line) = match attempt::check(&shown.stored.puzzle, own_moves)? {
            AttemptStanding::GoesOn { reply: _, line } => (Verdict::GoesOn, line),
            AttemptStanding::Solved { line } => (Verdict::Solved, line),
            AttemptStanding::Wrong { .. } => (Verdict::Missed, Vec::new()),
        };
        let standing = self.runs().book(&id, (player, number), verdict, came)?;
        match verdict {
            Verdict::GoesOn => {}
            Verdict::Solved => self.note(trier, &puzzle, TryResult::Solved, now).await?,
            Verdict::Missed => self.note(trier, &puzzle, TryResult::Failed, now).await?,
        }
        let line = fourfold_engine::notation::print_moves(&line);
        self.shown_run(id, standing, Some((puzzle, verdict, line)), trier, now).await
    }

    /// The best runs of a kind, and the place of somebody.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn rush_board(
        &self,
        kind: RushKind,
        period: RushPeriod,
        limit: u32,
        of: Option<&PlayerId>,
        now: UnixMillis,
    ) -> Result<Vec<RushPlace>, PuzzleError> {
        self.settle_runs(None, now).await;
        let wanted = RushBoard { kind, since: period.since(day_of(now)), limit, of: of.cloned(), now };
        Ok(self.store.rush_board(&wanted).await?)
    }

    async fn shown_run(
        &self,
        id: RunId,
        standing: RunStanding,
        answered: Option<(PuzzleId, Verdict, String)>,
        trier: Trier<'_>,
        now: UnixMillis,
    ) -> Result<ShownRun, PuzzleError> {
        let puzzle = match &standing.puzzle {
            Some((_, puzzle)) => Some(self.show(puzzle).await?),
            None => None,
        };
        let mut rank_today = None;
        if puzzle.is_none() {
            self.settle_runs(None, now).await;
            if let Some(who) = trier.who.filter(|who| who.kind == PlayerKind::Human) {
                let board = self.rush_board(standing.kind, RushPeriod::Day, 0, Some(&who.id), now).await?;
                rank_today = board.first().map(|place| place.rank);
            }
        }
        Ok(ShownRun { id, standing, puzzle, answered, rank_today })
    }

    /// Keeps what was reached in runs that are over.
    async fn settle_runs(&self, beginner: Option<&PlayerId>, now: UnixMillis) {
        let ended = self.runs().take_ended(beginner, clock::now());
        for EndedRun { player, kind, solved } in ended {
            let Some(player) = player.filter(|_| solved > 0) else { continue };
            let result = RushResult { player, kind, day: day_of(now), solved, at: now };
            // Guests and bots are refused, and those who have left meanwhile: they have no place in the tables.
            match self.writer.write(Write::NoteRush(result)).await {
                Ok(_) | Err(WriteError::Refused(_)) => {}
                Err(error) => warn!(error = %error, "what was reached in a run is not kept"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday() {
        // 1970-01-01 was a Thursday; 2026-11-27, day 20,784, a Friday.
        for (today, monday) in
            [(20_784, 20_780), (20_780, 20_780), (20_786, 20_780), (20_787, 20_787), (1, 0)]
        {
            assert_eq!(RushPeriod::Week.since(today), monday, "{today}");
        }
        assert_eq!((RushPeriod::Day.since(9), RushPeriod::All.since(9)), (9, 0));
    }
}
