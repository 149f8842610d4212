//! Finished games for those who go through all of them by their numbers: learners, the judge, the leaderboard.
//!
//! The writer knows when a game's end is durable and tells it here, so that nobody asks the store whether there is
//! anything new. What was finished before the start nobody tells: the store is asked for it once. How far each reader
//! has come is its own to keep, in the store with what it made of the games.
//!
//! A reader notes the [`News`], looks at all there is, and then waits for more than it noted: what is committed in
//! between ends the wait at once.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, watch};

use super::moderation::{Measure, MeasureKind};
use super::record::{DamagedGame, StoredGame};
use super::refit::{RefitContent, RefitStep};
use super::store::{Refused, Store, StoreError, Write, Written};

/// Games read at a time: a few hundred KiB and some milliseconds of the store. Learners take as many in one turn, after
/// which the others have theirs.
const PAGE_GAMES: u64 = 64;

/// Pages that are kept for readers who come to the same games a little later: the learners, which mostly go together,
/// the judge, and somebody who catches up. Further ones are read again.
const PAGES_KEPT: usize = 4;

/// A finished game, or what is left of it.
pub(crate) type FinishedGame = Result<StoredGame, DamagedGame>;

/// What was committed, as far as it concerns readers of finished games. All of it only grows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct News {
    /// Number of the last finished game; before anybody has asked the store, of the last one since the start.
    pub(crate) finished: u64,
    /// How often since the start games or players were taken out, or a rating began anew, so that games which were read
    /// before count otherwise.
    pub(crate) withdrawals: u64,
    /// Number of the last game that the judge has come to since the start.
    pub(crate) judged: u64,
}

impl News {
    /// Takes in what a write came to.
    fn take_in(&mut self, write: &Write, answer: &Result<Written, Refused>) {
        let Ok(written) = answer else { return };
        if let Written::Settled(settlement) = written {
            self.finished = self.finished.max(settlement.number);
        }
        // All of these give the records a new revision.
        let is_deletion = |measure: &Measure| matches!(measure.kind, MeasureKind::Delete { .. });
        let is_whole = |step: &RefitStep| matches!(step.content, RefitContent::Ratings(_));
        if matches!(write, Write::VoidGame { .. } | Write::Retire { .. } | Write::ResetRating(_))
            || matches!(write, Write::Refit(step) if is_whole(step))
            || matches!(write, Write::TakeMeasure(measure) if is_deletion(measure))
        {
            self.withdrawals += 1;
        }
        if let Write::StepJudging(step) = write {
            self.judged = self.judged.max(step.covered());
        }
    }

    /// Whether games have finished since.
    pub(crate) fn has_games_since(&self, known: &Self) -> bool {
        self.finished > known.finished
    }

    /// Whether games or players were taken out since.
    pub(crate) fn has_withdrawals_since(&self, known: &Self) -> bool {
        self.withdrawals > known.withdrawals
    }

    /// Whether games were judged since.
    pub(crate) fn has_judgements_since(&self, known: &Self) -> bool {
        self.judged > known.judged
    }
}

/// The finished games and the news of them. Cheap to clone; all clones share what was read.
#[derive(Clone)]
pub(crate) struct FinishedGames {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    news: watch::Sender<News>,
    /// Set when the store has said which game was the last one before the start.
    start: OnceCell<()>,
    shelf: Mutex<Shelf>,
}

impl fmt::Debug for FinishedGames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishedGames").field("news", &self.news()).finish_non_exhaustive()
    }
}

impl FinishedGames {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let inner = Inner {
            store,
            news: watch::Sender::new(News::default()),
            start: OnceCell::new(),
            shelf: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Tells everybody what a commit has made durable.
    pub(super) fn committed(&self, writes: &[Write], answers: &[Result<Written, Refused>]) {
        self.inner.news.send_if_modified(|news| {
            let before = *news;
            writes.iter().zip(answers).for_each(|(write, answer)| news.take_in(write, answer));
            *news != before
        });
    }

    /// What is known now.
    pub(crate) fn news(&self) -> News {
        *self.inner.news.borrow()
    }

