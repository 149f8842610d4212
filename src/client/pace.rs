//! Staying below the server's message limit, so that no request is refused for it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The window that the server counts in, and a little more: our clock and the network are not the server's.
const WINDOW: Duration = Duration::from_millis(20_500);

/// Remembers when messages were sent.
#[derive(Debug)]
pub(super) struct SendPace {
    sent: VecDeque<Instant>,
    max: usize,
}

impl SendPace {
    /// For a limit of so many messages in 20 seconds. A tenth is kept back for what libraries send by themselves.
    pub(super) fn new(messages_per_20s: u32) -> Self {
        let max = messages_per_20s - messages_per_20s / 10;
        Self { sent: VecDeque::new(), max: usize::try_from(max.max(1)).unwrap_or(usize::MAX) }
    }

    /// Waits until one more message is allowed, and counts it.
    pub(super) async fn wait(&mut self) {
        if self.sent.len() >= self.max
            && let Some(oldest) = self.sent.front()
        {
            sleep_until(*oldest + WINDOW).await;
            self.sent.pop_front();
        }
        self.sent.push_back(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn messages_over_the_limit_wait_for_the_window_to_pass() {
        let began = Instant::now();
        let mut pace = SendPace::new(10);
        for _ in 0..9 {
            pace.wait().await;
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        pace.wait().await;
        assert!(began.elapsed() >= WINDOW);
    }
}
