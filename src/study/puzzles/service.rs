//! Puzzles for whoever asks over HTTP: the one of the day, the next one, checked attempts, hints, and how one does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fourfold_engine::solver::{ColumnScores, Value};
use fourfold_engine::{Column, Game, Position};
use rand::RngExt as _;
use thiserror::Error;

use super::attempt::{self, AttemptError, AttemptStanding};
use super::choosing::{self, day_of};
use super::grading::{grade, whole_points};
use super::runs::{NoAnswer, Runs};
use super::theme_index::ThemeIndex;
use super::themes::Theme;
use crate::accounts::{AccountError, Accounts};
use crate::analysis::values::{Analysis, AnalysisError, Asker};
use crate::model::ids::{PlayerId, PuzzleId};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::puzzles::{PuzzleEntry, PuzzleTry, StoredPuzzle, TryResult};
use crate::storage::store::Write;
use crate::storage::writer::WriteError;
use crate::storage::{Store, StoreError, Writer};
use crate::system::shares::{Held, Payer, Refusal, Share, Shares};

/// Plies of a refutation at most: longer than any loss that makes a puzzle.
const REFUTATION_PLIES_MAX: usize = 20;

/// Why there is no answer.
#[derive(Debug, Error)]
pub(crate) enum PuzzleError {
    /// No puzzle of that id, or none at all.
    #[error("there is no such puzzle")]
    NoSuchPuzzle,
    /// It has ended, or is another's.
    #[error("there is no such run")]
    NoSuchRun,
    /// Another puzzle of the run was handed out last.
    #[error("another puzzle is to be answered now")]
    NotNow,
    /// The moves are not those of an attempt.
    #[error(transparent)]
    Attempt(#[from] AttemptError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Whoever tries has used up a share.
    #[error(transparent)]
    Share(#[from] Refusal),
    /// A guest cannot be stored.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<NoAnswer> for PuzzleError {
    fn from(none: NoAnswer) -> Self {
        match none {
            NoAnswer::NoSuchRun => Self::NoSuchRun,
            NoAnswer::NotNow => Self::NotNow,
        }
    }
}

/// A puzzle as it is shown to those who have not solved it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShownPuzzle {
    /// All of it: what gives the solution away is the caller's to keep.
    pub(crate) stored: StoredPuzzle,
    /// How hard it is, in Elo points.
    pub(crate) grade: u32,
}

/// How somebody does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct PuzzleRecord {
    /// Days in a row with the daily puzzle solved.
    pub(crate) streak: u32,
    /// The most there ever were.
    pub(crate) best_streak: u32,
    /// Whether today's is solved.
    pub(crate) solved_today: bool,
    pub(crate) tried: u32,
    /// Of these, solved at the first attempt.
    pub(crate) solved: u32,
    /// How strong that looks, in Elo points.
    pub(crate) level: u32,
}

/// What comes of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Feedback {
    /// Right, and it goes on.
    GoesOn {
        /// The solution as far as it is known now; the last move is the reply.
        line: Vec<Column>,
    },
    /// Right to the end.
    Solved { line: Vec<Column> },
    /// Wrong.
    Wrong {
        /// What the position is worth now, for the one who solves.
        value: Option<Value>,
        /// How the other side goes on, both playing their best from there; empty if the solver has no time.
        refutation: Vec<Column>,
    },
}

/// Reads and checks puzzles. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Puzzles {
    pub(super) store: Arc<dyn Store>,
    pub(super) writer: Writer,
    accounts: Accounts,
    analysis: Analysis,
    pub(super) shares: Shares,
    /// Shared by all copies.
    runs: Arc<Mutex<Runs<Held>>>,
    /// Shared by all copies too.
    themes: Arc<Mutex<ThemeIndex>>,
}

/// Who tries a puzzle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trier<'a> {
    /// Whoever it is, if that is known.
    pub(crate) who: Option<&'a Identity>,
    /// Whose share it draws on.
    pub(crate) payer: &'a Payer,
}

impl Trier<'_> {
    fn asker(self) -> Asker {
        Asker::Visitor(self.payer.clone())
    }
}

