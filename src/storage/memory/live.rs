//! What is noted of games that go on, beside their events.

use fourfold_engine::Side;

use super::MemoryTables;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::GameId;
use crate::storage::store::{Refused, Written};

impl MemoryTables {
    pub(super) fn count_illegal(&mut self, id: &GameId, side: Side, count: u8) -> Result<Written, Refused> {
        if self.live.iter().all(|(live, _)| live != id) {
            return Err(Refused::NoSuchGame);
        }
        self.illegal.entry(id.clone()).or_default()[side] = count;
        Ok(Written::Done)
    }

    pub(super) fn set_conditional(
        &mut self,
        id: &GameId,
        side: Side,
        moves: Option<ConditionalMoves>,
    ) -> Result<Written, Refused> {
        if self.live.iter().all(|(live, _)| live != id) {
            return Err(Refused::NoSuchGame);
        }
        self.conditional.entry(id.clone()).or_default()[side] = moves;
        Ok(Written::Done)
    }
}
