//! Tournaments in memory.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::{PairId, PlayerId, TournamentId};
use crate::storage::error::StoreError;
use crate::storage::moderation::AuditNote;
use crate::storage::record::StoredGame;
use crate::storage::store::{Refused, Write, Written};
use crate::storage::tournaments::{
    Attendance, StoredTournament, TournamentEnd, TournamentPlan, TournamentStore, Walkover,
};

/// All tournaments.
#[derive(Debug, Default)]
pub(super) struct MemoryTournaments {
    /// In the order in which they began.
    begun: Vec<(StoredTournament, Vec<Walkover>)>,
    /// From when and until when everybody takes part in them.
    attendance: HashMap<TournamentId, Vec<Attendance>>,
    /// Those that people have made and that are to come.
    plans: Vec<TournamentPlan>,
}

impl MemoryTournaments {
    fn find(&self, id: &TournamentId) -> Option<&(StoredTournament, Vec<Walkover>)> {
        self.begun.iter().find(|(tournament, _)| tournament.id == *id)
    }

    fn running(&mut self, id: &TournamentId) -> Result<&mut (StoredTournament, Vec<Walkover>), Refused> {
        let mut all = self.begun.iter_mut();
        let found = all.find(|(tournament, _)| tournament.id == *id && tournament.end.is_none());
        found.ok_or(Refused::NoSuchTournament)
    }

    pub(super) fn one(&self, id: &TournamentId) -> Option<StoredTournament> {
        self.find(id).map(|(tournament, _)| tournament.clone())
    }

    pub(super) fn page(&self, before: Option<u64>, limit: u32) -> Vec<(u64, StoredTournament)> {
        let all = (1..).zip(&self.begun).map(|(number, (tournament, _))| (number, tournament.clone()));
        let mut page: Vec<_> =
            all.filter(|(number, _)| before.is_none_or(|before| *number < before)).collect();
        page.reverse();
        page.truncate(limit as usize);
        page
    }

    pub(super) fn going_on(&self) -> Vec<StoredTournament> {
        let all = self.begun.iter().map(|(tournament, _)| tournament);
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
        if self.begun.iter().any(|(other, _)| is_same(other)) {
            return Err(Refused::IdTaken);
        }
        self.plans.retain(|plan| plan.id != tournament.id);
        self.begun.push((tournament.clone(), Vec::new()));
        let all = vec![Attendance::default(); tournament.entrants.len()];
        self.attendance.insert(tournament.id.clone(), all);
        Ok(Written::Done)
    }

    pub(super) fn plan(&mut self, plan: &TournamentPlan) -> Result<Written, Refused> {
        if self.plans.iter().any(|other| other.id == plan.id || other.name == plan.name) {
            return Err(Refused::IdTaken);
        }
        self.plans.push(plan.clone());
        Ok(Written::Done)
    }

    fn planned(&mut self, id: &TournamentId) -> Result<&mut TournamentPlan, Refused> {
        self.plans.iter_mut().find(|plan| plan.id == *id).ok_or(Refused::NoSuchPlan)
    }

    pub(super) fn enter(&mut self, plan: &TournamentId, player: &PlayerId) -> Result<Written, Refused> {
        let entered = &mut self.planned(plan)?.entered;
        if !entered.contains(player) {
            entered.push(player.clone());
        }
        Ok(Written::Done)
    }

    pub(super) fn leave(&mut self, plan: &TournamentId, player: &PlayerId) -> Result<Written, Refused> {
        self.planned(plan)?.entered.retain(|entered| entered != player);
        Ok(Written::Done)
    }

    pub(super) fn drop_plan(&mut self, id: &TournamentId) -> Result<Written, Refused> {
        self.planned(id)?;
        self.plans.retain(|plan| plan.id != *id);
        Ok(Written::Done)
    }

    /// What somebody who leaves for good has made, and where they would have taken part.
    pub(super) fn forget(&mut self, player: &PlayerId) {
        self.plans.retain(|plan| plan.maker != *player);
        for plan in &mut self.plans {
            plan.entered.retain(|entered| entered != player);
        }
    }

    pub(super) fn join(
        &mut self,
        id: &TournamentId,
        player: &PlayerId,
        came: u64,
    ) -> Result<Written, Refused> {
        let entrants = &mut self.running(id)?.0.entrants;
        let place = entrants.iter().position(|entrant| entrant == player);
        if place.is_none() {
            entrants.push(player.clone());
        }
        let attendance = self.attendance.entry(id.clone()).or_default();
        match place {
            Some(place) => attendance[place] = Attendance { came, went: None },
            None => attendance.push(Attendance { came, went: None }),
        }
        Ok(Written::Done)
    }

