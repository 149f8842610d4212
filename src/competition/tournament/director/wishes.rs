//! What people say of tournaments: that they make one, take part, or give it up.

use tracing::{info, warn};

use super::Director;
use crate::competition::tournament::board::{Canceller, EntryError, PlanDecision, PlanError, Wish};
use crate::competition::tournament::contest::Contest;
use crate::competition::tournament::plans::{
    ENTERED_MAX, ENTRANTS_OF_ARENA_MAX, Made, PLANS_MAX, PLANS_OF_ONE_MAX, PlannedTournament,
};
use crate::model::ids::{PlayerId, TournamentId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::storage::store::{Refused, Write};
use crate::storage::tournaments::{EndedBecause, StoredTournament, TournamentEnd, TournamentPlan};
use crate::storage::writer::WriteError;
use crate::system::config::TournamentStart;
use crate::system::shares::Held;

impl Director {
    /// Takes note of what a person makes.
    pub(super) async fn make(
        &mut self,
        plan: TournamentPlan,
        maker: Identity,
        place: Held,
    ) -> Result<(), PlanError> {
        let is_same = |name: &str| name.eq_ignore_ascii_case(&plan.name);
        let goes_on = self.running.values().any(|running| is_same(&running.contest.tournament().name));
        if goes_on || self.plans.iter().any(|other| is_same(&other.config.name)) {
            return Err(PlanError::NameTaken(plan.name));
        }
        let makers = self.plans.iter().filter_map(|plan| plan.made.as_ref());
        let (all, own) = makers.fold((0, 0), |(all, own), Made { maker: other, .. }| {
            (all + 1, own + usize::from(other.id == maker.id))
        });
        if own >= PLANS_OF_ONE_MAX {
            return Err(PlanError::TooMany { max: PLANS_OF_ONE_MAX });
        }
        if all >= PLANS_MAX {
            return Err(PlanError::Full { max: PLANS_MAX });
        }
        self.note(Write::PlanTournament(Box::new(plan.clone()))).await?;
        info!(tournament = %plan.id, name = plan.name, maker = %maker.name, "a tournament is to come");
        // Nobody but its maker can have entered yet.
        let entered = if plan.entered.is_empty() { Vec::new() } else { vec![maker.clone()] };
        self.plans.push(PlannedTournament::made(plan, maker, entered, Some(place)));
        self.announce();
        Ok(())
    }

    /// Somebody is here no more: what they have planned is not held, and they take part in nothing that is to come.
    pub(super) async fn gone(&mut self, player: &PlayerId) {
        let of_theirs = self.plans.iter().filter_map(|plan| plan.made.as_ref());
        let of_theirs = of_theirs.filter(|made| made.maker.id == *player).map(|made| made.id.clone());
        for id in of_theirs.collect::<Vec<_>>() {
            info!(tournament = %id, "a tournament is not held, for its maker is gone");
            match self.drop_plan(&id).await {
                Ok(()) => {}
                // It went with the account, in the store.
                Err(PlanError::Unknown) => self.plans.retain(|plan| plan.made_as(&id).is_none()),
                Err(error) => {
                    warn!(tournament = %id, error = %error, "a tournament that is not held is not forgotten yet");
                }
            }
        }
        for plan in &mut self.plans {
            plan.entered.retain(|entered| entered.id != *player);
        }
        self.announce();
        self.read_names_of(player).await;
    }

    /// Somebody is called otherwise by now.
    pub(super) async fn renamed(&mut self, who: &Identity) {
        for plan in &mut self.plans {
            plan.renamed(who);
        }
        self.announce();
        for running in self.running.values_mut() {
            running
                .entrants
                .iter_mut()
                .filter(|known| known.id == who.id)
                .for_each(|known| *known = who.clone());
        }
        self.read_names_of(&who.id).await;
    }

    /// Reads what goes on with a player in it again, names and all.
    async fn read_names_of(&mut self, player: &PlayerId) {
        let with_them =
            self.running.iter().filter(|(_, running)| running.contest.tournament().entrants.contains(player));
        for id in with_them.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.reload(&id).await;
        }
    }

    pub(super) async fn decide(
        &mut self,
        id: &TournamentId,
        who: &PlayerId,
        decision: PlanDecision,
    ) -> Result<(), PlanError> {
        let plan = self.plans.iter().find(|plan| plan.made_as(id).is_some()).ok_or(PlanError::Unknown)?;
        if plan.made_as(id).is_none_or(|made| made.maker.id != *who) {
            return Err(PlanError::NotYours);
        }
        match decision {
            PlanDecision::Drop => self.drop_plan(id).await,
            PlanDecision::Begin => {
                let (config, due) = (plan.config.clone(), plan.next.unwrap_or_else(UnixMillis::now));
                self.start(&config, due).await?;
                Ok(())
            }
        }
    }

    pub(super) async fn drop_plan(&mut self, id: &TournamentId) -> Result<(), PlanError> {
        self.note(Write::DropPlan(id.clone())).await?;
        self.plans.retain(|plan| plan.made_as(id).is_none());
        self.announce();
        Ok(())
    }

    /// Writes what a person has said of a tournament that is to come.
    async fn note(&self, write: Write) -> Result<(), PlanError> {
        match self.deps.writer.write(write).await {
            Ok(_) => Ok(()),
            // It is gone with an account that is.
            Err(WriteError::Refused(Refused::NoSuchPlan | Refused::NoSuchPlayer)) => Err(PlanError::Unknown),
            Err(error) => {
                warn!(error = %error, "what was said of a tournament is not stored");
                Err(PlanError::Unavailable)
            }
        }
    }

    pub(super) async fn enter(&mut self, name: String, who: Identity, wish: Wish) -> Result<(), EntryError> {
        let is_to_come =
            |plan: &PlannedTournament| plan.config.name == name && plan.config.at != TournamentStart::Daemon;
        let Some(place) = self.plans.iter().position(is_to_come) else {
            return Err(EntryError::Unknown(name));
        };
        let plan = &self.plans[place];
        if !plan.config.open_people {
            return Err(EntryError::Closed(name));
        }
        let others = plan.entered.iter().filter(|entered| entered.id != who.id).count();
        if wish == Wish::Enter && others >= plan.people_max() {
            return Err(EntryError::Full { max: plan.people_max() });
        }
        let has_entered = others < plan.entered.len();
        if has_entered == (wish == Wish::Enter) {
            return Ok(());
        }
        if let Some(Made { id, .. }) = &plan.made {
            let (plan, player) = (id.clone(), who.id.clone());
            let write = match wish {
                Wish::Enter => Write::EnterPlan { plan, player },
                Wish::Withdraw => Write::LeavePlan { plan, player },
            };
            self.note(write).await.map_err(|_| EntryError::Unavailable)?;
        }
        let entered = &mut self.plans[place].entered;
        match wish {
            Wish::Enter => entered.push(who),
            Wish::Withdraw => entered.retain(|entered| entered.id != who.id),
        }
        self.announce();
        Ok(())
    }

    /// Calls a tournament off.
    pub(super) async fn cancel(
        &mut self,
        id: &TournamentId,
        by: Canceller,
        because: Option<String>,
    ) -> Result<(), PlanError> {
        let (mut tournament, maker, games) = self.as_it_stands(id).ok_or(PlanError::Unknown)?;
        let because_of_operator = match by {
            Canceller::Maker(who) if maker.as_ref() != Some(&who) => return Err(PlanError::NotYours),
            Canceller::Maker(_) => None,
            Canceller::Operator(because) => Some(because),
        };
        let (reason, at) = (EndedBecause::Cancelled, UnixMillis::now());
        tournament.end = Some(TournamentEnd { reason, at, winner: None, games, because });
        let name = tournament.name.clone();
        self.note(Write::CancelTournament { tournament: Box::new(tournament), because: because_of_operator })
            .await?;
        info!(tournament = %id, name, "a tournament is called off");
        self.forget(id);
        self.plans.retain(|plan| plan.made_as(id).is_none());
        self.announce();
        Ok(())
    }

    /// A tournament that goes on, or one that somebody has made as it would be stored if it began now, with its maker
    /// and the number of its games.
    fn as_it_stands(&self, id: &TournamentId) -> Option<(StoredTournament, Option<PlayerId>, u64)> {
        if let Some(running) = self.running.get(id) {
            let tournament = running.contest.tournament().clone();
            let maker = tournament.maker.clone();
            return Some((tournament, maker, running.contest.games().0));
        }
        let plan = self.plans.iter().find(|plan| plan.made_as(id).is_some())?;
        let maker = plan.made_as(id).map(|made| made.maker.id.clone());
        let due = plan.next.unwrap_or_else(UnixMillis::now);
        let planned = super::plan(&plan.config, &plan.entered, due);
        Some((StoredTournament { id: id.clone(), maker: maker.clone(), ..planned }, maker, 0))
    }

    /// Of a person who comes to a tournament, or withdraws, by its id: one that somebody has made and that is to come,
    /// or one that goes on.
    pub(super) async fn attend(
        &mut self,
        id: &TournamentId,
        who: Identity,
        wish: Wish,
    ) -> Result<(), EntryError> {
        let plan = self.plans.iter().find(|plan| plan.made_as(id).is_some());
        if let Some(name) = plan.map(|plan| plan.config.name.clone()) {
            return self.enter(name, who, wish).await;
        }
        match wish {
            Wish::Enter => self.join(id, who).await,
            Wish::Withdraw => self.quit(id, &who.id).await,
        }
    }

    async fn join(&mut self, id: &TournamentId, who: Identity) -> Result<(), EntryError> {
        let running = self.running.get(id).ok_or_else(|| EntryError::Unknown(id.to_string()))?;
        let contest = &running.contest;
        let name = || contest.tournament().name.clone();
        let place = contest.place(&who.id);
        if place.is_some_and(|place| !contest.has_left(place)) {
            return Ok(());
        }
        let may_come_back = matches!(contest, Contest::Arena(_));
        let came = contest.comes_at(UnixMillis::now()).filter(|_| may_come_back || place.is_none());
        let came = came.ok_or_else(|| EntryError::Late(name()))?;
        if place.is_none() && !contest.tournament().open_people {
            return Err(EntryError::Closed(name()));
        }
        let max = if may_come_back { ENTRANTS_OF_ARENA_MAX } else { ENTERED_MAX };
        if place.is_none() && contest.names().len() >= max {
            return Err(EntryError::Full { max });
        }
        let (tournament, player) = (id.clone(), who.id.clone());
        self.take_down(Write::JoinTournament { tournament, player, came }).await?;
        info!(tournament = %id, entrant = %who.name, "somebody comes to a tournament");
        let Some(running) = self.running.get_mut(id) else { return Ok(()) };
        running.is_outdated = true;
        running.contest.join(who.id.clone(), who.name.clone(), came);
        if place.is_none() {
            running.entrants.push(who);
        }
        self.show(id);
        Ok(())
    }

    /// Takes an entrant out, who may come back to an arena.
    pub(super) async fn quit(&mut self, id: &TournamentId, who: &PlayerId) -> Result<(), EntryError> {
        let running = self.running.get(id).ok_or_else(|| EntryError::Unknown(id.to_string()))?;
        let contest = &running.contest;
        let place = contest.place(who).filter(|place| !contest.has_left(*place));
        let Some(place) = place else { return Ok(()) };
        let (tournament, player, went) = (id.clone(), who.clone(), contest.goes_at());
        self.take_down(Write::QuitTournament { tournament, player, went }).await?;
        info!(tournament = %id, entrant = %contest.names()[place], "somebody withdraws from a tournament");
        let Some(running) = self.running.get_mut(id) else { return Ok(()) };
        running.is_outdated = true;
        running.contest.quit(place, went);
        self.show(id);
        Ok(())
    }

    /// Writes that somebody comes to a tournament that goes on, or leaves it.
    async fn take_down(&self, write: Write) -> Result<(), EntryError> {
        match self.deps.writer.write(write).await {
            Ok(_) => Ok(()),
            Err(error) => {
                warn!(error = %error, "who takes part in a tournament is not stored");
                Err(EntryError::Unavailable)
            }
        }
    }
}
