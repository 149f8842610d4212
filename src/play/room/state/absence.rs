//! Who is at the table, and how long its absence is borne. The timer runs only while it is its turn.

use std::time::{Duration, Instant};

use fourfold_engine::Side;

use super::{Effect, Effects, RoomState};
use crate::model::clock;
use crate::model::player::PlayerKind;

/// How long a bot may be away while it is its turn.
pub(super) const BOT_ABSENCE_MAX: Duration = Duration::from_secs(30);
/// How long a person who left on purpose may be away.
pub(super) const LEFT_ON_PURPOSE_MAX: Duration = Duration::from_secs(10);
/// How long a person may be away in a fast game; slower games give more.
pub(super) const PERSON_ABSENCE_MIN: Duration = Duration::from_secs(30);

/// Whether a seat's player is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Presence {
    Here,
    Away { since: Instant, on_purpose: bool },
}

impl RoomState {
    /// A player's connection came or went. Several connections of one player count as one.
    pub(crate) fn presence_changed(
        &mut self,
        side: Side,
        here: bool,
        on_purpose: bool,
        now: Instant,
    ) -> Effects {
        if here == self.is_here(side) {
            return Vec::new();
        }
        self.presence[side] = if here { Presence::Here } else { Presence::Away { since: now, on_purpose } };
        if self.end.is_some() {
            return Vec::new();
        }
        let mut effects = vec![self.presence_effect(side, now)];
        if here && let Some(freeze) = &mut self.freeze {
            freeze.returned[side] = true;
            let waits = self.clock.turn_started().is_none() && !self.is_storing();
            if waits && self.side_to_move() == side {
                effects.extend(self.start_turn(now));
            }
        }
        effects
    }

    pub(super) fn is_here(&self, side: Side) -> bool {
        self.presence[side] == Presence::Here
    }

    pub(super) fn presence_effect(&self, side: Side, now: Instant) -> Effect {
        let claim_in = self.absence_ends(side).map(|at| at.saturating_duration_since(now));
        Effect::Presence { side, here: self.is_here(side), claim_in }
    }

    /// When `side`'s absence has lasted too long. The timer runs only while it is its turn.
    pub(super) fn absence_ends(&self, side: Side) -> Option<Instant> {
        let Presence::Away { since, on_purpose } = self.presence[side] else { return None };
        if self.is_correspondence() {
            // Nobody waits at the board. The limit for the move says how long one may be away.
            return None;
        }
        if self.check_open().is_err() || self.side_to_move() != side {
            return None;
        }
        let turn = self.clock.turn_started()?;
        Some(since.max(turn) + self.absence_allowed(side, on_purpose))
    }

    fn absence_allowed(&self, side: Side, on_purpose: bool) -> Duration {
        match self.kinds[side] {
            PlayerKind::Bot => BOT_ABSENCE_MAX,
            // A phone is put away for a while; the bot does not mind.
            PlayerKind::Human | PlayerKind::Guest
                if self.kinds[side.opponent()] == PlayerKind::Bot && clock::is_unhurried(self.spec.time) =>
            {
                self.clock.budget(side)
            }
            PlayerKind::Human | PlayerKind::Guest if on_purpose => LEFT_ON_PURPOSE_MAX,
            PlayerKind::Human | PlayerKind::Guest => PERSON_ABSENCE_MIN * self.pace(),
        }
    }

    /// 1 for fast games, 2 for medium, 4 for slow ones, by the time of a side for twenty moves.
    fn pace(&self) -> u32 {
        let time = self.spec.time;
        let expected = time.bank_ms.map_or(20 * u64::from(time.move_ms.unwrap_or(0)), |bank| {
            u64::from(bank) + 20 * u64::from(time.increment_ms)
        });
        match expected {
            0..=120_000 => 1,
            120_001..=480_000 => 2,
            _ => 4,
        }
    }

    /// When the game is lost by absence though nobody claims it: a bot's, and that of a guest whose opponent, a guest
    /// too, is not there to claim. Two guests who do not come back must not leave a room behind for a day.
    pub(super) fn unclaimed_absence_ends(&self, side: Side) -> Option<Instant> {
        let nobody_claims = match self.kinds[side] {
            PlayerKind::Bot => true,
            PlayerKind::Guest => {
                self.kinds[side.opponent()] == PlayerKind::Guest && !self.is_here(side.opponent())
            }
            PlayerKind::Human => false,
        };
        nobody_claims.then(|| self.absence_ends(side)).flatten()
    }
}
