//! A seat that the server itself keeps waiting: its clock begins when it can begin to think.

use std::time::{Duration, Instant};

use fourfold_engine::Side;

use super::{Effect, Effects, RoomState};

/// How long a clock stands for that at most. Threads are given in turn, and none is kept for longer than a few seconds;
/// beyond this the opponent has waited long enough.
const HELD_MAX: Duration = Duration::from_mins(5);

/// From this wait on everybody is told again what the clocks are: they have counted on meanwhile.
const HELD_TOLD: Duration = Duration::from_millis(500);

impl RoomState {
    /// The side to move has been asked and cannot begin. Nothing is charged to it until it can.
    pub(crate) fn hold(&mut self, side: Side, now: Instant) -> Effects {
        let runs = self.clock.turn_started().is_some() && !self.is_storing() && self.end.is_none();
        if runs && side == self.side_to_move() {
            self.clock.freeze();
            self.held = Some(now);
        }
        Vec::new()
    }

    /// It can begin: its turn starts now.
    pub(crate) fn release(&mut self, side: Side, now: Instant) -> Effects {
        if side != self.side_to_move() || self.is_storing() || self.end.is_some() {
            return Vec::new();
        }
        let Some(since) = self.held.take() else { return Vec::new() };
        self.clock.start(side, now);
        let waited = now.saturating_duration_since(since);
        if waited < HELD_TOLD { Vec::new() } else { vec![Effect::Resnapshot] }
    }

    /// When a clock that stands for a seat runs all the same.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.held.map(|since| since + HELD_MAX)
    }
}
