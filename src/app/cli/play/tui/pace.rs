//! How fast two bots play that somebody watches. Pure: time is counted in ticks.

use std::time::Duration;

/// The unit of time of the screen: short enough for a clock of tenths of seconds.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Ticks between two moves, from fast to slow.
const DELAYS: [u32; 6] = [0, 2, 5, 10, 20, 50];

/// One move a second, and whatever the bots need.
const DEFAULT_DELAY: usize = 3;

/// Decides when the next move may come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MovePace {
    /// An index of [`DELAYS`].
    delay: usize,
    run: PaceRun,
    /// Ticks until the next move.
    left: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PaceRun {
    On,
    Paused,
    /// One move, then paused.
    OneMove,
}

impl Default for MovePace {
    fn default() -> Self {
        Self { delay: DEFAULT_DELAY, run: PaceRun::On, left: 0 }
    }
}

impl MovePace {
    /// Whether the next move may come now.
    pub(super) fn is_due(&self) -> bool {
        match self.run {
            PaceRun::On => self.left == 0,
            PaceRun::Paused => false,
            PaceRun::OneMove => true,
        }
    }

    /// Whether the next move comes by itself after some ticks.
    pub(super) fn is_waiting(&self) -> bool {
        self.run == PaceRun::On && self.left > 0
    }

    pub(super) fn is_paused(&self) -> bool {
        self.run == PaceRun::Paused
    }

    /// Time between two moves beyond what the bots need.
    pub(super) fn delay(&self) -> Duration {
        TICK * DELAYS[self.delay]
    }

    pub(super) fn tick(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// A move was played: the next one waits.
    pub(super) fn moved(&mut self) {
        self.rest();
        if self.run == PaceRun::OneMove {
            self.run = PaceRun::Paused;
        }
    }

    /// Begins a wait before the next move.
    pub(super) fn rest(&mut self) {
        self.left = DELAYS[self.delay];
    }

    pub(super) fn pause(&mut self) {
        self.run = PaceRun::Paused;
    }

    pub(super) fn toggle(&mut self) {
        self.run = match self.run {
            PaceRun::On | PaceRun::OneMove => PaceRun::Paused,
            PaceRun::Paused => PaceRun::On,
        };
        self.left = 0;
    }

    pub(super) fn step(&mut self) {
        self.run = PaceRun::OneMove;
    }

    pub(super) fn faster(&mut self) {
        self.set_delay(self.delay.saturating_sub(1));
    }

    pub(super) fn slower(&mut self) {
        self.set_delay((self.delay + 1).min(DELAYS.len() - 1));
    }

    fn set_delay(&mut self, delay: usize) {
        self.delay = delay;
        self.left = self.left.min(DELAYS[delay]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_wait_for_their_time() {
        let mut pace = MovePace::default();
        assert!(pace.is_due(), "the first move comes at once");
        pace.moved();
        for _ in 0..10 {
            assert!(!pace.is_due() && pace.is_waiting());
            pace.tick();
        }
        assert!(pace.is_due() && !pace.is_waiting());
    }

    #[test]
    fn a_step_is_one_move() {
        let mut pace = MovePace::default();
        pace.pause();
        assert!(pace.is_paused() && !pace.is_due() && !pace.is_waiting());
        pace.step();
        assert!(pace.is_due());
        pace.moved();
        assert!(pace.is_paused() && !pace.is_due());
        pace.toggle();
        assert!(pace.is_due(), "who waits for the next move has waited long enough");
    }

    #[test]
    fn the_pace_has_a_fastest_and_a_slowest() {
        let mut pace = MovePace::default();
        (0..20).for_each(|_| pace.slower());
        assert_eq!(pace.delay(), Duration::from_secs(5));
        pace.moved();
        (0..20).for_each(|_| pace.faster());
        assert_eq!(pace.delay(), Duration::ZERO);
        assert!(pace.is_due(), "a shorter wait counts for the wait that has begun");
    }
}
