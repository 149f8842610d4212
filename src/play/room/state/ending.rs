//! How a game ends before the board is full: by will, by the clock, by absence, by the daemon.

use std::time::Instant;

use fourfold_engine::{Outcome, Side};

use super::{Effects, RoomState, millis};
use crate::model::result::{EndReason, GameResult};
use crate::play::room::refusal::RoomRefusal;
use crate::storage::record::{Ending, EventKind, StoredEvent};

use crate::model::time::UnixMillis;

impl RoomState {
    /// A side gives up.
    ///
    /// # Errors
    ///
    /// The game is over.
    pub(crate) fn resign(
        &mut self,
        side: Side,
        now: Instant,
        at: UnixMillis,
    ) -> Result<Effects, RoomRefusal> {
        self.end_by(lost(side, EndReason::Resign), now, at)
    }

    /// Ends the game for a side that cannot go on: a broken house bot.
    ///
    /// # Errors
    ///
    /// The game is over.
    pub(crate) fn fail(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.end_by(lost(side, EndReason::BotFailed), now, at)
    }

    /// A side ends the game before it began in earnest.
    ///
    /// # Errors
    ///
    /// The game is over, or both sides have moved.
    pub(crate) fn abort(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        if self.end.is_none() && self.has_moved(Side::First) && self.has_moved(Side::Second) {
            return Err(RoomRefusal::TooLateToAbort);
        }
        self.end_by(void(side), now, at)
    }

    /// A side takes the win after its opponent's absence.
    ///
    /// # Errors
    ///
    /// The game is over, or the opponent is there or not away for long enough.
    pub(crate) fn claim(&mut self, side: Side, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        match self.absence_ends(side.opponent()) {
            Some(at_earliest) if now >= at_earliest => {
                self.end_by(lost(side.opponent(), EndReason::Left), now, at)
            }
            ends => {
                let wait = ends.map(|at_earliest| at_earliest.saturating_duration_since(now));
                Err(RoomRefusal::NothingToClaim { wait })
            }
        }
    }

    fn end_by(&mut self, ending: Ending, now: Instant, at: UnixMillis) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        Ok(self.stage_end(ending, now, at))
    }

    pub(super) fn stage_end(&mut self, ending: Ending, now: Instant, at: UnixMillis) -> Effects {
        let mut clock = self.clock.clone();
        match (ending.reason, ending.by) {
            (EndReason::Time, Some(side)) => clock.run_out(side),
            _ => clock.stop(now),
        }
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Finished(ending), clock_ms, at };
        let lag = self.lag;
        self.stage(vec![event], clock, lag, None)
    }
}

fn win_of(side: Side) -> GameResult {
    match side {
        Side::First => GameResult::First,
        Side::Second => GameResult::Second,
    }
}

pub(super) fn ending_of(outcome: Outcome) -> Ending {
    match outcome {
        Outcome::Win { by, .. } => Ending { result: win_of(by), reason: EndReason::Four, by: None },
        Outcome::Draw => Ending { result: GameResult::Draw, reason: EndReason::Full, by: None },
    }
}

pub(super) fn lost(side: Side, reason: EndReason) -> Ending {
    Ending { result: win_of(side.opponent()), reason, by: Some(side) }
}

pub(super) fn flagged(side: Side) -> Ending {
    lost(side, EndReason::Time)
}

pub(super) fn void(side: Side) -> Ending {
    Ending { result: GameResult::Void, reason: EndReason::Aborted, by: Some(side) }
}