    /// Waits for `rest`, in which what comes in a stream gathers to be looked at together, and then until there is more
    /// than was known. `is_wanted` compares the news with that.
    pub(crate) async fn more_than(
        &self,
        known: News,
        rest: Duration,
        is_wanted: impl Fn(&News, &News) -> bool,
    ) {
        tokio::time::sleep(rest).await;
        let mut news = self.inner.news.subscribe();
        // The sender is ours, so this cannot end in any other way.
        let _ = news.wait_for(|news| is_wanted(news, &known)).await;
    }

    /// The next games above a number, in order; damaged ones too, as readers must know how far they have come. Nobody
    /// asks the store if there are none, and one reader alone if several come to the same games.
    ///
    /// # Errors
    ///
    /// The store cannot be read. Nothing is kept of that: whoever asks again is answered anew.
    pub(crate) async fn page(&self, after: u64) -> Result<FinishedPage, StoreError> {
        self.inner.start.get_or_try_init(|| self.ask_for_the_last()).await?;
        let news = self.news();
        let Some(place) = self.shelf(|shelf| shelf.place(after, &news)) else {
            return Ok(FinishedPage::default());
        };
        let NumberSpan { after: from, up_to } = place.span;
        // No more than a page, so it fits.
        let limit = u32::try_from(up_to - from).unwrap_or(u32::MAX);
        let store = &self.inner.store;
        let read = || async { store.audit_finished(from, limit).await.map(Arc::from) };
        let games: Arc<[FinishedGame]> = Arc::clone(place.games.get_or_try_init(read).await?);
        let is_read = |game: &&FinishedGame| number_of(game).is_some_and(|number| number <= after);
        let skipped = games.iter().take_while(is_read).count();
        Ok(FinishedPage { games, skipped, is_behind: up_to < news.finished })
    }

    /// Asks the store which game is the last one, as nobody tells of those before the start.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn ask_for_the_last(&self) -> Result<(), StoreError> {
        let last = self.inner.store.judging_progress().await?.finished;
        self.inner.news.send_if_modified(|news| {
            let is_new = last > news.finished;
            news.finished = news.finished.max(last);
            is_new
        });
        Ok(())
    }

