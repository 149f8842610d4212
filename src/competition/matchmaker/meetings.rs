//! How many pairs two bots have played within a day, as far as anybody has asked the store. Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::model::ids::PlayerId;

/// Meetings that are remembered. Beyond, all are forgotten and read from the store again.
const MEETINGS_MAX: usize = 20_000;

/// How long a number that was read holds. The day goes on meanwhile, so that the bound is kept to about an hour.
const HOLDS: Duration = Duration::from_hours(1);

/// Two bots in either order.
type PairKey = (PlayerId, PlayerId);

/// Pairs of the last day.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meetings {
    known: HashMap<PairKey, KnownMeetings>,
}

#[derive(Clone, Copy, Debug)]
struct KnownMeetings {
    pairs: u32,
    read_at: Instant,
}

impl Meetings {
    fn key(a: &PlayerId, b: &PlayerId) -> PairKey {
        if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) }
    }

    /// How many pairs they have played, `None` if the store must be asked.
    pub(crate) fn pairs(&self, a: &PlayerId, b: &PlayerId, now: Instant) -> Option<u32> {
        let known = self.known.get(&Self::key(a, b))?;
        (now.saturating_duration_since(known.read_at) < HOLDS).then_some(known.pairs)
    }

    /// What the store says.
    pub(crate) fn learn(&mut self, a: &PlayerId, b: &PlayerId, pairs: u32, now: Instant) {
        if self.known.len() >= MEETINGS_MAX {
            self.known.clear();
        }
        self.known.insert(Self::key(a, b), KnownMeetings { pairs, read_at: now });
    }

    /// One more begins.
    pub(crate) fn add(&mut self, a: &PlayerId, b: &PlayerId) {
        if let Some(known) = self.known.get_mut(&Self::key(a, b)) {
            known.pairs = known.pairs.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::now;

    fn id(n: usize) -> PlayerId {
        format!("b{n}").parse().unwrap()
    }

    #[test]
    fn meetings_count_in_either_order_until_they_are_old() {
        let (mut meetings, now) = (Meetings::default(), now());
        meetings.add(&id(1), &id(2));
        assert_eq!(meetings.pairs(&id(1), &id(2), now), None, "nobody has asked the store");
        meetings.learn(&id(1), &id(2), 5, now);
        meetings.add(&id(2), &id(1));
        assert_eq!(meetings.pairs(&id(2), &id(1), now), Some(6));
        assert_eq!(meetings.pairs(&id(2), &id(1), now + HOLDS), None);
    }

    #[test]
    fn there_are_never_too_many() {
        let (mut meetings, now) = (Meetings::default(), now());
        for n in 1..=MEETINGS_MAX + 1 {
            meetings.learn(&id(0), &id(n), 1, now);
        }
        assert_eq!(meetings.known.len(), 1);
    }
}
