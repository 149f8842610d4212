//! Tournaments in memory.

use async_trait::async_trait;

use super::MemoryStore;
use crate::model::ids::{PairId, TournamentId};
use crate::storage::error::StoreError;
use crate::storage::record::StoredGame;
use crate::storage::store::{Refused, Written};
use crate::storage::tournaments::{StoredTournament, TournamentEnd, TournamentStore, Walkover};

/// All tournaments in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct MemoryTournaments(Vec<(StoredTournament, Vec<Walkover>)>);

impl MemoryTournaments {
    fn find(&self, id: &TournamentId) -> Option<&(StoredTournament, Vec<Walkover>)> {
        self.0.iter().find(|(tournament, _)| tournament.id == *id)
    }

    fn running(&mut self, id: &TournamentId) -> Result<&mut (StoredTournament, Vec<Walkover>), Refused> {
        let mut all = self.0.iter_mut();
        let found = all.find(|(tournament, _)| tournament.id == *id && tournament.end.is_none());
        found.ok_or(Refused::NoSuchTournament)
    }

    pub(super) fn one(&self, id: &TournamentId) -> Option<StoredTournament> {
        self.find(id).map(|(tournament, _)| tournament.clone())
    }

    pub(super) fn page(&self, before: Option<u64>, limit: u32) -> Vec<(u64, StoredTournament)> {
        let all = (1..).zip(&self.0).map(|(number, (tournament, _))| (number, tournament.clone()));
        let mut page: Vec<_> =
            all.filter(|(number, _)| before.is_none_or(|before| *number < before)).collect();
        page.reverse();
        page.truncate(limit as usize);
        page
    }

    pub(super) fn going_on(&self) -> Vec<StoredTournament> {
        let all = self.0.iter().map(|(tournament, _)| tournament);
        all.filter(|tournament| tournament.end.is_none()).cloned().collect()
    }

    pub(super) fn walkovers(&self, id: &TournamentId) -> Vec<Walkover> {
        let mut walkovers = self.find(id).map(|(_, walkovers)| walkovers.clone()).unwrap_or_default();
        walkovers.sort_by_key(|walkover| walkover.number);
        walkovers
    }

    pub(super) fn add(&mut self, tournament: &StoredTournament) -> Result<Written, Refused> {
        let is_same = |other: &StoredTournament| {
            other.id == tournament.id || (other.name == tournament.name && other.due_at == tournament.due_at)
        };
        if self.0.iter().any(|(other, _)| is_same(other)) {
            return Err(Refused::IdTaken);
        }
        self.0.push((tournament.clone(), Vec::new()));
        Ok(Written::Done)
    }

    pub(super) fn walk_over(&mut self, id: &TournamentId, walkover: Walkover) -> Result<Written, Refused> {
        let (_, walkovers) = self.running(id)?;
        if walkovers.iter().any(|other| other.number == walkover.number) {
            return Err(Refused::NoSuchTournament);
        }
        walkovers.push(walkover);
        Ok(Written::Done)
    }

    pub(super) fn end(&mut self, id: &TournamentId, end: &TournamentEnd) -> Result<Written, Refused> {
        self.running(id)?.0.end = Some(end.clone());
        Ok(Written::Done)
    }
}

#[async_trait]
impl TournamentStore for MemoryStore {
    async fn tournament(&self, id: &TournamentId) -> Result<Option<StoredTournament>, StoreError> {
        Ok(self.tables().tournaments.one(id))
    }

    async fn tournaments(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, StoredTournament)>, StoreError> {
        Ok(self.tables().tournaments.page(before, limit))
    }

    async fn running_tournaments(&self) -> Result<Vec<StoredTournament>, StoreError> {
        self.seek().await?;
        Ok(self.tables().tournaments.going_on())
    }

    async fn walkovers(&self, tournament: &TournamentId) -> Result<Vec<Walkover>, StoreError> {
        Ok(self.tables().tournaments.walkovers(tournament))
    }

    async fn games_of_series(&self, series: &PairId) -> Result<Vec<StoredGame>, StoreError> {
        Ok(self.tables().games_of_pairs(|pair| pair == series))
    }

    async fn games_of_tournament(&self, tournament: &TournamentId) -> Result<Vec<StoredGame>, StoreError> {
        let is_its = |pair: &PairId| pair.of_tournament().is_some_and(|(of, _)| of == *tournament);
        Ok(self.tables().games_of_pairs(is_its))
    }
}
