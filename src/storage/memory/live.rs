//! What is noted of games that go on, beside their events.

use fourfold_engine::Side;

use super::MemoryTables;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::GameId;
use crate::storage::store::{Refused, Written};

impl MemoryTables {
    pub(super) fn count_illegal(&mut self, id: &GameId, side: Side, count: u8) -> Result<Written, Refused> {
        self.check_live(id)?;
        self.illegal.entry(id.clone()).or_default()[side] = count;
        Ok(Written::Done)
    }

    pub(super) fn set_conditional(
        &mut self,
        id: &GameId,
        side: Side,
        moves: Option<ConditionalMoves>,
    ) -> Result<Written, Refused> {
        self.check_live(id)?;
        self.conditional.entry(id.clone()).or_default()[side] = moves;
        Ok(Written::Done)
    }

    fn check_live(&self, id: &GameId) -> Result<(), Refused> {
        self.live.iter().any(|(live, _)| live == id).then_some(()).ok_or(Refused::NoSuchGame)
    }
}
