//! How often a large crowd is told of moves: pure, the caller says what time it is.
//!
//! Telling five hundred watchers keeps a processor busy for some milliseconds, in which the moves of other games wait.
//! At the pace of people that is nothing; bots play a hundred moves a second, and nobody can follow them.

use std::time::{Duration, Instant};

/// From so many watchers on, moves in quick succession are told together. Fewer cost less than what is saved.
const CROWD_MIN: u32 = 32;
/// How often such a crowd is told of moves.
const EVERY: Duration = Duration::from_millis(100);

/// When the crowd of one game was told of a move, and what it has not been told yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CrowdPace {
    told: Option<Instant>,
    skipped: u64,
}

impl CrowdPace {
    /// A move was played. False if the crowd is not told of it, but of a snapshot when that is [`Self::due`].
    pub(super) fn tells_move(&mut self, watching: u32, now: Instant) -> bool {
        let is_soon = self.told.is_some_and(|told| now < told + EVERY);
        if self.skipped > 0 || (is_soon && watching >= CROWD_MIN) {
            self.skipped += 1;
            return false;
        }
        self.told = Some(now);
        true
    }

    /// When a snapshot makes up for moves that were not told.
    pub(super) fn due(&self) -> Option<Instant> {
        self.told.filter(|_| self.skipped > 0).map(|told| told + EVERY)
    }

    /// The crowd is told all now: how many moves it was not told, if there were any.
    pub(super) fn catch_up(&mut self, now: Instant) -> Option<u64> {
        let skipped = std::mem::take(&mut self.skipped);
        (skipped > 0).then(|| {
            self.told = Some(now);
            skipped
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_sees_at_most_ten_positions_a_second() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut pace = CrowdPace::default();
        assert!(pace.tells_move(500, at(0)) && pace.due().is_none());
        assert!(!pace.tells_move(500, at(30)) && !pace.tells_move(500, at(99)));
        assert_eq!(pace.due(), Some(at(100)));
        assert!(!pace.tells_move(500, at(120)), "the snapshot goes first");
        assert_eq!((pace.catch_up(at(120)), pace.due()), (Some(3), None));
        assert!(!pace.tells_move(500, at(200)), "the snapshot counts as told");
        assert_eq!(pace.catch_up(at(220)), Some(1));
        assert!(pace.tells_move(500, at(320)));
        assert_eq!(pace.catch_up(at(321)), None);
    }

    #[test]
    fn a_few_see_every_move() {
        let start = Instant::now();
        let mut pace = CrowdPace::default();
        assert!((0..10).all(|_| pace.tells_move(CROWD_MIN - 1, start)));
    }
}
