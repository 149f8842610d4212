//! Runs through puzzles, one after the other, for three minutes or until three are missed: the arena hands the puzzles
//! out one by one, judges each answer and stops the clock, so that nobody can say what they have not done. Pure.
//!
//! Runs are in memory alone: a restart ends them, and what was solved is forgotten.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::model::ids::{PlayerId, PuzzleId, RunId};
use crate::storage::rushes::RushKind;

/// How long a run against the clock lasts; the pages' texts say it in words.
pub(crate) const RUN: Duration = Duration::from_mins(3);

/// What an answer may come later than that: it was given in time, and was on its way.
const ON_ITS_WAY: Duration = Duration::from_millis(750);

/// Misses after which the other kind is over.
pub(crate) const LIVES: usize = 3;

/// How long nobody may answer before a run is forgotten: longer than anybody thinks about one puzzle.
const IDLE: Duration = Duration::from_mins(10);

/// What becomes of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Right, and the puzzle goes on.
    GoesOn,
    /// The puzzle is solved.
    Solved,
    /// It is missed.
    Missed,
}

/// Why an answer is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoAnswer {
    /// No such run, or another's; it may have ended.
    NoSuchRun,
    /// It is about another puzzle than the one that was handed out last.
    NotNow,
}

/// How a run stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RunStanding {
    pub(crate) kind: RushKind,
    pub(crate) solved: u32,
    /// Those that were missed, in order.
    pub(crate) missed: Vec<PuzzleId>,
    /// What is left on the clock, if there is one.
    pub(crate) left: Option<Duration>,
    /// The puzzle to solve now, and its number from 1; none if the run is over.
    pub(crate) puzzle: Option<(u32, PuzzleId)>,
}

/// A run that is over, for whoever keeps what was reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EndedRun {
    /// Whoever ran, if that is known.
    pub(crate) player: Option<PlayerId>,
    pub(crate) kind: RushKind,
    pub(crate) solved: u32,
}

/// A run that goes on.
#[derive(Debug)]
struct Run<P> {
    player: Option<PlayerId>,
    kind: RushKind,
    /// What it is about, the easiest first.
    puzzles: Vec<PuzzleId>,
    solved: u32,
    missed: Vec<PuzzleId>,
    begun: Instant,
    /// When it was heard of last.
    seen: Instant,
    /// Its place among all that there may be.
    _place: P,
}

impl<P> Run<P> {
    /// How many puzzles were answered.
    fn answered(&self) -> usize {
        self.solved as usize + self.missed.len()
    }

    fn left(&self, now: Instant) -> Option<Duration> {
        match self.kind {
            RushKind::Minutes => Some(RUN.saturating_sub(now.saturating_duration_since(self.begun))),
            RushKind::Lives => None,
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        let ended = match self.kind {
            RushKind::Minutes => now.saturating_duration_since(self.begun) >= RUN + ON_ITS_WAY,
            RushKind::Lives => self.missed.len() >= LIVES,
        };
        let is_idle = now.saturating_duration_since(self.seen) >= IDLE;
        ended || is_idle || self.answered() >= self.puzzles.len()
    }

    fn standing(&self, now: Instant) -> RunStanding {
        let answered = self.answered();
        let next = self.puzzles.get(answered).filter(|_| !self.is_over(now));
        let number = u32::try_from(answered + 1).unwrap_or(u32::MAX);
        RunStanding {
            kind: self.kind,
            solved: self.solved,
            missed: self.missed.clone(),
            left: self.left(now),
            puzzle: next.map(|id| (number, id.clone())),
        }
    }

    fn ended(self) -> EndedRun {
        EndedRun { player: self.player, kind: self.kind, solved: self.solved }
    }
}

/// All runs that go on. `P` is the place that each takes among those that there may be.
#[derive(Debug)]
pub(crate) struct Runs<P> {
    by_id: HashMap<RunId, Run<P>>,
}

impl<P> Default for Runs<P> {
    fn default() -> Self {
        Self { by_id: HashMap::new() }
    }
}

impl<P> Runs<P> {
    /// Takes away all that are over, and the one of whoever is about to begin another.
    #[must_use = "what was reached is to be kept"]
    pub(crate) fn take_ended(&mut self, beginner: Option<&PlayerId>, now: Instant) -> Vec<EndedRun> {
        let is_replaced = |run: &Run<P>| beginner.is_some() && run.player.as_ref() == beginner;
        let ended = self.by_id.extract_if(|_, run| run.is_over(now) || is_replaced(run));
        ended.map(|(_, run)| run.ended()).collect()
    }

