//! What is stored of the judge's work: how well each side played each finished game, and the sums by player.

use std::collections::BTreeSet;

use async_trait::async_trait;
use fourfold_engine::review::{Encounter, Skill};
use fourfold_engine::{BySide, Variant};

use super::error::StoreError;
use super::puzzles::Harvest;
use crate::model::ids::{GameId, PlayerId};

/// What the judge says about a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// How well each side played, without the opening's moves.
    Judged(BySide<Skill>),
    /// Nothing: the game is void or damaged, or its positions are too hard. It will not be looked at again.
    Unjudged,
}

/// How well a player played in one variant: the sums over all judged games that counted for its rating.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlayerSkill {
    pub(crate) games: u64,
    /// The sums over its moves.
    pub(crate) skill: Skill,
}

/// The judge goes on: all of it becomes durable together, or nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JudgingStep {
    /// Where it begins: what the store holds. Refused as [`super::store::Refused::JudgeElsewhere`] otherwise.
    pub(crate) from: u64,
    /// What it says about the games after that, by their numbers, in order. One that was judged ahead keeps what was
    /// said then.
    pub(crate) games: Vec<(u64, Judgement)>,
    /// What it says about games behind those, which somebody waits for, in any order.
    pub(crate) ahead: Vec<(u64, Judgement)>,
    /// Puzzles found in them.
    pub(crate) harvest: Harvest,
}

impl JudgingStep {
    /// What it says about games in their order, and nothing else.
    pub(crate) fn in_order(from: u64, games: Vec<(u64, Judgement)>) -> Self {
        Self { from, games, ahead: Vec::new(), harvest: Harvest::default() }
    }

    /// The number of the last game that is then covered.
    pub(crate) fn covered(&self) -> u64 {
        self.games.last().map_or(self.from, |(number, _)| *number)
    }
}

/// Among so many of the last games those of people are looked for, so that the look takes milliseconds.
pub(crate) const PEOPLE_LOOKED_AT: u64 = 10_000;

/// The part of a store that is about judged games. Written by [`super::store::Write::StepJudging`].
#[async_trait]
pub trait JudgementStore {
    /// The number of the last finished game that the judge has looked at, and that of the last finished game.
    async fn judging_progress(&self) -> Result<JudgingProgress, StoreError>;

    /// Which finished games after one number and up to another the judge has looked at out of their order, by their
    /// numbers: as many rows are read as games are asked about, however many wait behind them.
    async fn judged_ahead(&self, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError>;

    /// The finished games of people that the judge has not looked at, the newest first, at most so many: of the last
    /// [`PEOPLE_LOOKED_AT`] games, for those before are news no more.
    async fn unjudged_games_of_people(&self, limit: u32) -> Result<Vec<u64>, StoreError>;

    /// What the judge says about a game; `None` if it has not come to it, or there is no such finished game.
    async fn judgement(&self, game: &GameId) -> Result<Option<Judgement>, StoreError>;

    /// How well all players of a variant play, in no order.
    async fn skills(&self, variant: Variant) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError>;

    /// How well a player plays, by variant.
    async fn skills_of(&self, player: &PlayerId) -> Result<Vec<(Variant, PlayerSkill)>, StoreError>;

    /// What came of those of a player's last rated games on a board that were judged, one for each opponent. Of so many
    /// last games: what is summed up for a page takes milliseconds.
    async fn encounters_of(
        &self,
        player: &PlayerId,
        variant: Variant,
        games: u32,
    ) -> Result<Vec<Encounter>, StoreError>;
}

/// How far the judge has come.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct JudgingProgress {
    /// Number of the last game up to which all finished ones were looked at.
    pub(crate) covered: u64,
    /// Number of the last finished game.
    pub(crate) finished: u64,
    /// How many in between were looked at ahead of the others.
    pub(crate) ahead: u64,
}

impl JudgingProgress {
    /// Games that finished and were not looked at yet.
    pub(crate) fn behind(self) -> u64 {
        self.finished.saturating_sub(self.covered + self.ahead)
    }
}