    pub(super) fn quit(
        &mut self,
        id: &TournamentId,
        player: &PlayerId,
        went: u64,
    ) -> Result<Written, Refused> {
        let entrants = &self.running(id)?.0.entrants;
        let place = entrants.iter().position(|entrant| entrant == player).ok_or(Refused::NoSuchPlayer)?;
        let attendance = &mut self.attendance.entry(id.clone()).or_default()[place];
        if attendance.went.is_some() {
            return Err(Refused::NoSuchPlayer);
        }
        attendance.went = Some(went);
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

    /// Ends one that goes on, or notes one that was to come as over.
    pub(super) fn cancel(&mut self, tournament: &StoredTournament) -> Result<Written, Refused> {
        match (self.running(&tournament.id), &tournament.end) {
            (Ok((running, _)), Some(end)) => running.end = Some(end.clone()),
            _ => return self.add(tournament),
        }
        Ok(Written::Done)
    }

    pub(super) fn end(&mut self, id: &TournamentId, end: &TournamentEnd) -> Result<Written, Refused> {
        self.running(id)?.0.end = Some(end.clone());
        Ok(Written::Done)
    }
}

impl MemoryTables {
    /// Carries out what is said of tournaments.
    pub(super) fn write_of_tournament(&mut self, write: &Write) -> Result<Written, Refused> {
        self.check_players_of(write)?;
        let tournaments = &mut self.tournaments;
        match write {
            Write::PlanTournament(plan) => tournaments.plan(plan),
            Write::EnterPlan { plan, player } => tournaments.enter(plan, player),
            Write::LeavePlan { plan, player } => tournaments.leave(plan, player),
            Write::DropPlan(plan) => tournaments.drop_plan(plan),
            Write::AddTournament(tournament) => tournaments.add(tournament),
            Write::JoinTournament { tournament, player, came } => tournaments.join(tournament, player, *came),
            Write::QuitTournament { tournament, player, went } => tournaments.quit(tournament, player, *went),
            Write::WalkOver { tournament, walkover } => tournaments.walk_over(tournament, *walkover),
            Write::EndTournament { tournament, end } => tournaments.end(tournament, end),
            Write::CancelTournament { tournament, because } => {
                let done = tournaments.cancel(tournament)?;
                if let Some(because) = because {
                    self.note(AuditNote::cancel(&tournament.id), because);
                }
                Ok(done)
            }
            other => unreachable!("{other:?} is not about a tournament"),
        }
    }

    /// Whether all of whom something is said are there.
    fn check_players_of(&self, write: &Write) -> Result<(), Refused> {
        let named: Vec<&PlayerId> = match write {
            Write::PlanTournament(plan) => plan.entered.iter().chain([&plan.maker]).collect(),
            Write::AddTournament(tournament) => tournament.entrants.iter().collect(),
            Write::CancelTournament { tournament, .. } => tournament.entrants.iter().collect(),
            Write::EnterPlan { player, .. } | Write::JoinTournament { player, .. } => vec![player],
            _ => Vec::new(),
        };
        named.into_iter().try_for_each(|player| self.check_player(player))
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

    async fn tournament_plans(&self) -> Result<Vec<TournamentPlan>, StoreError> {
        self.seek().await?;
        let mut plans = self.tables().tournaments.plans.clone();
        plans.sort_by(|a, b| (a.begins_at, &a.id).cmp(&(b.begins_at, &b.id)));
        Ok(plans)
    }

    async fn walkovers(&self, tournament: &TournamentId) -> Result<Vec<Walkover>, StoreError> {
        Ok(self.tables().tournaments.walkovers(tournament))
    }

    async fn attendance(&self, tournament: &TournamentId) -> Result<Vec<Attendance>, StoreError> {
        Ok(self.tables().tournaments.attendance.get(tournament).cloned().unwrap_or_default())
    }

    async fn games_of_series(&self, series: &PairId) -> Result<Vec<StoredGame>, StoreError> {
        Ok(self.tables().games_of_pairs(|pair| pair == series))
    }

    async fn games_of_tournament(&self, tournament: &TournamentId) -> Result<Vec<StoredGame>, StoreError> {
        let is_its = |pair: &PairId| pair.of_tournament().is_some_and(|(of, _)| of == *tournament);
        Ok(self.tables().games_of_pairs(is_its))
    }
}
