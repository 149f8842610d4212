//! A bot on a thread of its own, so that keys work while it thinks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fourfold_bots::{Bot, BotError, Choice, GameRecord};
use fourfold_engine::Position;

use super::super::think;
use super::game::Ticket;

/// How long to wait at the end for a bot that still learns or does not heed the stop flag.
const FINISH_TIME_MAX: Duration = Duration::from_secs(1);

/// What a bot says to a question.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) ticket: Ticket,
    pub(super) choice: Result<Choice, BotError>,
}

/// Where the answers of all bots go. Each bot has at most one question and one stopped question open, so a short queue
/// never fills; a bot would wait.
pub(super) type Answers = tokio::sync::mpsc::Sender<Answer>;

enum Job {
    Choose { ticket: Ticket, position: Position, stop: Arc<AtomicBool> },
    Learn(Box<GameRecord>),
}

/// The owner's end of a bot's thread.
#[derive(Debug)]
pub(super) struct Thinker {
    /// Unbounded, but the game asks again only after an answer or a stop, which is answered within milliseconds.
    jobs: mpsc::Sender<Job>,
    /// Of the last question.
    stop: Arc<AtomicBool>,
    /// Closed when the thread ends.
    finished: mpsc::Receiver<()>,
}

impl Thinker {
    /// Starts the thread. The bot is stopped after `limit` on each move, see [`think::choose`].
    pub(super) fn start(mut bot: Box<dyn Bot>, limit: Option<Duration>, answers: Answers) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let (running, finished) = mpsc::channel();
        thread::spawn(move || {
            let _running: mpsc::Sender<()> = running;
            while let Ok(job) = inbox.recv() {
                let goes_on = match job {
                    Job::Choose { ticket, position, stop } => {
                        let (choice, goes_on) = choose(&mut *bot, &position, limit, &stop);
                        goes_on & answers.blocking_send(Answer { ticket, choice }).is_ok()
                    }
                    Job::Learn(record) => catch_unwind(AssertUnwindSafe(|| bot.game_over(&record))).is_ok(),
                };
                if !goes_on {
                    break;
                }
            }
        });
        Self { jobs, stop: Arc::default(), finished }
    }

    /// Asks for a move; the answer has this ticket.
    pub(super) fn ask(&mut self, ticket: Ticket, position: Position) {
        self.stop = Arc::default();
        let stop = Arc::clone(&self.stop);
        self.send(Job::Choose { ticket, position, stop });
    }

    /// Makes an answer that is still open come soon.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn learn(&self, record: GameRecord) {
        self.send(Job::Learn(Box::new(record)));
    }

    /// Stops the bot and waits, not for long, until it has learnt what it was told.
    pub(super) fn finish(self) {
        self.stop();
        drop(self.jobs);
        let _ = self.finished.recv_timeout(FINISH_TIME_MAX); // nothing is ever sent: closed or too late
    }

    fn send(&self, job: Job) {
        let _ = self.jobs.send(job); // the thread only ends early after an answer that ends the game
    }
}

/// Asks the bot; a panic becomes an error, and `false`: the bot is in no state to go on.
fn choose(
    bot: &mut dyn Bot,
    position: &Position,
    limit: Option<Duration>,
    stop: &AtomicBool,
) -> (Result<Choice, BotError>, bool) {
    let asked = catch_unwind(AssertUnwindSafe(|| think::choose_unless_stopped(bot, position, limit, stop)));
    match asked {
        Ok(choice) => (choice, true),
        Err(_) => (Err(BotError::Broken { bot: "the bot", reason: "it panicked".to_owned() }), false),
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::MoveBudget;
    use fourfold_engine::Variant;

    use super::*;

    /// Thinks until it is stopped, or panics at once.
    struct Odd {
        panics: bool,
    }

    impl Bot for Odd {
        fn choose(
            &mut self,
            position: &Position,
            _: MoveBudget,
            stop: &AtomicBool,
        ) -> Result<Choice, BotError> {
            assert!(!self.panics, "as it was told");
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            position.legal_columns().next().map(Choice::from).ok_or(BotError::GameOver)
        }
    }

    fn ask(panics: bool) -> (Thinker, tokio::sync::mpsc::Receiver<Answer>) {
        let (answers, inbox) = tokio::sync::mpsc::channel(1);
        let mut thinker = Thinker::start(Box::new(Odd { panics }), None, answers);
        thinker.ask(Ticket::default(), Position::new(Variant::STANDARD));
        (thinker, inbox)
    }

    #[test]
    fn a_stopped_bot_answers() {
        let (thinker, mut inbox) = ask(false);
        thinker.stop();
        assert!(inbox.blocking_recv().unwrap().choice.is_ok());
        thinker.finish();
        assert!(inbox.blocking_recv().is_none(), "the thread has ended");
    }

    #[test]
    fn a_panic_is_an_answer() {
        let (_thinker, mut inbox) = ask(true);
        let error = inbox.blocking_recv().unwrap().choice.unwrap_err();
        assert_eq!(error.to_string(), "the bot is broken: it panicked");
    }
}
