//! Moves taken back, if the other side agrees.

use std::time::Instant;

use fourfold_engine::Side;

use super::{Effect, Effects, RoomState, millis};
use crate::model::player::PlayerKind;
use crate::play::room::refusal::RoomRefusal;
use crate::storage::record::{EventKind, StoredEvent};

use crate::model::time::UnixMillis;

impl RoomState {
    /// A side asks for its last move back.
    ///
    /// # Errors
    ///
    /// Only people take moves back, in casual games, and the side must have moved. Whether a bot agrees is its own
    /// affair; those of the house do.
    pub(crate) fn ask_takeback(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        if self.spec.rated {
            return Err(RoomRefusal::NoTakeback("rated games have no takebacks"));
        }
        if self.kinds[side] == PlayerKind::Bot {
            return Err(RoomRefusal::NoTakeback("only people take moves back"));
        }
        if !self.has_moved(side) {
            return Err(RoomRefusal::NoTakeback("you have not moved yet"));
        }
        let is_repeated = self.takeback.replace(side) == Some(side);
        Ok(if is_repeated { Vec::new() } else { vec![Effect::TakebackOffered(side)] })
    }

    /// The other side answers.
    ///
    /// # Errors
    ///
    /// Nobody asked.
    pub(crate) fn answer_takeback(
        &mut self,
        side: Side,
        agrees: bool,
        now: Instant,
        at: UnixMillis,
    ) -> Result<Effects, RoomRefusal> {
        self.check_open()?;
        if self.takeback != Some(side.opponent()) {
            return Err(RoomRefusal::NoTakeback("your opponent did not ask for a move back"));
        }
        self.takeback = None;
        if !agrees {
            return Ok(vec![Effect::TakebackRefused(side)]);
        }
        let plies = if self.side_to_move() == side { 1 } else { 2 };
        let mut clock = self.clock.clone();
        clock.stop(now);
        let clock_ms = clock.both(now).map(millis);
        let event = StoredEvent { seq: self.seq + 1, kind: EventKind::Takeback { plies }, clock_ms, at };
        let lag = self.lag;
        Ok(self.stage(vec![event], clock, lag, None))
    }
}
