//! Bots that break off: paused after three faults, and let back after two pairs without one. Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::model::fault::Fault;
use crate::model::ids::PlayerId;

/// Faults in a row that pause a bot: one may be a bad network, three are a bad bot.
const FAULTS_MAX: u32 = 3;

/// The first pause. Each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_mins(5);

/// The longest pause: whoever mends a bot in the evening sees it play the next day.
const PAUSE_MAX: Duration = Duration::from_hours(24);

/// Pairs without a fault after which a bot is trusted again.
const CLEAN_PAIRS: u32 = 2;

/// Whether a bot may be paired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// It may.
    Fit,
    /// It may play one pair at a time, to show that it is well again.
    Probing(Fault),
    /// Not before then.
    Paused(Fault, Instant),
}

/// What has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HealthNews {
    /// It is paused for so long.
    Paused(Fault, Duration),
    /// It is trusted again.
    Back,
}

#[derive(Clone, Copy, Debug)]
struct FaultRecord {
    faults: u32,
    last: Fault,
    pause: Option<Pause>,
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    until: Instant,
    length: Duration,
    /// Pairs without a fault since it ended.
    clean: u32,
}

/// The record of every bot that has broken off. Who has not, is not in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotHealth {
    records: HashMap<PlayerId, FaultRecord>,
}

impl BotHealth {
    /// Whether a bot may be paired now.
    pub(crate) fn condition(&self, bot: &PlayerId, now: Instant) -> Condition {
        match self.records.get(bot) {
            Some(FaultRecord { last, pause: Some(pause), .. }) if pause.until > now => {
                Condition::Paused(*last, pause.until)
            }
            Some(FaultRecord { last, pause: Some(_), .. }) => Condition::Probing(*last),
            Some(FaultRecord { pause: None, .. }) | None => Condition::Fit,
        }
    }

    /// All bots that are paused or being probed.
    pub(crate) fn troubled(&self, now: Instant) -> impl Iterator<Item = (&PlayerId, Condition)> {
        let conditions = self.records.keys().map(move |bot| (bot, self.condition(bot, now)));
        conditions.filter(|(_, condition)| *condition != Condition::Fit)
    }

    /// A bot has broken off a game.
    pub(crate) fn fault(&mut self, bot: &PlayerId, fault: Fault, now: Instant) -> Option<HealthNews> {
        let new = FaultRecord { faults: 0, last: fault, pause: None };
        let record = self.records.entry(bot.clone()).or_insert(new);
        record.faults += 1;
        record.last = fault;
        let length = match &record.pause {
            Some(pause) if pause.until > now => return None, // of a game that was under way
            Some(pause) => (pause.length * 2).min(PAUSE_MAX),
            None if record.faults >= FAULTS_MAX => PAUSE_FIRST,
            None => return None,
        };
        record.pause = Some(Pause { until: now + length, length, clean: 0 });
        Some(HealthNews::Paused(fault, length))
    }

    /// A bot has shown elsewhere that it is mended: it plays single pairs again, as if its pause were over.
    pub(crate) fn release(&mut self, bot: &PlayerId, now: Instant) {
        if let Some(FaultRecord { pause: Some(pause), .. }) = self.records.get_mut(bot) {
            pause.until = pause.until.min(now);
        }
    }

    /// A bot has played a pair to its end without breaking off.
    pub(crate) fn clean_pair(&mut self, bot: &PlayerId, now: Instant) -> Option<HealthNews> {
        let record = self.records.get_mut(bot)?;
        match &mut record.pause {
            Some(pause) if pause.until > now => None,
            Some(pause) if pause.clean + 1 < CLEAN_PAIRS => {
                pause.clean += 1;
                None
            }
            Some(_) => {
                self.records.remove(bot);
                Some(HealthNews::Back)
            }
            None => {
                self.records.remove(bot);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::now;

    fn bot() -> PlayerId {
        "b1".parse().unwrap()
    }

    /// A bot that has just been paused, and when its pause ends.
    fn paused(now: Instant) -> (BotHealth, Instant) {
        let mut health = BotHealth::default();
        for _ in 1..FAULTS_MAX {
            assert_eq!(health.fault(&bot(), Fault::Time, now), None);
        }
        assert_eq!(
            health.fault(&bot(), Fault::Absent, now),
            Some(HealthNews::Paused(Fault::Absent, PAUSE_FIRST))
        );
        (health, now + PAUSE_FIRST)
    }

    #[test]
    fn who_passes_a_test_need_not_wait() {
        let now = now();
        let (mut health, until) = paused(now);
        health.release(&bot(), now);
        assert!(now < until && health.condition(&bot(), now) == Condition::Probing(Fault::Absent));
        health.release(&"b2".parse().unwrap(), now);
        assert!(
            matches!(health.fault(&bot(), Fault::Failed, now), Some(HealthNews::Paused(..))),
            "once more, and longer"
        );
    }

    #[test]
    fn the_third_fault_pauses() {
        let now = now();
        let (health, until) = paused(now);
        assert_eq!(health.condition(&bot(), now), Condition::Paused(Fault::Absent, until));
        assert_eq!(health.condition(&bot(), until), Condition::Probing(Fault::Absent));
        assert_eq!(health.troubled(now).count(), 1);
        assert_eq!(health.condition(&"other".parse().unwrap(), now), Condition::Fit);
    }

    #[test]
    fn a_clean_pair_forgives_and_two_let_back() {
        let now = now();
        let mut health = BotHealth::default();
        health.fault(&bot(), Fault::Illegal, now);
        assert_eq!(health.clean_pair(&bot(), now), None);
        for _ in 1..FAULTS_MAX {
            assert_eq!(health.fault(&bot(), Fault::Time, now), None, "counting begins anew");
        }
        let (mut health, until) = paused(now);
        assert_eq!(health.clean_pair(&bot(), now), None, "a pair that began before the pause");
        assert_eq!(health.clean_pair(&bot(), until), None);
        assert_eq!(health.clean_pair(&bot(), until), Some(HealthNews::Back));
        assert_eq!(health.condition(&bot(), now), Condition::Fit);
        assert_eq!(health.clean_pair(&bot(), now), None);
    }

    #[test]
    fn pauses_grow_but_not_for_ever() {
        let now = now();
        let (mut health, mut until) = paused(now);
        assert_eq!(health.fault(&bot(), Fault::Failed, now), None, "it is paused already");
        let mut lengths = Vec::new();
        for _ in 0..12 {
            let Some(HealthNews::Paused(_, length)) = health.fault(&bot(), Fault::Failed, until) else {
                panic!()
            };
            lengths.push(length);
            until += length;
        }
        assert_eq!(lengths[0], 2 * PAUSE_FIRST);
        assert_eq!(lengths[11], PAUSE_MAX);
    }
}
