//! Clocks wait after a restart: for the side to move, and not for ever. Both sides get a bonus for it, once. While the
//! daemon stands still, nobody's time passes.

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};

use super::absence::Presence;
use super::{Effect, Effects, RoomState};
use crate::model::pause::Pause;

/// How long the clocks stand still after a restart if the side to move does not come back.
pub(super) const RESTART_FREEZE_MAX: Duration = Duration::from_mins(1);
/// What both sides get after a restart.
pub(super) const RESTART_BONUS: Duration = Duration::from_secs(10);

/// The time since the daemon's start during which clocks wait for players who have not come back yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freeze {
    pub(super) until: Instant,
    /// Who has been there since the restart.
    pub(super) returned: BySide<bool>,
    pub(super) bonus_given: bool,
}

impl RoomState {
    /// How long the clocks still stand, if they do: after a restart, while a teacher wants it, or as whoever is to move
    /// has a vacation.
    pub(crate) fn frozen_for(&self, now: Instant) -> Option<Duration> {
        if self.end.is_none() && self.is_correspondence() {
            return self.vacation_left(now);
        }
        self.standstill_left(now)
            .or_else(|| self.frozen_until().map(|until| until.saturating_duration_since(now)))
    }

    pub(super) fn frozen_until(&self) -> Option<Instant> {
        let freeze = self.freeze?;
        (self.end.is_none() && self.clock.turn_started().is_none() && !freeze.returned[self.side_to_move()])
            .then_some(freeze.until)
    }

    /// Starts the turn of the side to move, unless it has not come back since a restart.
    pub(super) fn start_turn(&mut self, now: Instant) -> Effects {
        let side = self.side_to_move();
        self.held = None;
        if let Some(freeze) = &mut self.freeze {
            if !freeze.returned[side] && now < freeze.until {
                self.clock.freeze();
                return vec![Effect::Prompt(side)];
            }
            if !freeze.bonus_given {
                freeze.bonus_given = true;
                self.clock.add_to_both(RESTART_BONUS);
            }
        }
        let began = now.checked_sub(std::mem::take(&mut self.waited)).unwrap_or(now);
        self.clock.start(side, began);
        if let Some(vacation) = self.vacation[side].filter(|vacation| vacation.until > now) {
            self.clock.stand(Some(vacation), now);
            return vec![Effect::Prompt(side), Effect::Resnapshot];
        }
        if let Some(standstill) = self.stands_still(now) {
            self.clock.stand(Some(standstill), now);
            return vec![Effect::Prompt(side), Effect::Resnapshot];
        }
        let mut effects = vec![Effect::Prompt(side)];
        if !self.is_here(side) {
            effects.push(self.presence_effect(side, now));
        }
        effects
    }

    /// The daemon stood still: what passed meanwhile of anybody's time is given back.
    pub(crate) fn give_back(&mut self, pause: Pause) -> Effects {
        let stands = self.vacation_left(pause.from).is_some() || self.stands_still(pause.from).is_some();
        if self.end.is_some() || stands {
            return Vec::new();
        }
        for side in Side::BOTH {
            if let Presence::Away { since, .. } = &mut self.presence[side] {
                *since = pause.defer(*since);
            }
        }
        if let Some(freeze) = self.freeze.as_mut().filter(|freeze| freeze.until > pause.from) {
            freeze.until += pause.length();
        }
        let given = self.clock.give_back(pause);
        if given.is_zero() || self.is_storing() { Vec::new() } else { vec![Effect::GivenBack(given)] }
    }

    /// Whoever moves is back, even if the news of the connection comes later.
    pub(super) fn thaw_for(&mut self, side: Side, now: Instant) {
        if self.frozen_until().is_some() {
            if let Some(freeze) = &mut self.freeze {
                freeze.returned[side] = true;
            }
            // The prompt is answered already.
            let _prompt = self.start_turn(now);
        }
    }
}