    /// Begins a run through these puzzles.
    pub(crate) fn begin(
        &mut self,
        id: RunId,
        player: Option<PlayerId>,
        (kind, puzzles): (RushKind, Vec<PuzzleId>),
        place: P,
        now: Instant,
    ) -> RunStanding {
        let run = Run {
            player,
            kind,
            puzzles,
            solved: 0,
            missed: Vec::new(),
            begun: now,
            seen: now,
            _place: place,
        };
        let standing = run.standing(now);
        self.by_id.insert(id, run);
        standing
    }

    fn own(&mut self, id: &RunId, player: Option<&PlayerId>) -> Result<&mut Run<P>, NoAnswer> {
        let run = self.by_id.get_mut(id).filter(|run| run.player.as_ref() == player);
        run.ok_or(NoAnswer::NoSuchRun)
    }

    /// How a run stands.
    ///
    /// # Errors
    ///
    /// It is not there, or another's.
    pub(crate) fn standing(
        &mut self,
        id: &RunId,
        player: Option<&PlayerId>,
        now: Instant,
    ) -> Result<RunStanding, NoAnswer> {
        Ok(self.own(id, player)?.standing(now))
    }

    /// The puzzle that an answer is about; none if the run is over.
    ///
    /// # Errors
    ///
    /// The run is not there, or another puzzle is the one that was handed out last.
    pub(crate) fn asked(
        &mut self,
        id: &RunId,
        player: Option<&PlayerId>,
        number: u32,
        now: Instant,
    ) -> Result<Option<PuzzleId>, NoAnswer> {
        let run = self.own(id, player)?;
        match run.standing(now).puzzle {
            Some((asked, puzzle)) if asked == number => Ok(Some(puzzle)),
            Some(_) => Err(NoAnswer::NotNow),
            None => Ok(None),
        }
    }

