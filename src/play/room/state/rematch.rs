//! Another game with sides swapped, if both sides want it.

use fourfold_engine::Side;

use super::{Effect, Effects, RoomState};
use crate::play::room::refusal::RoomRefusal;

impl RoomState {
    /// A side wants another game with sides swapped.
    ///
    /// # Errors
    ///
    /// The game goes on.
    pub(crate) fn ask_rematch(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        if self.end.is_none() {
            return Err(RoomRefusal::NotOver);
        }
        if self.spec.pair.is_some() {
            return Err(RoomRefusal::NotAllowed("games of a series have no rematch"));
        }
        let opponent = side.opponent();
        if !self.is_here(opponent) {
            // An offer to play on goes with whoever made it.
            self.rematch[opponent] = false;
        }
        if std::mem::replace(&mut self.rematch[side], true) {
            return Ok(Vec::new());
        }
        if self.rematch[opponent] {
            Ok(vec![Effect::RematchAgreed])
        } else {
            Ok(vec![Effect::RematchOffered(side)])
        }
    }
}