    fn shelf<T>(&self, act: impl FnOnce(&mut Shelf) -> T) -> T {
        act(&mut self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The number of a finished game, unless that is damaged too.
pub(crate) fn number_of(game: &FinishedGame) -> Option<u64> {
    match game {
        Ok(game) => game.settlement.as_ref().map(|settled| settled.number),
        Err(damaged) => damaged.number,
    }
}

/// Finished games that follow each other.
#[derive(Clone, Default, Debug)]
pub(crate) struct FinishedPage {
    games: Arc<[FinishedGame]>,
    /// Games at the beginning that the reader has had.
    skipped: usize,
    /// Whether more games had finished than are in it when it was asked for.
    pub(crate) is_behind: bool,
}

impl Deref for FinishedPage {
    type Target = [FinishedGame];

    fn deref(&self) -> &[FinishedGame] {
        &self.games[self.skipped..]
    }
}

/// Numbers of finished games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NumberSpan {
    after: u64,
    up_to: u64,
}

impl NumberSpan {
    /// What follows on a number, if it has finished.
    fn next(after: u64, news: &News) -> Option<Self> {
        (after < news.finished).then(|| Self { after, up_to: news.finished.min(after + PAGE_GAMES) })
    }

    /// Whether what follows on a number is in it.
    fn follows(self, after: u64) -> bool {
        self.after <= after && after < self.up_to
    }
}

/// A page that somebody reads or has read: whoever comes first reads it, the others wait for that.
#[derive(Clone, Debug)]
struct FollowerPlace {
    span: NumberSpan,
    /// As of which withdrawals: after another one, games may have other settlements.
    withdrawals: u64,
    games: Arc<OnceCell<Arc<[FinishedGame]>>>,
}

/// The pages that were asked for last, the newest at the end.
#[derive(Default, Debug)]
struct Shelf {
    places: VecDeque<FollowerPlace>,
}

impl Shelf {
    /// Where the games are that follow on a number; nowhere if none has finished.
    fn place(&mut self, after: u64, news: &News) -> Option<FollowerPlace> {
        let span = NumberSpan::next(after, news)?;
        self.places.retain(|place| place.withdrawals == news.withdrawals);
        if let Some(place) = self.places.iter().find(|place| place.span.follows(after)) {
            return Some(place.clone());
        }
        let place = FollowerPlace { span, withdrawals: news.withdrawals, games: Arc::default() };
        if self.places.len() == PAGES_KEPT {
            self.places.pop_front();
        }
        self.places.push_back(place.clone());
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::player::PlayerKind;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{add, add_players, play, player, spec, void, whole_game};
    use crate::storage::record::UnratedReason;
    use crate::storage::{MemoryStore, Writer};

    /// How long nothing happens: longer than anybody would wait to look by the clock.
    const QUIET: Duration = Duration::from_hours(1);

    /// A store with games that were finished before, and the writer of a start after that.
    async fn started(games: u64) -> (Arc<MemoryStore>, Writer) {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        for number in 1..=games {
            let spec = spec(&format!("g{number}"), "Ada", "Bob");
            play(&*store, spec, "1234567", GameResult::First, EndReason::Resign).await;
        }
        let (writer, actor) = Writer::new(Arc::clone(&store) as Arc<dyn Store>);
        tokio::spawn(actor.run());
        (store, writer)
    }

    /// Finishes a game as a room does.
    async fn finish(writer: &Writer, number: u64, result: GameResult) {
        let spec = spec(&format!("g{number}"), "Ada", "Bob");
        let events = whole_game("1234567", result, EndReason::Resign);
        let finish = Write::Finish { game: spec.id.clone(), events };
        let (started, finished) = tokio::join!(writer.write(Write::StartGame(spec)), writer.write(finish));
        started.and(finished).unwrap();
    }

    fn numbers(page: &FinishedPage) -> Vec<u64> {
        page.iter().filter_map(number_of).collect()
    }

    /// Reads on from a number, some games at a time, until there are so many in all. No clock wakes it.
    async fn follow(finished: FinishedGames, mut after: u64, step: usize, last: u64) -> Vec<u64> {
        let mut had = Vec::new();
        while after < last {
            let known = finished.news();
            let page = finished.page(after).await.unwrap();
            had.extend(page.iter().take(step).filter_map(number_of));
            after = had.last().copied().unwrap_or(after);
            if page.is_empty() {
                finished.more_than(known, Duration::ZERO, News::has_games_since).await;
            }
            tokio::task::yield_now().await;
        }
        had
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_wakes_readers_and_no_clock_does() {
        let (_, writer) = started(0).await;
        let finished = writer.finished();
        let began = tokio::time::Instant::now();
        let known = finished.news();
        tokio::join!(finished.more_than(known, Duration::ZERO, News::has_games_since), async {
            writer.write(add(player("Cyd", PlayerKind::Human))).await.unwrap();
            tokio::time::sleep(QUIET).await;
            finish(&writer, 1, GameResult::Draw).await;
        });
        assert_eq!(began.elapsed(), QUIET, "woken by the game, and by nothing before");
        assert_eq!(numbers(&finished.page(0).await.unwrap()), [1]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_a_stream_gathers() {
        let (_, writer) = started(0).await;
        let finished = writer.finished();
        let (began, rest) = (tokio::time::Instant::now(), Duration::from_secs(1));
        let known = finished.news();
        tokio::join!(finished.more_than(known, rest, News::has_games_since), async {
            finish(&writer, 1, GameResult::Draw).await;
            finish(&writer, 2, GameResult::Draw).await;
        });
        assert_eq!(began.elapsed(), rest);
        assert_eq!(numbers(&finished.page(0).await.unwrap()), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_between_look_and_wait_is_not_missed() {
        let (_, writer) = started(0).await;
        let finished = writer.finished();
        let began = tokio::time::Instant::now();
        let known = finished.news();
        assert!(finished.page(0).await.unwrap().is_empty());
        finish(&writer, 1, GameResult::First).await;
        finished.more_than(known, Duration::ZERO, News::has_games_since).await;
        assert_eq!(numbers(&finished.page(0).await.unwrap()), [1]);
        assert!(began.elapsed() < QUIET);
    }

    #[tokio::test(start_paused = true)]
    async fn readers_at_different_places_have_each_game_once_and_in_order() {
        const BEFORE: u64 = 150;
        const LAST: u64 = 300;
        let (_, writer) = started(BEFORE).await;
        let places = [(0, 64), (0, 8), (3, 5), (70, 64), (150, 1), (299, 1)];
        let readers =
            places.map(|(after, step)| tokio::spawn(follow(writer.finished().clone(), after, step, LAST)));
        for number in BEFORE + 1..=LAST {
            finish(&writer, number, GameResult::First).await;
        }
        for ((after, _), reader) in places.into_iter().zip(readers) {
            assert_eq!(reader.await.unwrap(), (after + 1..=LAST).collect::<Vec<_>>(), "after {after}");
        }
        // One that starts late.
        let late = follow(writer.finished().clone(), 0, 64, LAST).await;
        assert_eq!(late, (1..=LAST).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn games_are_read_once_for_all_who_come_to_them() {
        let (store, writer) = started(100).await;
        let readers = [64, 64, 8].map(|step| follow(writer.finished().clone(), 0, step, 100));
        futures::future::join_all(readers).await;
        assert_eq!(store.looks(), [(0, 64), (64, 36)]);
        assert!(writer.finished().page(100).await.unwrap().is_empty());
        assert_eq!(store.looks().len(), 2, "nobody asks for what is not there");
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_read_is_read_when_somebody_asks_again() {
        let (store, writer) = started(70).await;
        let finished = writer.finished();
        assert_eq!(finished.page(0).await.unwrap().len(), 64);
        store.fail_looks(2);
        for _ in 0..2 {
            assert!(finished.page(64).await.is_err());
        }
        finish(&writer, 71, GameResult::First).await;
        let page = finished.page(64).await.unwrap();
        assert_eq!((numbers(&page), page.is_behind), ((65..=70).collect(), true));
        let page = finished.page(70).await.unwrap();
        assert_eq!((numbers(&page), page.is_behind), (vec![71], false));
    }

    #[tokio::test(start_paused = true)]
    async fn void_games_count_and_those_taken_out_are_read_again_under_their_numbers() {
        let (_, writer) = started(0).await;
        finish(&writer, 1, GameResult::First).await;
        finish(&writer, 2, GameResult::Void).await;
        let finished = writer.finished();
        let because = |page: &FinishedPage| -> Vec<Option<UnratedReason>> {
            page.iter().flatten().map(|game| game.settlement.as_ref().unwrap().unrated_because).collect()
        };
        let known = finished.news();
        let page = finished.page(0).await.unwrap();
        assert_eq!((numbers(&page), because(&page)), (vec![1, 2], vec![None, Some(UnratedReason::Void)]));
        let void = void("g1");
        writer.write(void.clone()).await.unwrap();
        finished.more_than(known, Duration::ZERO, News::has_withdrawals_since).await;
        assert!(!finished.news().has_games_since(&known), "nothing has finished");
        let page = finished.page(0).await.unwrap();
        assert_eq!(
            (numbers(&page), because(&page)),
            (vec![1, 2], vec![Some(UnratedReason::Voided), Some(UnratedReason::Void)])
        );
        let known = finished.news();
        writer.write(void).await.unwrap_err();
        assert_eq!(finished.news(), known, "what is refused is no news");
    }

    #[test]
    fn a_page_ends_with_what_has_finished() {
        #[track_caller]
        fn check(after: u64, finished: u64, expected: Option<(u64, u64)>) {
            let news = News { finished, ..News::default() };
            let expected = expected.map(|(after, up_to)| NumberSpan { after, up_to });
            assert_eq!(NumberSpan::next(after, &news), expected);
        }
        check(0, 0, None);
        check(0, 1, Some((0, 1)));
        check(5, 68, Some((5, 68)));
        check(5, 70, Some((5, 69)));
        check(70, 70, None);
        check(71, 70, None);
    }

    #[test]
    fn a_page_serves_those_who_come_to_it_until_something_is_taken_out() {
        let mut shelf = Shelf::default();
        let news = News { finished: 100, ..News::default() };
        let first = shelf.place(0, &news).unwrap();
        let is_first = |place: &FollowerPlace| Arc::ptr_eq(&place.games, &first.games);
        for (after, expected) in [(0, true), (63, true), (64, false), (99, false)] {
            assert_eq!(is_first(&shelf.place(after, &news).unwrap()), expected, "{after}");
        }
        assert!(shelf.place(100, &news).is_none());
        let later = News { withdrawals: 1, ..news };
        assert!(!is_first(&shelf.place(0, &later).unwrap()));
        assert_eq!(shelf.places.len(), 1, "the others are outdated too");
        for after in 0..10 {
            shelf.place(after * PAGE_GAMES, &News { finished: 1_000, ..later }).unwrap();
        }
        assert_eq!(shelf.places.len(), PAGES_KEPT);
    }
}