    /// Books what became of the answer to a puzzle. Of two answers to one puzzle that came at once the first counts.
    ///
    /// # Errors
    ///
    /// As [`Self::asked`].
    pub(crate) fn book(
        &mut self,
        id: &RunId,
        (player, number): (Option<&PlayerId>, u32),
        verdict: Verdict,
        now: Instant,
    ) -> Result<RunStanding, NoAnswer> {
        let run = self.own(id, player)?;
        let answered = run.answered();
        if number as usize != answered + 1 {
            return Err(NoAnswer::NotNow);
        }
        run.seen = now;
        match verdict {
            Verdict::GoesOn => {}
            Verdict::Solved => run.solved += 1,
            Verdict::Missed => run.missed.push(run.puzzles[answered].clone()),
        }
        Ok(run.standing(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    fn ids(count: usize) -> Vec<PuzzleId> {
        (1..=count).map(|number| format!("p{number}").parse().unwrap()).collect()
    }

    fn run(text: &str) -> RunId {
        text.parse().unwrap()
    }

    fn begun(kind: RushKind, puzzles: usize, start: Instant) -> (Runs<()>, PlayerId) {
        let (mut runs, ada): (Runs<()>, PlayerId) = (Runs::default(), "ada".parse().unwrap());
        let standing = runs.begin(run("r"), Some(ada.clone()), (kind, ids(puzzles)), (), start);
        assert_eq!(standing.puzzle, Some((1, "p1".parse().unwrap())));
        (runs, ada)
    }

    #[test]
    fn answers_count_once_and_for_the_puzzle_that_was_handed_out() {
        let start = Instant::now();
        let (mut runs, ada) = begun(RushKind::Minutes, 9, start);
        let own = Some(&ada);
        assert_eq!(runs.asked(&run("r"), own, 2, start), Err(NoAnswer::NotNow), "not handed out yet");
        assert_eq!(runs.asked(&run("r"), None, 1, start), Err(NoAnswer::NoSuchRun), "another's");
        assert_eq!(runs.asked(&run("q"), own, 1, start), Err(NoAnswer::NoSuchRun));
        assert_eq!(runs.asked(&run("r"), own, 1, start), Ok("p1".parse().ok()));
        assert_eq!(runs.book(&run("r"), (own, 1), Verdict::GoesOn, start).unwrap().solved, 0);
        let standing = runs.book(&run("r"), (own, 1), Verdict::Solved, start).unwrap();
        assert_eq!((standing.solved, standing.puzzle), (1, Some((2, "p2".parse().unwrap()))));
        assert_eq!(runs.book(&run("r"), (own, 1), Verdict::Solved, start), Err(NoAnswer::NotNow), "again");
    }

    #[test]
    fn the_clock_ends_a_run_and_what_was_on_its_way_counts() {
        let start = Instant::now();
        let (mut runs, ada) = begun(RushKind::Minutes, 9, start);
        let own = Some(&ada);
        assert_eq!(runs.book(&run("r"), (own, 1), Verdict::Solved, at(start, 180_500)).unwrap().solved, 1);
        assert_eq!(runs.asked(&run("r"), own, 2, at(start, 180_749)).unwrap(), "p2".parse().ok());
        assert_eq!(runs.asked(&run("r"), own, 2, at(start, 180_750)).unwrap(), None);
        let standing = runs.standing(&run("r"), own, at(start, 200_000)).unwrap();
        assert_eq!((standing.left, standing.puzzle), (Some(Duration::ZERO), None));
        let ended = runs.take_ended(None, at(start, 200_000));
        assert_eq!(ended, [EndedRun { player: Some(ada.clone()), kind: RushKind::Minutes, solved: 1 }]);
        assert_eq!(runs.standing(&run("r"), own, at(start, 200_000)), Err(NoAnswer::NoSuchRun));
    }

    #[test]
    fn three_misses_the_last_puzzle_and_nobody_there_end_a_run() {
        let start = Instant::now();
        let (mut runs, ada) = begun(RushKind::Lives, 9, start);
        for number in 1..=3 {
            let left = runs.book(&run("r"), (Some(&ada), number), Verdict::Missed, start).unwrap();
            assert_eq!(
                (left.missed.len(), left.puzzle.is_none(), left.left),
                (number as usize, number == 3, None)
            );
        }
        let (mut runs, ada) = begun(RushKind::Lives, 1, start);
        let last = runs.book(&run("r"), (Some(&ada), 1), Verdict::Solved, start).unwrap();
        assert_eq!((last.solved, last.puzzle), (1, None));
        let (mut runs, _) = begun(RushKind::Lives, 9, start);
        assert_eq!(runs.take_ended(None, at(start, 599_999)), []);
        assert_eq!(runs.take_ended(None, at(start, 600_000)).len(), 1);
    }

    #[test]
    fn whoever_begins_another_ends_the_one_before() {
        let start = Instant::now();
        let (mut runs, ada) = begun(RushKind::Lives, 9, start);
        assert_eq!(runs.take_ended(None, start), []);
        let eve: PlayerId = "eve".parse().unwrap();
        assert_eq!(runs.take_ended(Some(&eve), start), []);
        assert_eq!(runs.take_ended(Some(&ada), start).len(), 1);
        assert_eq!(runs.asked(&run("r"), Some(&ada), 1, start), Err(NoAnswer::NoSuchRun));
    }
}
