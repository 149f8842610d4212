//! What time brings about if nobody does anything: flags, void games, lost bots, the end of a freeze.

use std::time::{Duration, Instant};

use fourfold_engine::Side;

use super::ending::{flagged, lost, void};
use super::{Effects, RoomState};
use crate::model::player::PlayerKind;
use crate::model::result::EndReason;
use crate::model::time::UnixMillis;

/// How long a person may take for the first move before the game is void.
pub(super) const FIRST_MOVE_MAX: Duration = Duration::from_secs(30);

/// What happens at the next deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alarm {
    Flag(Side),
    FirstMove(Side),
    Left(Side),
    Thaw,
    Release(Side),
}

impl RoomState {
    /// When [`Self::wake`] should be called next, if nothing happens before.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.next_alarm().map(|(at, _)| at)
    }

    fn next_alarm(&self) -> Option<(Instant, Alarm)> {
        if self.end.is_some() || self.is_storing() {
            return None;
        }
        if let Some(until) = self.frozen_until() {
            return Some((until, Alarm::Thaw));
        }
        let side = self.side_to_move();
        if let Some(until) = self.held_until() {
            return Some((until, Alarm::Release(side)));
        }
        let flag = self.clock.flag_at(self.lag[side].limit()).map(|at| (at, Alarm::Flag(side)));
        let first_move = self.first_move_ends(side).map(|at| (at, Alarm::FirstMove(side)));
        let left = self.unclaimed_absence_ends(side).map(|at| (at, Alarm::Left(side)));
        [flag, first_move, left].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// People get a limited time for their first move where somebody waits for it; bots have their clock and their
    /// absence. In a casual game a bot can wait: the page may be read first. In correspondence everybody can.
    fn first_move_ends(&self, side: Side) -> Option<Instant> {
        if self.is_correspondence() {
            return None;
        }
        let is_hurried = self.spec.rated || self.kinds[side.opponent()] != PlayerKind::Bot;
        let waits = is_hurried && self.kinds[side] != PlayerKind::Bot && !self.has_moved(side);
        waits.then_some(())?;
        Some(self.clock.turn_started()? + FIRST_MOVE_MAX)
    }

    /// A deadline may have passed.
    pub(crate) fn wake(&mut self, now: Instant, at: UnixMillis) -> Effects {
        let Some((_, alarm)) = self.next_alarm().filter(|(due, _)| *due <= now) else { return Vec::new() };
        match alarm {
            Alarm::Flag(side) => self.stage_end(flagged(side), now, at),
            Alarm::FirstMove(side) => self.stage_end(void(side), now, at),
            Alarm::Left(side) => self.stage_end(lost(side, EndReason::Left), now, at),
            Alarm::Thaw => self.start_turn(now),
            Alarm::Release(side) => self.release(side, now),
        }
    }
}
