//! Vacations of people who play by correspondence, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::vacations::VacationStore;

impl MemoryTables {
    pub(super) fn take_vacation(
        &mut self,
        player: &PlayerId,
        vacation: Vacation,
    ) -> Result<Written, Refused> {
        let person = self.players.get(player).filter(|player| player.kind == PlayerKind::Human);
        person.ok_or(Refused::NoSuchPlayer)?;
        self.end_vacation(player, vacation.from);
        self.vacations.retain(|(owner, other)| owner != player || other.from != vacation.from);
        self.vacations.push((player.clone(), vacation));
        Ok(Written::Done)
    }

    pub(super) fn end_vacation(&mut self, player: &PlayerId, at: UnixMillis) {
        for (_, vacation) in
            self.vacations.iter_mut().filter(|(owner, other)| owner == player && other.until > at)
        {
            vacation.until = at.max(vacation.from);
        }
    }
}

#[async_trait]
impl VacationStore for MemoryStore {
    async fn vacations_of(&self, player: &PlayerId) -> Result<Vec<Vacation>, StoreError> {
        let all = self.vacations_since(UnixMillis(i64::MIN)).await?;
        Ok(all.into_iter().filter(|(owner, _)| owner == player).map(|(_, vacation)| vacation).collect())
    }

    async fn vacations_since(&self, since: UnixMillis) -> Result<Vec<(PlayerId, Vacation)>, StoreError> {
        let mut vacations = self.tables().vacations.clone();
        vacations.retain(|(_, vacation)| vacation.until > since);
        vacations.sort_by(|(one, a), (other, b)| (a.from, one).cmp(&(b.from, other)));
        Ok(vacations)
    }
}
