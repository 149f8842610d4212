//! Tournaments that are to come: those of the configuration, and those that people have made.

use std::collections::HashSet;
use std::sync::Arc;

use super::board::{PlanTerms, Upcoming};
use crate::model::bounded::Bounded;
use crate::model::ids::{PlayerName, SessionId, TournamentId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::storage::tournaments::TournamentPlan;
use crate::system::config::{ARENA_MINUTES, FormatName, TournamentConfig, TournamentStart};
use crate::system::shares::Held;

/// Tournaments of people that may be to come at the same time: the director looks at each every second, and one page
/// lists them all.
pub(super) const PLANS_MAX: usize = 200;

/// How many of them one account may have made: tonight's and the next one.
pub(crate) const PLANS_OF_ONE_MAX: usize = 2;

/// People who may enter a tournament: a Swiss of these has six rounds, which is what one evening can hold.
pub(super) const ENTERED_MAX: usize = 64;

/// The same where everybody meets everybody: fifteen meetings for each.
const ROUND_ROBIN_MAX: usize = 16;

/// Who may take part in an arena of people, late comers among them: as many as one page of standings can show, and
/// half of them the games that begin at once.
pub(super) const ENTRANTS_OF_ARENA_MAX: usize = 200;

/// Games of a tournament of people at the same time: all of a full round.
const BOARDS_MAX: u32 = 32;

/// A tournament that is to come.
#[derive(Debug)]
pub(super) struct PlannedTournament {
    pub(super) config: TournamentConfig,
    /// When it is due.
    pub(super) next: Option<UnixMillis>,
    /// People who want to take part in the next one.
    pub(super) entered: Vec<Identity>,
    /// Who was told that it begins soon.
    pub(super) called: HashSet<SessionId>,
    /// By whom it was made, if it is none of the configuration.
    pub(super) made: Option<Made>,
}

/// What is known of a tournament that somebody has made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// That of the tournament which it becomes.
    pub(super) id: TournamentId,
    pub(super) maker: Identity,
    /// What it takes of the share of its maker's network; nothing after a restart, for addresses are not stored.
    _place: Option<Arc<Held>>,
}

impl PlannedTournament {
    pub(super) fn of_configuration(config: TournamentConfig) -> Self {
        Self { config, next: None, entered: Vec::new(), called: HashSet::new(), made: None }
    }

    /// What somebody has made, with those who take part.
    pub(super) fn made(
        plan: TournamentPlan,
        maker: Identity,
        entered: Vec<Identity>,
        place: Option<Held>,
    ) -> Self {
        let made = Made { id: plan.id.clone(), maker, _place: place.map(Arc::new) };
        let called = HashSet::new();
        Self { next: Some(plan.begins_at), entered, called, made: Some(made), config: config_of(plan) }
    }

    /// Somebody is called otherwise by now.
    pub(super) fn renamed(&mut self, who: &Identity) {
        let maker = self.made.as_mut().map(|made| &mut made.maker);
        let known = self.entered.iter_mut().chain(maker);
        known.filter(|known| known.id == who.id).for_each(|known| *known = who.clone());
    }

    /// By whom it was made, if it is the one of this id.
    pub(super) fn made_as(&self, id: &TournamentId) -> Option<&Made> {
        self.made.as_ref().filter(|made| made.id == *id)
    }

    /// How many people may take part.
    pub(super) fn people_max(&self) -> usize {
        match self.config.format {
            FormatName::RoundRobin if self.made.is_some() => ROUND_ROBIN_MAX,
            FormatName::Arena => ENTRANTS_OF_ARENA_MAX,
            _ => ENTERED_MAX,
        }
    }

    /// How many may take part in all: the operator's own tournaments take every bot that is named or open.
    pub(super) fn entrants_max(&self) -> usize {
        if self.made.is_some() { self.people_max() } else { usize::MAX }
    }

    /// How it is shown; nothing for those that begin with the daemon.
    pub(super) fn upcoming(&self) -> Option<Upcoming> {
        let Self { config, next, entered, called: _, made } = self;
        if config.at == TournamentStart::Daemon {
            return None;
        }
        let names = || -> Vec<PlayerName> { entered.iter().map(|who| who.name.clone()).collect() };
        Some(Upcoming {
            id: made.as_ref().map(|made| made.id.clone()),
            maker: made.as_ref().map(|made| made.maker.clone()),
            name: config.name.clone(),
            at: *next,
            terms: PlanTerms {
                format: config.format,
                rounds: config.rounds.map(Bounded::number),
                minutes: (config.format == FormatName::Arena).then(|| config.minutes.number()),
                games: config.games.map(Bounded::number),
                time: config.time(),
                rated: config.rated,
            },
            open_bots: config.open_bots,
            entered: config.open_people.then(names),
            people_max: self.people_max(),
        })
    }
}

fn config_of(plan: TournamentPlan) -> TournamentConfig {
    let TournamentPlan { name, format, rounds, minutes, pairs, time, rated, open_bots, .. } = plan;
    TournamentConfig {
        name,
        at: TournamentStart::Command,
        format,
        entrants: Vec::new(),
        open_bots,
        open_people: true,
        games: Bounded::checked(pairs.saturating_mul(2)),
        rounds: rounds.and_then(Bounded::checked),
        minutes: minutes.and_then(Bounded::checked).unwrap_or(ARENA_MINUTES),
        seeds: Bounded::new(1),
        bank_ms: time.bank_ms.and_then(Bounded::checked).unwrap_or(Bounded::new(60_000)),
        increment_ms: Bounded::checked(time.increment_ms).unwrap_or_default(),
        rated,
        concurrency: Bounded::new(BOARDS_MAX),
        watchable: true,
        seed: None,
    }
}
