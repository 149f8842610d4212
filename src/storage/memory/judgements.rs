//! Judged games in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use fourfold_engine::{Side, Variant};

use super::{MemoryStore, MemoryTables, is_rated};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::judgements::{Judgement, JudgementStore, JudgingProgress, JudgingStep, PlayerSkill};
use crate::storage::store::{Refused, StoreError, Written};

/// What the judge has said, by the numbers of the games.
#[derive(Debug, Default)]
pub(super) struct Judgements {
    covered: u64,
    games: BTreeMap<u64, Judgement>,
}

impl MemoryTables {
    pub(super) fn step_judging(&mut self, step: &JudgingStep) -> Result<Written, Refused> {
        let follows = step.games.is_sorted_by_key(|(number, _)| *number)
            && step.games.first().is_none_or(|(number, _)| *number > step.from);
        if self.judgements.covered != step.from || !follows || step.covered() > self.finished.len() as u64 {
            return Err(Refused::JudgeElsewhere);
        }
        self.judgements.covered = step.covered();
        self.judgements.games.extend(step.games.iter().copied());
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
}

#[async_trait]
impl JudgementStore for MemoryStore {
    async fn judging_progress(&self) -> Result<JudgingProgress, StoreError> {
        let tables = self.tables();
        Ok(JudgingProgress { covered: tables.judgements.covered, finished: tables.finished.len() as u64 })
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
}
