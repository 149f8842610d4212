//! The server's pings and the answers to them: pure, the caller says what time it is.

use std::time::{Duration, Instant};

use bytes::Bytes;

/// Pings in a row without a pong that end the connection.
const MISSED_MAX: u64 = 2;

/// What was pinged and what came back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heartbeat {
    /// The last ping, from 1.
    sent: u64,
    /// When the last two pings left, by the parity of their number.
    left: [Option<Instant>; 2],
    /// The last ping that was answered.
    answered: u64,
}

impl Heartbeat {
    /// Whether as many pings are unanswered as may be missed. The last one may still be on its way.
    pub(super) fn is_faint(&self) -> bool {
        self.sent - self.answered >= MISSED_MAX
    }

    /// The payload of the next ping.
    pub(super) fn beat(&mut self, now: Instant) -> Bytes {
        self.sent += 1;
        *self.left_at(self.sent) = Some(now);
        Bytes::copy_from_slice(&self.sent.to_be_bytes())
    }

    /// The round trip of a ping that was not answered yet. Pongs that answer nothing are ignored.
    pub(super) fn pong(&mut self, payload: &[u8], received: Instant) -> Option<Duration> {
        let number = u64::from_be_bytes(payload.try_into().ok()?);
        let is_remembered = number <= self.sent && self.sent - number < self.left.len() as u64;
        if !is_remembered || number <= self.answered {
            return None;
        }
        self.answered = number;
        let left = (*self.left_at(number))?;
        Some(received.saturating_duration_since(left))
    }

    fn left_at(&mut self, number: u64) -> &mut Option<Instant> {
        let [even, odd] = &mut self.left;
        if number.is_multiple_of(2) { even } else { odd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_pong_measures_its_own_ping_once() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::default();
        let first = heartbeat.beat(start);
        let second = heartbeat.beat(start + ms(100));
        assert_eq!(heartbeat.pong(&first, start + ms(130)), Some(ms(130)));
        assert_eq!(heartbeat.pong(&first, start + ms(131)), None);
        assert_eq!(heartbeat.pong(&second, start + ms(140)), Some(ms(40)));
    }

    #[test]
    fn an_answer_makes_up_for_the_misses_before_it() {
        let now = Instant::now();
        let mut heartbeat = Heartbeat::default();
        heartbeat.beat(now);
        assert!(!heartbeat.is_faint());
        let second = heartbeat.beat(now);
        assert!(heartbeat.is_faint());
        heartbeat.pong(&second, now);
        assert!(!heartbeat.is_faint());
    }

    #[test]
    fn pongs_that_answer_nothing_are_ignored() {
        let now = Instant::now();
        let mut heartbeat = Heartbeat::default();
        let first = heartbeat.beat(now);
        for payload in [&b""[..], b"x", &[0; 8], &[0xff; 8], &2_u64.to_be_bytes(), &[0; 9]] {
            assert_eq!(heartbeat.pong(payload, now), None, "{payload:?}");
        }
        heartbeat.beat(now);
        assert!(heartbeat.is_faint(), "none of them counted as an answer");
        heartbeat.beat(now);
        assert_eq!(heartbeat.pong(&first, now), None, "too long ago to know when it left");
    }
}
