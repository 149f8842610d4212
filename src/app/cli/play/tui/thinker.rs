//! Whoever thinks, on a thread of its own, so that keys work meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::system::bot_files::BotFileError;
use fourfold_bots::{BotError, GameRecord, MoveBudget, think};
use fourfold_engine::Position;

use super::super::SeatedBot;
use super::game::{MoveReport, QuestionId};

/// How long to wait at the end for a bot that still learns or does not heed the stop flag.
const FINISH_TIME_MAX: Duration = Duration::from_secs(1);

/// Somebody who can be asked for a move.
pub(super) trait MoveChooser: Send {
    /// A move for the side to move. Once `stop` is true it comes within milliseconds.
    ///
    /// # Errors
    ///
    /// Fails if a bot does.
    fn think(&mut self, position: &Position, stop: &AtomicBool) -> Result<MoveReport, BotError>;

    /// Learns from a finished game. Those that do not learn keep this default.
    ///
    /// # Errors
    ///
    /// What was learnt could not be kept.
    fn learn(&mut self, _record: &GameRecord) -> Result<(), BotFileError> {
        Ok(())
    }
}

/// A bot that plays, stopped on each move after `limit`: see [`think::choose`].
pub(super) struct TimedBot {
    pub(super) seated: SeatedBot,
    pub(super) limit: Option<Duration>,
}

impl MoveChooser for TimedBot {
    fn think(&mut self, position: &Position, stop: &AtomicBool) -> Result<MoveReport, BotError> {
        let budget = MoveBudget { time: self.limit, ..MoveBudget::default() };
        think::choose_unless_stopped(&mut *self.seated.bot, position, budget, stop).map(MoveReport::from)
    }

    fn learn(&mut self, record: &GameRecord) -> Result<(), BotFileError> {
        self.seated.learn(record)
    }
}

/// What is said to a question.
#[derive(Debug)]
pub(super) struct BotAnswer {
    pub(super) ticket: QuestionId,
    pub(super) report: Result<MoveReport, BotError>,
}

/// Where all answers go. Everybody has at most one question and one stopped question open, so a short queue never
/// fills; who has an answer would wait.
pub(super) type Answers = tokio::sync::mpsc::Sender<BotAnswer>;

enum ThinkerJob {
    Choose { ticket: QuestionId, position: Position, stop: Arc<AtomicBool> },
    Learn(Box<GameRecord>),
}

/// The owner's end of a thread that thinks.
#[derive(Debug)]
pub(super) struct Thinker {
    /// Unbounded, but the game asks again only after an answer or a stop, which is answered within milliseconds.
    jobs: mpsc::Sender<ThinkerJob>,
    /// Of the last question.
    stop: Arc<AtomicBool>,
    /// Gets what went wrong with learning; closed when the thread ends.
    finished: mpsc::Receiver<BotFileError>,
}

impl Thinker {
    pub(super) fn start(mut chooser: impl MoveChooser + 'static, answers: Answers) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let (running, finished) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(job) = inbox.recv() {
                let goes_on = match job {
                    ThinkerJob::Choose { ticket, position, stop } => {
                        let asked = catch_unwind(AssertUnwindSafe(|| chooser.think(&position, &stop)));
                        let goes_on = asked.is_ok();
                        let report = asked.unwrap_or_else(|_| Err(panicked()));
                        goes_on & answers.blocking_send(BotAnswer { ticket, report }).is_ok()
                    }
                    ThinkerJob::Learn(record) => {
                        let learnt = catch_unwind(AssertUnwindSafe(|| chooser.learn(&record)));
                        let is_sound = learnt.is_ok();
                        if let Ok(Err(error)) = learnt {
                            let _ = running.send(error); // heard when the game is left
                        }
                        is_sound
                    }
                };
                if !goes_on {
                    break;
                }
            }
        });
        Self { jobs, stop: Arc::default(), finished }
    }

    /// Asks for a move; the answer has this ticket.
    pub(super) fn ask(&mut self, ticket: QuestionId, position: Position) {
        self.stop = Arc::default();
        let stop = Arc::clone(&self.stop);
        self.send(ThinkerJob::Choose { ticket, position, stop });
    }

    /// Makes an answer that is still open come soon.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn learn(&self, record: GameRecord) {
        self.send(ThinkerJob::Learn(Box::new(record)));
    }

    /// Stops the bot and waits, not for long, until it has learnt what it was told.
    ///
    /// # Errors
    ///
    /// What it learnt could not be kept.
    pub(super) fn finish(self) -> Result<(), BotFileError> {
        self.stop();
        drop(self.jobs);
        self.finished.recv_timeout(FINISH_TIME_MAX).map_or(Ok(()), Err) // else closed, or too late
    }

    fn send(&self, job: ThinkerJob) {
        let _ = self.jobs.send(job); // the thread only ends early after an answer that ends the game
    }
}

/// What is said in place of an answer. The thread then ends: who panicked is in no state to go on.
fn panicked() -> BotError {
    BotError::Broken { bot: "the bot", reason: "it panicked".to_owned() }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::Choice;
    use fourfold_engine::Variant;

    use super::*;

    /// Thinks until it is stopped, or panics at once.
    struct Odd {
        panics: bool,
    }

    impl MoveChooser for Odd {
        fn think(&mut self, position: &Position, stop: &AtomicBool) -> Result<MoveReport, BotError> {
            assert!(!self.panics, "as it was told");
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let column = position.legal_columns().next().ok_or(BotError::GameOver)?;
            Ok(Choice::from(column).into())
        }
    }

    fn ask(panics: bool) -> (Thinker, tokio::sync::mpsc::Receiver<BotAnswer>) {
        let (answers, inbox) = tokio::sync::mpsc::channel(1);
        let mut thinker = Thinker::start(Odd { panics }, answers);
        thinker.ask(QuestionId::default(), Position::new(Variant::STANDARD));
        (thinker, inbox)
    }

    #[test]
    fn a_stopped_bot_answers() {
        let (thinker, mut inbox) = ask(false);
        thinker.stop();
        assert!(inbox.blocking_recv().unwrap().report.is_ok());
        thinker.finish().unwrap();
        assert!(inbox.blocking_recv().is_none(), "the thread has ended");
    }

    #[test]
    fn a_panic_is_an_answer() {
        let (_thinker, mut inbox) = ask(true);
        let error = inbox.blocking_recv().unwrap().report.unwrap_err();
        assert_eq!(error.to_string(), "the bot is broken: it panicked");
    }
}
