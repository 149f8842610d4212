//! Letting a bot think, with a clock that the bot itself does not have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fourfold_bots::{Bot, BotError, Choice, MoveBudget};
use fourfold_engine::Position;

/// Asks for a move. The bot is stopped after `limit`, else after the time that its own settings name; with neither it
/// ends by itself.
pub(in crate::app) fn choose(
    bot: &mut dyn Bot,
    position: &Position,
    limit: Option<Duration>,
) -> Result<Choice, BotError> {
    choose_unless_stopped(bot, position, limit, &AtomicBool::new(false))
}

/// The same, and the bot is stopped too when somebody else sets `stop`.
pub(in crate::app) fn choose_unless_stopped(
    bot: &mut dyn Bot,
    position: &Position,
    limit: Option<Duration>,
    stop: &AtomicBool,
) -> Result<Choice, BotError> {
    let time = match (limit, bot.move_time()) {
        (Some(limit), Some(own)) => Some(limit.min(own)),
        (limit, own) => limit.or(own),
    };
    let budget = MoveBudget { nodes: None, time };
    let Some(time) = time else { return bot.choose(position, budget, stop) };
    stopped_after(time, stop, || bot.choose(position, budget, stop))
}

/// Does something that ends when `stop` is set, and sets it after `time`.
pub(in crate::app) fn stopped_after<T>(time: Duration, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (finished, timer) = mpsc::channel::<()>();
        scope.spawn(move || {
            // Ends early, with an error, when the work is done and the sender is gone.
            if timer.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let done = work();
        drop(finished);
        done
    })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    /// Thinks until it is stopped.
    struct Slow {
        own: Option<Duration>,
    }

    impl Bot for Slow {
        fn choose(
            &mut self,
            position: &Position,
            _: MoveBudget,
            stop: &AtomicBool,
        ) -> Result<Choice, BotError> {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            position.legal_columns().next().map(Choice::from).ok_or(BotError::GameOver)
        }

        fn move_time(&self) -> Option<Duration> {
            self.own
        }
    }

    #[test]
    fn a_bot_is_stopped_by_the_limit_or_by_its_own_time() {
        let position = Position::new(Variant::STANDARD);
        let soon = Some(Duration::from_millis(5));
        let never = Some(Duration::from_hours(1));
        for (limit, own) in [(soon, None), (None, soon), (never, soon), (soon, never)] {
            assert!(choose(&mut Slow { own }, &position, limit).is_ok());
        }
    }
}
