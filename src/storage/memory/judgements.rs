//! Judged games in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use fourfold_engine::review::Encounter;
use fourfold_engine::{Side, SideResult, Variant};

use super::{MemoryStore, MemoryTables, is_rated};
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::storage::judgements::{
    Judgement, JudgementStore, JudgingProgress, JudgingStep, PEOPLE_LOOKED_AT, PlayerSkill,
};
use crate::storage::store::{Refused, StoreError, Written};

/// What the judge has said, by the numbers of the games.
#[derive(Debug, Default)]
pub(super) struct Judgements {
    covered: u64,
    /// Numbers above `covered` that were judged all the same.
    ahead: BTreeSet<u64>,
    games: BTreeMap<u64, Judgement>,
}

impl MemoryTables {
    pub(super) fn step_judging(&mut self, step: &JudgingStep) -> Result<Written, Refused> {
        let follows = step.games.is_sorted_by_key(|(number, _)| *number)
            && step.games.first().is_none_or(|(number, _)| *number > step.from);
        let finished = self.finished.len() as u64;
        let judgements = &mut self.judgements;
        let is_ahead = |number| (step.covered() + 1..=finished).contains(&number);
        let is_new = |(number, _): &(u64, Judgement)| is_ahead(*number) && !judgements.ahead.contains(number);
        if judgements.covered != step.from
            || !follows
            || step.covered() > finished
            || !step.ahead.iter().all(is_new)
        {
            return Err(Refused::JudgeElsewhere);
        }
        judgements.covered = step.covered();
        for (number, judgement) in &step.games {
            if !judgements.ahead.remove(number) {
                judgements.games.insert(*number, *judgement);
            }
        }
        judgements.ahead.extend(step.ahead.iter().map(|(number, _)| *number));
        judgements.games.extend(step.ahead.iter().copied());
        self.puzzles.add(&step.harvest);
        Ok(Written::Done)
    }

    /// Adds all judged games up: nothing is kept that could go astray.
    fn skills(&self) -> HashMap<(PlayerId, Variant), PlayerSkill> {
        let mut skills: HashMap<(PlayerId, Variant), PlayerSkill> = HashMap::new();
        for (number, game) in self.finished_games().filter(|(_, game)| is_rated(game)) {
            let Some(Judgement::Judged(judged)) = self.judgements.games.get(&number) else { continue };
            for side in Side::BOTH {
                let player = game.spec.players[side].clone();
                let sums = skills.entry((player, game.spec.variant)).or_default();
                sums.games += 1;
                sums.skill.add_all(&judged[side]);
            }
        }
        skills
    }

    fn encounters_of(&self, player: &PlayerId, variant: Variant, games: u32) -> Vec<Encounter> {
        let mut encounters: BTreeMap<PlayerId, Encounter> = BTreeMap::new();
        let rated: Vec<_> = self.finished_games().filter(|(_, game)| is_rated(game)).collect();
        let own = rated.into_iter().rev().filter_map(|(number, game)| {
            let spec = &game.spec;
            let side = Side::BOTH.into_iter().find(|side| spec.players[*side] == *player)?;
            (spec.variant == variant).then_some((number, game, side))
        });
        for (number, game, side) in own.take(games as usize) {
            let judged = self.judgements.games.get(&number);
            let (Some(Judgement::Judged(judged)), Some(ending)) = (judged, game.ending()) else { continue };
            let encounter = encounters.entry(game.spec.players[side.opponent()].clone()).or_default();
            let result = SideResult::of(side, ending.result.winner());
            encounter.score.count(result);
            if result == SideResult::Win {
                encounter.stones_of_wins += game.moves().len() as u64;
            }
            encounter.faced.add(judged[side.opponent()].decided());
        }
        let skills = self.skills();
        for (opponent, encounter) in &mut encounters {
            let all = skills.get(&(opponent.clone(), variant)).map(|sums| sums.skill.decided());
            encounter.elsewhere = all.unwrap_or_default().without(encounter.faced);
        }
        encounters.into_values().collect()
    }
}

#[async_trait]
impl JudgementStore for MemoryStore {
    async fn judging_progress(&self) -> Result<JudgingProgress, StoreError> {
        let tables = self.tables();
        let (covered, ahead) = (tables.judgements.covered, tables.judgements.ahead.len() as u64);
        Ok(JudgingProgress { covered, finished: tables.finished.len() as u64, ahead })
    }

    async fn judged_ahead(&self, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError> {
        let tables = self.tables();
        let ahead = tables.judgements.ahead.iter().copied();
        Ok(ahead.filter(|number| *number > after && *number <= up_to).collect())
    }

    async fn unjudged_games_of_people(&self, limit: u32) -> Result<Vec<u64>, StoreError> {
        let tables = self.tables();
        let from =
            tables.judgements.covered.max((tables.finished.len() as u64).saturating_sub(PEOPLE_LOOKED_AT));
        let is_person =
            |id: &PlayerId| tables.players.get(id).is_some_and(|player| player.kind != PlayerKind::Bot);
        let mut numbers: Vec<u64> = tables
            .finished_games()
            .filter(|(number, _)| *number > from)
            .filter(|(_, game)| is_person(&game.spec.players.first) || is_person(&game.spec.players.second))
            .map(|(number, _)| number)
            .filter(|number| !tables.judgements.ahead.contains(number))
            .collect();
        numbers.reverse();
        numbers.truncate(limit as usize);
        Ok(numbers)
    }

    async fn judgement(&self, game: &GameId) -> Result<Option<Judgement>, StoreError> {
        let tables = self.tables();
        let place = tables.finished.iter().position(|id| id == game);
        Ok(place.and_then(|place| tables.judgements.games.get(&(place as u64 + 1)).copied()))
    }

    async fn skills(&self, variant: Variant) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError> {
        let skills = self.tables().skills().into_iter();
        Ok(skills.filter(|((_, of), _)| *of == variant).map(|((player, _), skill)| (player, skill)).collect())
    }

    async fn skills_of(&self, player: &PlayerId) -> Result<Vec<(Variant, PlayerSkill)>, StoreError> {
        let own = self.tables().skills().into_iter().filter(|((id, _), _)| id == player);
        let mut skills: Vec<(Variant, PlayerSkill)> =
            own.map(|((_, variant), skill)| (variant, skill)).collect();
        skills.sort_by_key(|(variant, _)| variant.to_string());
        Ok(skills)
    }

    async fn encounters_of(
        &self,
        player: &PlayerId,
        variant: Variant,
        games: u32,
    ) -> Result<Vec<Encounter>, StoreError> {
        Ok(self.tables().encounters_of(player, variant, games))
    }
}
