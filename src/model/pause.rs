//! Times in which the daemon stood still, as its own heartbeat tells: pure. Nobody's clock runs in them.
//!
//! A process is stopped by a signal, with its virtual machine, for want of memory, or gets no processor. Timers that
//! were due meanwhile fire all at once when it goes on, those of flags perhaps before the heartbeat's own. So whoever
//! acts upon time looks at the log first, and finds the pause whoever comes first.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often the daemon notes that it runs. A pause begins with the last note, so up to this much is given back that
/// had passed before it.
pub(crate) const BEAT_EVERY: Duration = Duration::from_millis(250);
/// Longest time between two beats that is no pause: a busy machine lets a task wait sometimes.
pub(crate) const GAP_MAX: Duration = Duration::from_millis(500);
/// Pauses that are remembered. Games look at them at once, when they happen.
const KEPT_MAX: usize = 16;

/// A time in which the daemon stood still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pause {
    /// When it was last known to run.
    pub(crate) from: Instant,
    /// When it was found to run again.
    pub(crate) until: Instant,
}

impl Pause {
    /// The part of it between two moments.
    pub(crate) fn within(self, from: Instant, until: Instant) -> Duration {
        self.until.min(until).saturating_duration_since(self.from.max(from))
    }

    /// The same moment, later by the part of the pause that came after it.
    pub(crate) fn defer(self, moment: Instant) -> Instant {
        moment + self.within(moment, self.until)
    }

    pub(crate) fn length(self) -> Duration {
        self.until.saturating_duration_since(self.from)
    }
}

/// What the heartbeat has found. Nothing is found before the first beat.
#[derive(Clone, Debug, Default)]
pub(crate) struct PauseLog {
    beat: Option<Instant>,
    pauses: VecDeque<Pause>,
    /// Pauses so far, those among them that are forgotten.
    count: u64,
}

impl PauseLog {
    /// The daemon runs. True if it had stood still.
    pub(crate) fn beat(&mut self, now: Instant) -> bool {
        let found = self.look(now);
        self.beat = Some(now);
        found
    }

    /// Whether the heartbeat is late: the daemon has stood still, and nobody has noticed yet.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        self.beat.is_some_and(|beat| now.saturating_duration_since(beat) > GAP_MAX)
    }

    /// Notes a pause if the heartbeat is late. True if it was.
    pub(crate) fn look(&mut self, now: Instant) -> bool {
        let Some(from) = self.beat.filter(|_| self.is_late(now)) else { return false };
        if self.pauses.len() == KEPT_MAX {
            self.pauses.pop_front();
        }
        self.pauses.push_back(Pause { from, until: now });
        self.count += 1;
        self.beat = Some(now);
        true
    }

    /// How many pauses there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Those after the first `heard`, as far as they are remembered.
    pub(crate) fn after(&self, heard: u64) -> impl Iterator<Item = Pause> {
        let new = usize::try_from(self.count.saturating_sub(heard)).unwrap_or(usize::MAX);
        self.pauses.iter().skip(self.pauses.len().saturating_sub(new)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_late_beat_is_a_pause_from_the_last_one() {
        let start = Instant::now();
        let mut log = PauseLog::default();
        assert!(!log.look(start + ms(60_000)), "nobody beats");
        for beat in [0, 250, 500, 1_000] {
            assert!(!log.beat(start + ms(beat)));
        }
        assert!(log.beat(start + ms(1_501)));
        assert_eq!(
            log.after(0).collect::<Vec<_>>(),
            [Pause { from: start + ms(1_000), until: start + ms(1_501) }]
        );
        assert_eq!(log.after(1).count(), 0);
    }

    #[test]
    fn whoever_looks_first_finds_it_and_it_is_found_once() {
        let start = Instant::now();
        let mut log = PauseLog::default();
        log.beat(start);
        assert!(log.look(start + ms(15_000)), "a flag's timer came before the heartbeat's");
        assert!(!log.look(start + ms(15_000)) && !log.beat(start + ms(15_001)));
        assert!(log.look(start + ms(30_000)));
        let found: Vec<Pause> = log.after(0).collect();
        assert_eq!(found.iter().map(|pause| pause.length()).sum::<Duration>(), ms(15_000 + 14_999));
        assert_eq!((log.count(), log.after(1).count()), (2, 1));
    }

    #[test]
    fn the_oldest_pauses_are_forgotten() {
        let start = Instant::now();
        let mut log = PauseLog::default();
        for beat in 0..=20 {
            log.beat(start + ms(1_000 * beat));
        }
        assert_eq!((log.count(), log.after(0).count(), log.after(19).count()), (20, KEPT_MAX, 1));
    }

    #[test]
    fn only_the_part_within_counts() {
        let start = Instant::now();
        let pause = Pause { from: start + ms(100), until: start + ms(200) };
        let within = |from, until| pause.within(start + ms(from), start + ms(until));
        assert_eq!((within(0, 300), within(150, 300), within(0, 150)), (ms(100), ms(50), ms(50)));
        assert_eq!((within(0, 50), within(250, 300), within(300, 0)), (ms(0), ms(0), ms(0)));
        assert_eq!(pause.defer(start), start + ms(100));
        assert_eq!(pause.defer(start + ms(300)), start + ms(300));
    }
}
