//! Accounts that are operators, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::operators::{FactorUse, OperatorStore, StoredOperator};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn appoint(
        &mut self,
        player: &PlayerId,
        since: UnixMillis,
        salt: &str,
        recovery: &[String],
    ) -> Result<Written, Refused> {
        if self.operators.iter().any(|operator| operator.player == *player) {
            return Err(Refused::OperatorAlready);
        }
        let known = self.players.get(player).filter(|player| player.kind == PlayerKind::Human);
        let player = known.ok_or(Refused::NoSuchPlayer)?.id.clone();
        let (salt, recovery) = (salt.to_owned(), recovery.to_vec());
        self.operators.push(StoredOperator { player, since, salt, last_step: 0, recovery });
        Ok(Written::Done)
    }

    pub(super) fn dismiss(&mut self, player: &PlayerId) -> Result<Written, Refused> {
        let place = self.operators.iter().position(|operator| operator.player == *player);
        self.operators.remove(place.ok_or(Refused::NoOperator)?);
        Ok(Written::Done)
    }

    pub(super) fn use_factor(&mut self, player: &PlayerId, used: &FactorUse) -> Result<Written, Refused> {
        let operator = self.operators.iter_mut().find(|operator| operator.player == *player);
        let operator = operator.ok_or(Refused::NoOperator)?;
        *operator = operator.clone().after(used).ok_or(Refused::FactorUsed)?;
        Ok(Written::Done)
    }
}

#[async_trait]
impl OperatorStore for MemoryStore {
    async fn operator(&self, player: &PlayerId) -> Result<Option<StoredOperator>, StoreError> {
        Ok(self.tables().operators.iter().find(|operator| operator.player == *player).cloned())
    }

    async fn operators(&self) -> Result<Vec<StoredOperator>, StoreError> {
        Ok(self.tables().operators.clone())
    }
}
