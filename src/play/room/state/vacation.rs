//! Vacations in a game by correspondence: the clock of a player who has one stands while it is its turn.

use std::time::{Duration, Instant};

use fourfold_engine::Side;

use super::{Effect, Effects, RoomState};
use crate::model::pause::Pause;
use crate::model::time::UnixMillis;
use crate::model::vacation::{self, Vacation};

impl RoomState {
    /// A player's vacation ends after so much time, or there is none any more.
    pub(crate) fn take_vacation(&mut self, side: Side, lasts: Option<Duration>, now: Instant) -> Effects {
        if self.end.is_some() || !self.is_correspondence() {
            return Vec::new();
        }
        self.vacation[side] = lasts.map(|lasts| stands(lasts, now));
        if self.side_to_move() != side {
            return Vec::new();
        }
        self.clock.stand(self.vacation[side], now);
        if self.is_storing() { Vec::new() } else { vec![Effect::Resnapshot] }
    }

    /// The same game, whose player has such a vacation at this moment, if any.
    #[must_use = "the game goes in and comes out"]
    pub(crate) fn with_vacation(
        mut self,
        side: Side,
        taken: &[Vacation],
        now: Instant,
        at: UnixMillis,
    ) -> Self {
        let current = vacation::current(taken, at);
        self.vacation[side] = current.map(|vacation| stands(vacation.until.after(at), now));
        self
    }

    /// The vacation of the side to move, which goes on for so long.
    pub(super) fn vacation_left(&self, now: Instant) -> Option<Duration> {
        let vacation = self.vacation[self.side_to_move()]?;
        Some(vacation.until.saturating_duration_since(now)).filter(|left| !left.is_zero())
    }
}

/// From now on for so long, whatever the store says of it.
fn stands(lasts: Duration, now: Instant) -> Pause {
    Pause { from: now, until: now.checked_add(lasts).unwrap_or(now) }
}
