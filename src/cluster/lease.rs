//! How a node knows that it lives: it beats in the database, and counts from when its last good beat was sent.

use std::time::{Duration, Instant};

/// How long a beat counts. Shorter, and a pause of the machine costs a node its games; longer, and games stand still
/// for longer when one is lost.
pub(crate) const LEASE: Duration = Duration::from_secs(5);

/// Between two beats: four may be lost.
pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(1);

/// Nobody replaces others who has not beaten well for so long: after an outage of the database all beat first.
const STEADY_AFTER: Duration = Duration::from_millis(2_500);

/// Beats further apart than this are not steady.
const STEADY_GAP_MAX: Duration = Duration::from_secs(2);

/// What a node knows of its own life.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    /// When the last beat was sent, answered or not.
    sent: Instant,
    /// When the last one was sent that was answered.
    good: Instant,
    /// Since when they have come one after the other.
    steady_since: Instant,
}

impl Lease {
    /// A node has joined, which was its first beat.
    pub(crate) fn joined(sent: Instant) -> Self {
        Self { sent, good: sent, steady_since: sent }
    }

    pub(crate) fn is_beat_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.sent) >= BEAT_EVERY
    }

    pub(crate) fn beat_sent(&mut self, now: Instant) {
        self.sent = now;
    }

    /// The database has taken the beat that was sent then.
    pub(crate) fn renewed(&mut self, sent: Instant) {
        if sent.saturating_duration_since(self.good) > STEADY_GAP_MAX {
            self.steady_since = sent;
        }
        self.good = self.good.max(sent);
    }

    /// The database was not reached, or not as before: whoever looks at it now may see less than there is.
    pub(crate) fn shaken(&mut self, now: Instant) {
        self.steady_since = now;
    }

    /// When the last good beat was sent.
    #[cfg(test)]
    pub(crate) fn last_good(&self) -> Instant {
        self.good
    }

    /// Whether this node may replace others.
    pub(crate) fn may_take_over(&self, now: Instant) -> bool {
        let is_fresh = now.saturating_duration_since(self.good) < STEADY_GAP_MAX;
        is_fresh && self.good.saturating_duration_since(self.steady_since) >= STEADY_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_beat_is_due_a_second_after_the_last_one_was_sent() {
        let start = Instant::now();
        let mut lease = Lease::joined(start);
        assert!(!lease.is_beat_due(start + ms(999)) && lease.is_beat_due(start + ms(1_000)));
        lease.beat_sent(start + ms(1_000));
        assert!(!lease.is_beat_due(start + ms(1_999)), "one is under way");
    }

    #[test]
    fn after_an_outage_all_beat_before_anybody_is_replaced() {
        let start = Instant::now();
        let mut lease = Lease::joined(start);
        let beat_at = |lease: &mut Lease, at: u64| {
            lease.beat_sent(start + ms(at));
            lease.renewed(start + ms(at));
            lease.may_take_over(start + ms(at))
        };
        let mut beats = |times: [u64; 4]| times.map(|at| beat_at(&mut lease, at));
        assert_eq!(beats([0, 1_000, 2_000, 3_000]), [false, false, false, true]);
        assert_eq!(beats([20_000, 21_000, 22_000, 23_000]), [false, false, false, true]);
        assert!(!lease.may_take_over(start + ms(25_000)), "it has not beaten lately");
        lease.shaken(start + ms(23_500));
        assert_eq!([24_000, 25_000, 26_000].map(|at| beat_at(&mut lease, at)), [false, false, true]);
    }
}