impl Puzzles {
    /// Over what is stored.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        writer: Writer,
        accounts: Accounts,
        analysis: Analysis,
        shares: Shares,
    ) -> Self {
        Self { store, writer, accounts, analysis, shares, runs: Arc::default(), themes: Arc::default() }
    }

    /// One puzzle.
    ///
    /// # Errors
    ///
    /// There is none of that id, or the store failed.
    pub(crate) async fn show(&self, id: &PuzzleId) -> Result<ShownPuzzle, PuzzleError> {
        let stored = self.store.puzzle(id).await?.ok_or(PuzzleError::NoSuchPuzzle)?;
        let grade = grade(stored.puzzle.prior, stored.record);
        Ok(ShownPuzzle { stored, grade })
    }

    /// The puzzle of the day of `now`, in UTC.
    ///
    /// # Errors
    ///
    /// There are no puzzles, or the store failed.
    pub(crate) async fn daily(&self, now: UnixMillis) -> Result<ShownPuzzle, PuzzleError> {
        let puzzles = self.store.puzzles().await?;
        let entry = choosing::daily(&puzzles, day_of(now)).ok_or(PuzzleError::NoSuchPuzzle)?;
        self.show(&entry.id).await
    }

    /// The next puzzle for somebody, about this theme if one is wanted, not `current` if there is another.
    ///
    /// # Errors
    ///
    /// There are no puzzles, or the store failed.
    pub(crate) async fn next(
        &self,
        who: Option<&Identity>,
        current: Option<&PuzzleId>,
        theme: Option<Theme>,
    ) -> Result<ShownPuzzle, PuzzleError> {
        let (all, tries) = self.known_of(who.map(|who| &who.id)).await?;
        let level = choosing::level_of(&all, &tries);
        let wanted: Vec<PuzzleEntry> = match theme {
            None => all,
            Some(_) => self.about(theme).await?.into_iter().map(|(_, entry)| entry).collect(),
        };
        let draw = chance().random();
        let entry = choosing::next(&wanted, &tries, level, current, draw).ok_or(PuzzleError::NoSuchPuzzle)?;
        self.show(&entry.id).await
    }

    /// All puzzles, the easiest first, each with its grade.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn all(&self) -> Result<Vec<(u32, PuzzleEntry)>, PuzzleError> {
        let puzzles = self.store.puzzles().await?.into_iter();
        let mut graded: Vec<(u32, PuzzleEntry)> =
            puzzles.map(|entry| (grade(entry.prior, entry.record), entry)).collect();
        graded.sort_by(|(a, first), (b, second)| (a, &first.id).cmp(&(b, &second.id)));
        Ok(graded)
    }

    /// The days from `since` on on which somebody solved the daily puzzle.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn days(&self, who: &PlayerId, since: u32) -> Result<Vec<u32>, PuzzleError> {
        Ok(self.store.puzzle_days(who, since).await?)
    }

    /// Whether there are any puzzles.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn has_any(&self) -> Result<bool, PuzzleError> {
        Ok(!self.store.puzzles().await?.is_empty())
    }

    /// The runs that go on.
    pub(super) fn runs(&self) -> MutexGuard<'_, Runs<Held>> {
        // Every change is whole before anything else is done.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of themes.
    pub(super) fn theme_index(&self) -> MutexGuard<'_, ThemeIndex> {
        // Every change is whole before anything else is done.
        self.themes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How somebody does, as seen at `now`.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn record(&self, who: &Identity, now: UnixMillis) -> Result<PuzzleRecord, PuzzleError> {
        let (puzzles, tries) = self.known_of(Some(&who.id)).await?;
        let streak = self.store.puzzle_streak(&who.id).await?;
        let today = day_of(now);
        let solved = tries.iter().filter(|attempt| attempt.result == TryResult::Solved).count();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(PuzzleRecord {
            streak: streak.as_of(today),
            best_streak: streak.best,
            solved_today: streak.run > 0 && streak.day == today,
            tried: count(tries.len()),
            solved: count(solved),
            level: whole_points(choosing::level_of(&puzzles, &tries)),
        })
    }

    /// Checks the moves of somebody, and takes note of the result if it is known who it is.
    ///
    /// # Errors
    ///
    /// There is no such puzzle, the moves are none of an attempt, a share is used up, or the store failed.
    pub(crate) async fn attempt(
        &self,
        trier: Trier<'_>,
        id: &PuzzleId,
        own_moves: &str,
        now: UnixMillis,
    ) -> Result<Feedback, PuzzleError> {
        self.shares.spend(Share::PuzzleTry, trier.payer)?;
        let shown = self.show(id).await?;
        match attempt::check(&shown.stored.puzzle, own_moves)? {
            AttemptStanding::GoesOn { reply: _, line } => Ok(Feedback::GoesOn { line }),
            AttemptStanding::Solved { line } => {
                self.note(trier, id, TryResult::Solved, now).await?;
                Ok(Feedback::Solved { line })
            }
            AttemptStanding::Wrong { game, right: _ } => {
                self.note(trier, id, TryResult::Failed, now).await?;
                let (value, refutation) = self.refute(&trier.asker(), &game).await;
                Ok(Feedback::Wrong { value, refutation })
            }
        }
    }

    /// Two columns, one of which is right, from the left. Whoever asks has not solved it alone.
    ///
    /// # Errors
    ///
    /// As [`Puzzles::attempt`].
    pub(crate) async fn hint(
        &self,
        trier: Trier<'_>,
        id: &PuzzleId,
        own_moves: &str,
        now: UnixMillis,
    ) -> Result<[Column; 2], PuzzleError> {
        self.shares.spend(Share::PuzzleTry, trier.payer)?;
        let shown = self.show(id).await?;
        let (game, right) = attempt::next_question(&shown.stored.puzzle, own_moves)?;
        self.note(trier, id, TryResult::Failed, now).await?;
        let other = self.tempting(&trier.asker(), game.position(), right).await;
        Ok(if other < right { [other, right] } else { [right, other] })
    }

    /// The whole solution, for somebody who has given up.
    ///
    /// # Errors
    ///
    /// As [`Puzzles::attempt`].
    pub(crate) async fn solution(
        &self,
        trier: Trier<'_>,
        id: &PuzzleId,
        now: UnixMillis,
    ) -> Result<String, PuzzleError> {
        self.shares.spend(Share::PuzzleTry, trier.payer)?;
        let shown = self.show(id).await?;
        let solution = attempt::solution(&shown.stored.puzzle)?;
        self.note(trier, id, TryResult::Failed, now).await?;
        Ok(solution)
    }

    async fn known_of(
        &self,
        who: Option<&PlayerId>,
    ) -> Result<(Vec<PuzzleEntry>, Vec<PuzzleTry>), StoreError> {
        let puzzles = self.store.puzzles().await?;
        let tries = match who {
            Some(who) => self.store.puzzle_tries(who).await?,
            None => Vec::new(),
        };
        Ok((puzzles, tries))
    }

    /// Stores the first result of a person or a guest. Bots may ask a solver, so theirs say nothing about the puzzle;
    /// and where more guests come from than a share allows, those who are new stay unknown.
    pub(super) async fn note(
        &self,
        trier: Trier<'_>,
        id: &PuzzleId,
        result: TryResult,
        now: UnixMillis,
    ) -> Result<(), PuzzleError> {
        let who = match trier.who {
            Some(who) if who.kind != PlayerKind::Bot => who,
            Some(_) | None => return Ok(()),
        };
        let is_new = who.kind == PlayerKind::Guest && self.store.player(&who.id).await?.is_none();
        if is_new && self.shares.spend(Share::Guest, trier.payer).is_err() {
            return Ok(());
        }
        let player = self.accounts.ensure_guest_stored(who).await?.id;
        let (puzzles, earlier) = self.known_of(Some(&player)).await?;
        let level = whole_points(choosing::level_of(&puzzles, &earlier));
        let attempt = PuzzleTry { player: player.clone(), puzzle: id.clone(), result, level, at: now };
        self.writer.write(Write::TryPuzzle(attempt)).await?;
        // The streak grows with the puzzle of the day, however many attempts it took.
        let day = day_of(now);
        let is_daily = choosing::daily(&puzzles, day).is_some_and(|daily| daily.id == *id);
        if is_daily && result == TryResult::Solved {
            self.writer.write(Write::SolveDaily { player, day }).await?;
        }
        Ok(())
    }

    /// What a wrong move made of the position, for the one who made it, and how the other side goes on: to the end if
    /// it wins, by its next move if it holds.
    async fn refute(&self, asker: &Asker, game: &Game) -> (Option<Value>, Vec<Column>) {
        let mut position = *game.position();
        let mut line = Vec::new();
        let mut value = None;
        while position.outcome().is_none() && line.len() < REFUTATION_PLIES_MAX {
            let scores = match self.analysis.columns(asker, &position).await {
                Ok(scores) => scores,
                Err(
                    AnalysisError::Busy { .. }
                    | AnalysisError::TooHard
                    | AnalysisError::Share(_)
                    | AnalysisError::Compute(_),
                ) => break,
            };
            let (Some(best), Some(column)) = (scores.best(), central_best(&scores, &position)) else { break };
            let for_solver = *value.get_or_insert(-best.sign());
            line.push(column);
            position = position.play_unchecked(column);
            if for_solver != Value::Loss {
                break;
            }
        }
        (value, line)
    }

    /// The wrong column that looks best: the one that holds out the longest, else any.
    async fn tempting(&self, asker: &Asker, position: &Position, right: Column) -> Column {
        let others = || position.legal_columns().filter(move |column| *column != right);
        let scores = self.analysis.columns(asker, position).await.ok();
        let score = |column: &Column| scores.as_ref().and_then(|scores| scores.get(*column));
        others().max_by_key(score).unwrap_or(right)
    }
}

