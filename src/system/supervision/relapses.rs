//! When a part that failed begins again: pure.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time within which failures count together.
const WINDOW: Duration = Duration::from_mins(1);

/// With so many within [`WINDOW`] a part pauses. One or two are bad luck with an input; whatever comes after them may
/// be sent again and again, and each beginning costs reads of the store.
const FAILURES_MAX: usize = 3;

/// The first pause. Each that follows without a good minute in between is twice as long.
const PAUSE_MIN: Duration = Duration::from_secs(10);

/// The longest one: whoever mends the cause does not want to wait longer.
const PAUSE_MAX: Duration = Duration::from_mins(5);

/// What a part that failed does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NextLife {
    AtOnce,
    After(Duration),
}

/// The failures of one part.
#[derive(Debug, Default)]
pub(super) struct Relapses {
    recent: VecDeque<Instant>,
    /// Pauses without a good minute in between.
    pauses: u32,
    /// Until then one failure is enough for a pause: the last one ended not long ago.
    trial_until: Option<Instant>,
}

impl Relapses {
    /// The part has failed once more.
    pub(super) fn failed(&mut self, now: Instant) -> NextLife {
        let is_on_trial = self.trial_until.is_some_and(|until| now < until);
        if !is_on_trial {
            self.pauses = 0;
            self.recent.retain(|at| now.saturating_duration_since(*at) < WINDOW);
            self.recent.push_back(now);
            if self.recent.len() < FAILURES_MAX {
                return NextLife::AtOnce;
            }
        }
        let pause = PAUSE_MIN.saturating_mul(2_u32.saturating_pow(self.pauses)).min(PAUSE_MAX);
        self.recent.clear();
        self.pauses = self.pauses.saturating_add(1);
        self.trial_until = Some(now + pause + WINDOW);
        NextLife::After(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(failures_s: &[u64], pauses_s: &[u64]) {
        let (mut relapses, start) = (Relapses::default(), Instant::now());
        let pause = |at: &u64| match relapses.failed(start + Duration::from_secs(*at)) {
            NextLife::AtOnce => 0,
            NextLife::After(pause) => pause.as_secs(),
        };
        assert_eq!(failures_s.iter().map(pause).collect::<Vec<_>>(), pauses_s, "{failures_s:?}");
    }

    #[test]
    fn a_part_that_fails_three_times_in_a_minute_pauses() {
        check(&[0, 1, 2], &[0, 0, 10]);
        check(&[0, 29, 59], &[0, 0, 10]);
        check(&[0, 29, 60, 90, 120], &[0, 0, 0, 0, 0]);
    }

    #[test]
    fn pauses_double_until_a_minute_was_good() {
        check(&[0, 0, 0, 10, 31, 72], &[0, 0, 10, 20, 40, 80]);
        check(&[0, 0, 0, 10, 30, 70, 150, 310, 610], &[0, 0, 10, 20, 40, 80, 160, 300, 300]);
        check(&[0, 0, 0, 70, 70, 70], &[0, 0, 10, 0, 0, 10]);
    }
}
