//! Limits on what one client sends: pure, the caller says what time it is.

use std::time::{Duration, Instant};

use super::limits::TransportLimits;
use crate::system::shares::credits::{Budget, Credits};

/// Refusals for flooding in [`FLOOD_WINDOW`] that end the connection.
const FLOODS_MAX: usize = 3;
/// See [`FLOODS_MAX`].
const FLOOD_WINDOW: Duration = Duration::from_mins(1);
/// Unreadable messages in [`BAD_JSON_WINDOW`] that end the connection: a client that sends them is broken, and every
/// one costs an answer.
const BAD_JSON_MAX: usize = 5;
/// See [`BAD_JSON_MAX`].
const BAD_JSON_WINDOW: Duration = Duration::from_secs(10);

/// The last `N` times that something happened.
#[derive(Clone, Copy, Debug)]
struct Strikes<const N: usize> {
    times: [Option<Instant>; N],
    next: usize,
}

impl<const N: usize> Strikes<N> {
    const fn new() -> Self {
        Self { times: [None; N], next: 0 }
    }

    /// Counts one more. Whether `N` of them, this one included, fell within `window`.
    fn strike(&mut self, now: Instant, window: Duration) -> bool {
        self.times[self.next] = Some(now);
        self.next = (self.next + 1) % N;
        self.times[self.next].is_some_and(|oldest| now.saturating_duration_since(oldest) <= window)
    }
}

/// What one message costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cost {
    /// Nothing: it answers a question of ours.
    Free,
    /// One credit.
    Message,
    /// As many as [`WATCHER_COST`]: whoever only watches has little to say.
    OfWatcher,
}

/// Credits for a message of somebody who only watches, so that fifty of the usual hundred are left.
const WATCHER_COST: u32 = 2;

impl Cost {
    fn credits(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Message => 1,
            Self::OfWatcher => WATCHER_COST.into(),
        }
    }
}

/// How many messages somebody may send who only watches, where others may send so many.
pub(crate) const fn of_watchers(messages: u32) -> u32 {
    messages / WATCHER_COST
}

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RateVerdict {
    /// Within the limit.
    Pass,
    /// Over it: refused, and may come again after this time.
    Limited(Duration),
    /// Over it again and again: refused likewise, and the connection ends.
    Flooding(Duration),
}

/// The message limits of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    budget: Budget,
    credits: Credits,
    floods: Strikes<FLOODS_MAX>,
    bad_json: Strikes<BAD_JSON_MAX>,
}

impl Traffic {
    /// A connection that has sent nothing yet.
    pub(crate) fn new(limits: &TransportLimits) -> Self {
        Self {
            budget: Budget::new(limits.messages, limits.messages_period),
            credits: Credits::default(),
            floods: Strikes::new(),
            bad_json: Strikes::new(),
        }
    }

    /// Counts a message.
    pub(crate) fn message(&mut self, cost: Cost, now: Instant) -> RateVerdict {
        match self.credits.spend_many(self.budget, cost.credits(), now) {
            Ok(()) => RateVerdict::Pass,
            Err(wait) if self.floods.strike(now, FLOOD_WINDOW) => RateVerdict::Flooding(wait),
            Err(wait) => RateVerdict::Limited(wait),
        }
    }

    /// Counts a message that is not JSON. Whether the connection ends for it.
    #[must_use = "the connection must be closed when this is true"]
    pub(crate) fn bad_json(&mut self, now: Instant) -> bool {
        self.bad_json.strike(now, BAD_JSON_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_hundred_and_first_message_at_once_waits_for_one_credit() {
        let start = Instant::now();
        let mut traffic = Traffic::new(&TransportLimits::default());
        for n in 0..100 {
            assert_eq!(traffic.message(Cost::Message, start), RateVerdict::Pass, "message {n}");
        }
        assert_eq!(traffic.message(Cost::Message, start), RateVerdict::Limited(ms(200)));
        assert_eq!(traffic.message(Cost::Message, start + ms(200)), RateVerdict::Pass);
    }

    #[test]
    fn who_only_watches_has_fifty_messages() {
        let start = Instant::now();
        let mut traffic = Traffic::new(&TransportLimits::default());
        for n in 0..of_watchers(100) {
            assert_eq!(traffic.message(Cost::OfWatcher, start), RateVerdict::Pass, "message {n}");
        }
        assert_eq!(traffic.message(Cost::Free, start), RateVerdict::Pass);
        assert_eq!(traffic.message(Cost::OfWatcher, start), RateVerdict::Limited(ms(400)));
        assert_eq!(traffic.message(Cost::OfWatcher, start + ms(400)), RateVerdict::Pass);
    }

    #[test]
    fn the_third_refusal_in_a_minute_ends_the_connection() {
        let start = Instant::now();
        let mut traffic = Traffic::new(&TransportLimits { messages: 1, ..TransportLimits::default() });
        assert_eq!(traffic.message(Cost::Message, start), RateVerdict::Pass);
        assert!(matches!(traffic.message(Cost::Message, start), RateVerdict::Limited(_)));
        assert!(matches!(traffic.message(Cost::Message, start), RateVerdict::Limited(_)));
        assert!(matches!(traffic.message(Cost::Message, start + ms(1)), RateVerdict::Flooding(_)));
    }

    #[test]
    fn refusals_far_apart_do_not_add_up() {
        let start = Instant::now();
        let mut traffic = Traffic::new(&TransportLimits { messages: 1, ..TransportLimits::default() });
        for minute in 0..6 {
            let now = start + Duration::from_secs(31 * minute);
            assert_eq!(traffic.message(Cost::Message, now), RateVerdict::Pass);
            assert!(
                matches!(traffic.message(Cost::Message, now), RateVerdict::Limited(_)),
                "minute {minute}"
            );
        }
    }

    #[test]
    fn five_bad_messages_in_ten_seconds_are_too_many_and_five_in_eleven_are_not() {
        let start = Instant::now();
        let strikes = |times: [u64; 5]| {
            let mut traffic = Traffic::new(&TransportLimits::default());
            times.map(|at| traffic.bad_json(start + ms(at)))
        };
        assert_eq!(strikes([0, 0, 0, 0, 10_000]), [false, false, false, false, true]);
        assert_eq!(strikes([0, 0, 0, 0, 10_001]), [false; 5]);
    }
}
