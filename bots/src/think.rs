//! Letting a bot think, with a clock that the bot itself does not have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fourfold_engine::Position;

use crate::{Bot, BotError, Choice, MoveBudget};

/// Asks for a move. The bot is stopped after `limit`, else after the time that its own settings name; with neither it
/// ends by itself.
///
/// # Errors
///
/// As [`Bot::choose`].
pub fn choose(bot: &mut dyn Bot, position: &Position, limit: Option<Duration>) -> Result<Choice, BotError> {
    let budget = MoveBudget { nodes: None, time: limit };
    choose_unless_stopped(bot, position, budget, &AtomicBool::new(false))
}

/// The same within a whole budget, and the bot is stopped too when somebody else sets `stop`.
///
/// # Errors
///
/// As [`Bot::choose`].
pub fn choose_unless_stopped(
    bot: &mut dyn Bot,
    position: &Position,
    MoveBudget { nodes, time: limit }: MoveBudget,
    stop: &AtomicBool,
) -> Result<Choice, BotError> {
    let time = match (limit, bot.move_time()) {
        (Some(limit), Some(own)) => Some(limit.min(own)),
        (limit, own) => limit.or(own),
    };
    stopped_after(time, stop, || bot.choose(position, MoveBudget { nodes, time }, stop))
}

/// Does something that ends when `stop` is set, and sets it after `time`, if there is one.
pub fn stopped_after<T>(time: Option<Duration>, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let Some(time) = time else { return work() };
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
