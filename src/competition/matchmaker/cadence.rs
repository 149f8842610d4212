//! How often the ladder gives people's programs a pair of games. Pure.
//!
//! A fast program could play twenty games a second. Nobody could watch one, its lists and those of its opponents would
//! show nothing else, and learners would learn from nobody else.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use crate::model::ids::PlayerId;

/// Over this time pairs are counted.
const PERIOD: Duration = Duration::from_mins(1);

/// How many pairs a remote bot begins within a minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PairsPerMinute {
    /// Against all opponents together.
    pub(crate) all: u32,
    /// Against the same one.
    pub(crate) same: u32,
}

impl PairsPerMinute {
    /// With as many as the bot's author wants, if that is fewer.
    pub(crate) fn at_most(self, wanted: Option<NonZeroU16>) -> Self {
        let all = wanted.map_or(self.all, |wanted| self.all.min(wanted.get().into()));
        Self { all, ..self }
    }
}

/// A pair that has begun.
#[derive(Clone, Debug)]
struct Begun {
    at: Instant,
    opponent: PlayerId,
}

/// The pairs of the last minute, by remote bot, the oldest first. As many as the limits let begin, so few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cadence(HashMap<PlayerId, VecDeque<Begun>>);

impl Cadence {
    /// Takes note of a pair of a remote bot.
    pub(crate) fn note(&mut self, bot: &PlayerId, opponent: &PlayerId, now: Instant) {
        self.0.entry(bot.clone()).or_default().push_back(Begun { at: now, opponent: opponent.clone() });
    }

    /// Forgets what is over.
    pub(crate) fn pass(&mut self, now: Instant) {
        self.0.retain(|_, begun| {
            begun.retain(|pair| is_recent(pair, now));
            !begun.is_empty()
        });
    }

    /// Whether this bot may begin another pair, whoever is the opponent.
    pub(crate) fn may_play(&self, bot: &PlayerId, limits: PairsPerMinute, now: Instant) -> bool {
        self.count(bot, now, |_| true) < limits.all as usize
    }

    /// Whether it may begin another pair against this one.
    pub(crate) fn may_meet(
        &self,
        bot: &PlayerId,
        opponent: &PlayerId,
        limits: PairsPerMinute,
        now: Instant,
    ) -> bool {
        self.count(bot, now, |pair| pair.opponent == *opponent) < limits.same as usize
    }

    fn count(&self, bot: &PlayerId, now: Instant, counts: impl Fn(&Begun) -> bool) -> usize {
        let begun = self.0.get(bot).into_iter().flatten();
        begun.filter(|pair| is_recent(pair, now) && counts(pair)).count()
    }
}

fn is_recent(pair: &Begun, now: Instant) -> bool {
    now.saturating_duration_since(pair.at) < PERIOD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::now;

    const LIMITS: PairsPerMinute = PairsPerMinute { all: 3, same: 2 };

    fn id(name: &str) -> PlayerId {
        name.parse().unwrap()
    }

    #[test]
    fn a_minute_has_few_pairs_and_fewer_with_the_same_opponent() {
        let (mut cadence, start) = (Cadence::default(), now());
        let (hal, mia, leo) = (id("hal"), id("mia"), id("leo"));
        for seconds in [0, 1] {
            assert!(cadence.may_meet(&hal, &mia, LIMITS, start));
            cadence.note(&hal, &mia, start + Duration::from_secs(seconds));
        }
        let later = start + Duration::from_secs(2);
        assert!(!cadence.may_meet(&hal, &mia, LIMITS, later) && cadence.may_meet(&hal, &leo, LIMITS, later));
        assert!(cadence.may_play(&hal, LIMITS, later));
        cadence.note(&hal, &leo, later);
        assert!(!cadence.may_play(&hal, LIMITS, later) && cadence.may_play(&mia, LIMITS, later));
        let next = start + PERIOD;
        assert!(cadence.may_play(&hal, LIMITS, next) && cadence.may_meet(&hal, &mia, LIMITS, next));
    }

    #[test]
    fn authors_may_want_fewer_and_get_no_more() {
        let wanted = |pairs| LIMITS.at_most(NonZeroU16::new(pairs));
        assert_eq!(wanted(1), PairsPerMinute { all: 1, same: 2 });
        assert_eq!([wanted(0), wanted(3), wanted(u16::MAX)], [LIMITS; 3]);
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let (mut cadence, start) = (Cadence::default(), now());
        cadence.note(&id("hal"), &id("mia"), start);
        cadence.pass(start + (PERIOD.saturating_sub(Duration::from_millis(1))));
        assert_eq!(cadence.0.len(), 1);
        cadence.pass(start + PERIOD);
        assert!(cadence.0.is_empty());
    }
}