/// Of the best columns the one nearest to the middle.
fn central_best(scores: &ColumnScores, position: &Position) -> Option<Column> {
    let last = usize::from(position.variant().width()) - 1;
    scores.best_columns().min_by_key(|column| (2 * column.index()).abs_diff(last))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::model::signing::{KEY_BYTES, Signer};
    use crate::storage::MemoryStore;
    use crate::storage::puzzles::{Harvest, NewPuzzle, TryRecord};
    use crate::study::puzzles::choosing::start_of;
    use crate::study::puzzles::mining::puzzle_id;
    use crate::study::puzzles::shipped;
    use crate::study::puzzles::themes::themes;

    async fn puzzles() -> Puzzles {
        let store = Arc::new(MemoryStore::new()) as Arc<dyn Store>;
        let (writer, actor) = Writer::new(Arc::clone(&store));
        tokio::spawn(actor.run());
        let harvest = Harvest { puzzles: shipped::puzzles(), keep: 0 };
        writer.write(Write::AddPuzzles(harvest)).await.unwrap();
        let (signer, shares) = (Signer::new(&[1; KEY_BYTES]), Shares::default());
        let accounts = Accounts::new(Arc::clone(&store), writer.clone(), signer, shares.clone());
        Puzzles::new(store, writer, accounts, Analysis::new(1, &shares), shares)
    }

    fn payer(last: u8) -> Payer {
        Payer::stranger(IpAddr::from([192, 0, 2, last]))
    }

    /// Somebody with an account.
    async fn person(puzzles: &Puzzles) -> Identity {
        let guest = puzzles.accounts.new_guest().identity;
        let stored = puzzles.accounts.ensure_guest_stored(&guest).await.unwrap();
        let (player, name) = (stored.id.clone(), "Ada".parse().unwrap());
        let promoted = Write::Promote { player, name, password: "$hash".into() };
        puzzles.writer.write(promoted).await.unwrap();
        Identity { kind: PlayerKind::Human, ..stored }
    }

    fn own_moves(shown: &ShownPuzzle) -> String {
        shown.stored.puzzle.line.chars().step_by(2).collect()
    }

    fn wrong_column(shown: &ShownPuzzle) -> String {
        let puzzle = &shown.stored.puzzle;
        let game = Game::from_moves(fourfold_engine::Variant::STANDARD, &puzzle.moves).unwrap();
        let right = puzzle.line.chars().next().unwrap();
        game.position().legal_columns().map(Column::digit).find(|digit| *digit != right).unwrap().into()
    }

    #[tokio::test]
    async fn the_daily_one_solved_makes_a_streak() {
        let puzzles = puzzles().await;
        let guest = puzzles.accounts.new_guest().identity;
        let trier = Trier { who: Some(&guest), payer: &payer(1) };
        for (day, streak) in [(20_000, 1), (20_001, 2), (20_003, 1)] {
            let now = start_of(day);
            let daily = puzzles.daily(now).await.unwrap();
            let id = &daily.stored.puzzle.id;
            assert!(!puzzles.record(&guest, now).await.unwrap().solved_today);
            let feedback = puzzles.attempt(trier, id, &own_moves(&daily), now).await.unwrap();
            assert!(matches!(feedback, Feedback::Solved { .. }));
            let record = puzzles.record(&guest, now).await.unwrap();
            assert_eq!((record.streak, record.solved_today), (streak, true), "on day {day}");
        }
        let record = puzzles.record(&guest, start_of(20_010)).await.unwrap();
        assert_eq!((record.streak, record.best_streak, record.solved_today), (0, 2, false));
        assert!(record.tried >= 1 && record.solved == record.tried && record.level > 850);
    }

    #[tokio::test]
    async fn a_wrong_move_is_refuted_and_only_the_first_attempt_counts() {
        let puzzles = puzzles().await;
        let (ada, now) = (person(&puzzles).await, start_of(20_000));
        let trier = Trier { who: Some(&ada), payer: &payer(1) };
        let shown = puzzles.next(Some(&ada), None, None).await.unwrap();
        let id = shown.stored.puzzle.id.clone();
        let feedback = puzzles.attempt(trier, &id, &wrong_column(&shown), now).await.unwrap();
        let Feedback::Wrong { value: Some(value), refutation } = feedback else { panic!("{feedback:?}") };
        assert!(value < Value::Win && !refutation.is_empty());
        puzzles.attempt(trier, &id, &own_moves(&shown), now).await.unwrap();
        let record = puzzles.record(&ada, now).await.unwrap();
        assert_eq!((record.tried, record.solved), (1, 0));
        let after = puzzles.show(&id).await.unwrap();
        assert_eq!(after.stored.record.tries, 1);
        assert!(after.grade > shown.grade);
        let another = puzzles.next(Some(&ada), Some(&id), None).await.unwrap();
        assert_ne!(another.stored.puzzle.id, id);
    }

    #[tokio::test]
    async fn the_next_one_is_about_the_theme_that_is_wanted_and_suits() {
        let puzzles = puzzles().await;
        let ada = person(&puzzles).await;
        for theme in Theme::ALL {
            let mut current = None;
            for _ in 0..3 {
                let shown = puzzles.next(Some(&ada), current.as_ref(), Some(theme)).await.unwrap();
                assert!(themes(&shown.stored.puzzle).contains(&theme), "{theme:?}: {shown:?}");
                assert!(shown.grade.abs_diff(850) < 150, "{theme:?}: {}", shown.grade);
                assert_ne!(current.as_ref(), Some(&shown.stored.puzzle.id));
                current = Some(shown.stored.puzzle.id);
            }
        }
    }

    #[tokio::test]
    async fn puzzles_of_a_theme_are_counted_and_those_that_come_and_go_with_them() {
        let puzzles = puzzles().await;
        let count = async |theme| {
            let counts = puzzles.theme_counts(&puzzles.all().await.unwrap()).await.unwrap();
            let counted = counts.into_iter().find(|(other, _)| *other == theme).unwrap().1;
            assert_eq!(puzzles.about(Some(theme)).await.unwrap().len(), counted);
            counted
        };
        let forks = shipped::puzzles().iter().filter(|puzzle| themes(puzzle).contains(&Theme::Fork)).count();
        assert_eq!(count(Theme::Fork).await, forks);
        assert_eq!(puzzles.about(None).await.unwrap().len(), shipped::puzzles().len());
        let game = Game::from_moves(fourfold_engine::Variant::STANDARD, "4131").unwrap();
        let mined = NewPuzzle {
            id: puzzle_id(game.position()),
            moves: "4131".to_owned(),
            line: "5".to_owned(),
            ..shipped::puzzles()[0].clone()
        };
        let harvest = Harvest { puzzles: vec![mined], keep: 9 };
        puzzles.writer.write(Write::AddPuzzles(harvest)).await.unwrap();
        assert_eq!(count(Theme::Fork).await, forks + 1);
        let graded = puzzles.about(Some(Theme::Fork)).await.unwrap();
        assert!(graded.is_sorted_by_key(|(grade, _)| *grade));
    }

    #[tokio::test]
    async fn whoever_tries_counts_by_the_level_shown_until_then() {
        let puzzles = puzzles().await;
        let (ada, now) = (person(&puzzles).await, start_of(20_000));
        let trier = Trier { who: Some(&ada), payer: &payer(1) };
        let mut shown = puzzles.next(Some(&ada), None, None).await.unwrap();
        for _ in 0..12 {
            let level = puzzles.record(&ada, now).await.unwrap().level;
            let id = shown.stored.puzzle.id.clone();
            puzzles.attempt(trier, &id, &own_moves(&shown), now).await.unwrap();
            let record = puzzles.show(&id).await.unwrap().stored.record;
            assert_eq!(record, TryRecord { tries: 1, levels: u64::from(level), solved: 1 });
            shown = puzzles.next(Some(&ada), None, None).await.unwrap();
        }
        assert!(puzzles.record(&ada, now).await.unwrap().level > 1_100);
    }

    #[tokio::test]
    async fn hints_name_the_right_column_and_another_and_count() {
        let puzzles = puzzles().await;
        let (ada, now) = (person(&puzzles).await, start_of(20_000));
        let trier = Trier { who: Some(&ada), payer: &payer(1) };
        let shown = puzzles.next(None, None, None).await.unwrap();
        let id = &shown.stored.puzzle.id;
        let [left, right] = puzzles.hint(trier, id, "", now).await.unwrap();
        assert!(left < right);
        let answer = shown.stored.puzzle.line.chars().next().unwrap();
        assert!([left.digit(), right.digit()].contains(&answer));
        assert_eq!(puzzles.solution(trier, id, now).await.unwrap(), shown.stored.puzzle.line);
        assert_eq!(puzzles.show(id).await.unwrap().stored.record.tries, 1);
    }

    #[tokio::test]
    async fn whoever_is_not_known_and_bots_leave_no_trace() {
        let puzzles = puzzles().await;
        let shown = puzzles.next(None, None, None).await.unwrap();
        let id = &shown.stored.puzzle.id;
        let bot = Identity { kind: PlayerKind::Bot, ..puzzles.accounts.new_guest().identity };
        for who in [None, Some(&bot)] {
            let trier = Trier { who, payer: &payer(1) };
            puzzles.attempt(trier, id, &own_moves(&shown), start_of(20_000)).await.unwrap();
        }
        assert_eq!(puzzles.show(id).await.unwrap().stored.record.tries, 0);
        let nothing = puzzles.show(&"p9".parse().unwrap()).await;
        assert!(matches!(nothing, Err(PuzzleError::NoSuchPuzzle)));
    }

    #[tokio::test(start_paused = true)]
    async fn made_up_guests_neither_fill_the_store_nor_grade_puzzles() {
        let puzzles = puzzles().await;
        let (shown, now) = (puzzles.next(None, None, None).await.unwrap(), start_of(20_000));
        let id = &shown.stored.puzzle.id;
        let stored_at_most = Share::Guest.rule().network.budget.unwrap().amount;
        let mut stored = 0;
        for _ in 0..3 * stored_at_most {
            let guest = puzzles.accounts.new_guest().identity;
            let trier = Trier { who: Some(&guest), payer: &payer(1) };
            puzzles.attempt(trier, id, &wrong_column(&shown), now).await.unwrap();
            stored += u32::from(puzzles.store.player(&guest.id).await.unwrap().is_some());
        }
        assert_eq!(stored, stored_at_most);
        assert_eq!(puzzles.show(id).await.unwrap().grade, shown.grade);
        let guest = puzzles.accounts.new_guest().identity;
        let trier = Trier { who: Some(&guest), payer: &payer(2) };
        puzzles.attempt(trier, id, &own_moves(&shown), now).await.unwrap();
        assert_eq!(puzzles.record(&guest, now).await.unwrap().solved, 1, "elsewhere all is as usual");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_tries_without_end_waits_and_another_does_not() {
        let puzzles = puzzles().await;
        let (shown, now) = (puzzles.next(None, None, None).await.unwrap(), start_of(20_000));
        let budget = Share::PuzzleTry.rule().network.budget.unwrap();
        puzzles.shares.charge(Share::PuzzleTry, &payer(1), u64::from(budget.amount));
        let id = &shown.stored.puzzle.id;
        let solution = async |last| {
            let payer = payer(last);
            puzzles.solution(Trier { who: None, payer: &payer }, id, now).await
        };
        assert!(matches!(solution(1).await, Err(PuzzleError::Share(_))));
        assert!(solution(2).await.is_ok());
    }
}
