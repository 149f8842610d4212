//! Who lives. A node beats in the database; others see there who has stopped. None of this keeps the arena safe, which
//! the database's own locks do: it only says when to stop, and whom to replace.

use std::time::{Duration, Instant};

use super::Incarnation;
use super::lease::{LEASE, Lease};

/// From here on after its last good beat was *sent* a node lets its rooms stand still: two thirds of the lease, so that
/// it has stopped before others may replace it.
pub(crate) const FREEZE_AFTER: Duration = Duration::from_millis(3_300);

/// Between two looks at the beats of others.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// By so much later looks whoever is the next in rank: one is first as a rule, and the others find it done.
const LOOK_LATER: Duration = Duration::from_millis(100);

/// A beat as old as this is one too many: if the database's session of its process is gone too, so is the process.
const MISSED_AFTER: Duration = Duration::from_millis(1_500);

impl Lease {
    /// Whether others may hold this node for dead soon: nothing must happen that needs no commit.
    pub(crate) fn is_frozen(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_good()) >= FREEZE_AFTER
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
        lease.beat_sent(start + ms(1_000));
        assert!(lease.is_frozen(start + ms(3_300)), "it was not answered");
        lease.renewed(start + ms(1_000));
        assert!(!lease.is_frozen(start + ms(4_299)) && lease.is_frozen(start + ms(4_300)));
        assert!(FREEZE_AFTER < LEASE);
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
