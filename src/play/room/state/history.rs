//! What is stored becomes a table again, and each stored event is applied the same way, new or old.

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, IllegalMove, Side};

use super::freeze::{Freeze, RESTART_FREEZE_MAX};
use super::{PlayedMove, RoomState};
use crate::model::clock::GameClock;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::vacation::{self, Vacation};
use crate::play::correspondence;
use crate::storage::record::{EventKind, Settlement, StoredEvent, StoredGame, StoredMove};

impl RoomState {
    /// Takes up a live game after a restart: clocks wait for the players to come back, but not where moves take days.
    /// `at` is the moment by the wall clock.
    ///
    /// # Errors
    ///
    /// Says why the stored events cannot be, or cannot go on.
    pub(crate) fn restore(
        stored: StoredGame,
        kinds: BySide<PlayerKind>,
        now: Instant,
        at: UnixMillis,
        vacations: &BySide<Vec<Vacation>>,
    ) -> Result<Self, String> {
        let turn_began = turn_began_at(&stored);
        let mut state = Self::replayed(stored, kinds, now)?;
        if state.end.is_none() && state.game.outcome().is_some() {
            return Err("the board is decided, but the game has no end".into());
        }
        if state.is_correspondence() {
            let mover = state.side_to_move();
            let off = vacation::within(&vacations[mover], turn_began, at);
            let lasted = at.after(turn_began).saturating_sub(off);
            state.waited = correspondence::charged(lasted, state.clock.budget(mover));
            let sides = Side::BOTH.into_iter();
            return Ok(sides.fold(state, |state, side| state.with_vacation(side, &vacations[side], now, at)));
        }
        let returned = BySide { first: false, second: false };
        state.freeze = Some(Freeze { until: now + RESTART_FREEZE_MAX, returned, bonus_given: false });
        Ok(state)
    }

    /// A stored game as it stands after its last event, live or over.
    ///
    /// # Errors
    ///
    /// Says why the stored events cannot be.
    pub(crate) fn replayed(
        stored: StoredGame,
        kinds: BySide<PlayerKind>,
        now: Instant,
    ) -> Result<Self, String> {
        let mut state = Self::new(stored.spec, kinds, now).map_err(|error| error.to_string())?;
        for event in stored.events {
            state.replay(&event)?;
        }
        if let (Some((_, settlement)), Some(stored)) = (&mut state.end, stored.settlement) {
            *settlement = stored;
        }
        Ok(state)
    }

    fn replay(&mut self, event: &StoredEvent) -> Result<(), String> {
        if event.seq != self.seq + 1 {
            return Err(format!("event {} follows event {}", event.seq, self.seq));
        }
        if self.end.is_some() {
            return Err(format!("event {} follows the end of the game", event.seq));
        }
        if let EventKind::Takeback { plies } = event.kind
            && plies as usize > self.moves_played()
        {
            return Err(format!("{plies} moves are taken back and {} were played", self.moves_played()));
        }
        if let EventKind::Finished(ending) = event.kind {
            self.end = Some((ending, Settlement::default()));
        }
        let mut strikes = self.clock.strikes();
        if let EventKind::Move(played) = &event.kind {
            let side = self.side_to_move();
            let overran = self.overran(side, played, event.clock_ms[side]);
            strikes[side] = strikes[side].saturating_add(u8::from(overran));
        }
        let clock = GameClock::restore(self.spec.time, event.clock_ms.map(Duration::from_millis));
        self.clock = clock.with_strikes(strikes);
        self.record(event).map_err(|error| error.to_string())
    }

    /// Whether a stored move had cost a strike. A bank that was overrun is empty but for the increment: what was given
    /// on top of it after a restart is in no event.
    fn overran(&self, side: Side, played: &StoredMove, left_ms: u64) -> bool {
        let used = Duration::from_millis(played.spent_ms.saturating_sub(played.credited_ms));
        let over_move = self.spec.time.move_ms.is_some_and(|ms| used > Duration::from_millis(ms.into()));
        let is_empty = left_ms <= u64::from(self.spec.time.increment_ms);
        used > self.clock.budget(side) && (over_move || is_empty)
    }

    /// Applies a stored event to board and history.
    pub(super) fn record(&mut self, event: &StoredEvent) -> Result<(), IllegalMove> {
        self.seq = event.seq;
        self.event_seq += u32::from(event.kind.is_public());
        match event.kind {
            EventKind::Move(StoredMove { column, spent_ms, credited_ms, .. }) => {
                let (by, ply) = (self.side_to_move(), self.game.ply());
                self.game.play(column)?;
                self.history.push(PlayedMove {
                    seq: self.event_seq,
                    ply,
                    column,
                    by,
                    clock_ms: event.clock_ms,
                    spent_ms,
                    credited_ms,
                });
            }
            EventKind::Takeback { plies } => {
                for _ in 0..plies {
                    self.history.pop();
                    self.game.undo();
                }
            }
            EventKind::Paused | EventKind::Finished(_) => {}
        }
        Ok(())
    }
}

/// When the turn that is on began, by the wall clock.
fn turn_began_at(stored: &StoredGame) -> UnixMillis {
    let changed = |event: &&StoredEvent| match event.kind {
        EventKind::Move(_) | EventKind::Takeback { .. } => true,
        EventKind::Paused | EventKind::Finished(_) => false,
    };
    stored.events.iter().rev().find(changed).map_or(stored.spec.started_at, |event| event.at)
}
