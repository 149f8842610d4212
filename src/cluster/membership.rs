//! Who lives. A node beats in the database; others see there who has stopped. None of this keeps the arena safe, which
//! the database's own locks do: it only says when to stop, and whom to replace.

use std::time::{Duration, Instant};

use super::Incarnation;

/// How long a beat counts. Shorter, and a pause of the machine costs a node its games; longer, and games stand still
/// for longer when one is lost.
pub(crate) const LEASE: Duration = Duration::from_secs(5);

/// Between two beats: four may be lost.
pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(1);

/// From here on after its last good beat was *sent* a node lets its rooms stand still: two thirds of the lease, so that
/// it has stopped before others may replace it.
pub(crate) const FREEZE_AFTER: Duration = Duration::from_millis(3_300);

/// Between two looks at the beats of others.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// By so much later looks whoever is the next in rank: one is first as a rule, and the others find it done.
const LOOK_LATER: Duration = Duration::from_millis(100);

/// Nobody replaces others who has not beaten well for so long: after an outage of the database all beat first.
const STEADY_AFTER: Duration = Duration::from_millis(2_500);

/// Beats further apart than this are not steady.
const STEADY_GAP_MAX: Duration = Duration::from_secs(2);

/// A beat as old as this is one too many: if the database's session of its process is gone too, so is the process.
const MISSED_AFTER: Duration = Duration::from_millis(1_500);

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

    /// Whether others may hold this node for dead soon: nothing must happen that needs no commit.
    pub(crate) fn is_frozen(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.good) >= FREEZE_AFTER
    }

    /// Whether this node may replace others.
    pub(crate) fn may_take_over(&self, now: Instant) -> bool {
        let is_fresh = now.saturating_duration_since(self.good) < STEADY_GAP_MAX;
        is_fresh && self.good.saturating_duration_since(self.steady_since) >= STEADY_AFTER
    }
}

/// When a node looks again at the beats of others. The oldest has rank 0.
pub(crate) fn look_again_after(rank: usize) -> Duration {
    LOOK_EVERY + LOOK_LATER * u32::try_from(rank).unwrap_or(u32::MAX).min(10)
}

/// A node's last beat, by the clock of the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beat {
    pub(crate) node: Incarnation,
    pub(crate) age: Duration,
    /// The database holds a session open for as long as its process lives and can be reached.
    pub(crate) has_session: bool,
}

impl Beat {
    /// Whether its node is to be replaced.
    pub(crate) fn is_over(&self) -> bool {
        self.age >= LEASE || (self.age >= MISSED_AFTER && !self.has_session)
    }
}

/// Whom to replace, if anybody.
pub(crate) fn lost(beats: &[Beat], me: Incarnation) -> Option<Incarnation> {
    beats.iter().find(|beat| beat.node != me && beat.is_over()).map(|beat| beat.node)
}

mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_node_stops_before_others_may_replace_it() {
        let start = Instant::now();
        let mut lease = Lease::joined(start);
        assert!(!lease.is_beat_due(start + ms(999)) && lease.is_beat_due(start + ms(1_000)));
        lease.beat_sent(start + ms(1_000));
        assert!(!lease.is_beat_due(start + ms(1_999)), "one is under way");
        assert!(lease.is_frozen(start + ms(3_300)), "it was not answered");
        lease.renewed(start + ms(1_000));
        assert!(!lease.is_frozen(start + ms(4_299)) && lease.is_frozen(start + ms(4_300)));
        assert!(FREEZE_AFTER < LEASE);
    }

    #[test]
    fn after_an_outage_all_beat_before_anybody_is_replaced() {
        let start = Instant::now();
        let mut lease = Lease::joined(start);
        let mut beat = |at: u64| {
            lease.beat_sent(start + ms(at));
            lease.renewed(start + ms(at));
            lease.may_take_over(start + ms(at))
        };
        assert_eq!([0, 1_000, 2_000, 3_000].map(&mut beat), [false, false, false, true]);
        assert_eq!([20_000, 21_000, 22_000, 23_000].map(&mut beat), [false, false, false, true]);
        assert!(!lease.may_take_over(start + ms(25_000)), "it has not beaten lately");
    }

    #[test]
    fn a_process_that_is_gone_is_replaced_sooner_than_one_that_is_silent() {
        let beat = |node: u64, age: u64, has_session: bool| Beat {
            node: Incarnation(node),
            age: ms(age),
            has_session,
        };
        let me = Incarnation(1);
        for (beats, expected) in [
            (vec![beat(1, 9_000, false), beat(2, 100, true)], None),
            (vec![beat(2, 4_999, true), beat(3, 1_499, false)], None),
            (vec![beat(2, 4_999, true), beat(3, 1_500, false)], Some(Incarnation(3))),
            (vec![beat(2, 5_000, true)], Some(Incarnation(2))),
        ] {
            assert_eq!(lost(&beats, me), expected, "{beats:?}");
        }
        assert!(look_again_after(0) < look_again_after(1));
    }

    proptest! {
        /// However beats are lost and delayed: no node goes on while its lease is over.
        #[test]
        fn nobody_goes_on_without_a_lease(beats in prop::collection::vec((0..3_000_u64, prop::option::of(0..4_000_u64)), 1..40)) {
            let start = Instant::now();
            let (mut lease, mut at, mut taken) = (Lease::joined(start), start, start);
            for (pause, delay) in beats {
                at += ms(pause);
                lease.beat_sent(at);
                // The lease runs from when the database takes it, which is after it was sent.
                if let Some(delay) = delay {
                    lease.renewed(at);
                    taken = taken.max(at + ms(delay / 4));
                }
                prop_assert!(lease.is_frozen(taken + LEASE));
            }
        }
    }
}
