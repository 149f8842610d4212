//! Judged games and the sums by player.

use fourfold_engine::review::Skill;

use super::{Damage, number};
use crate::storage::judgements::PlayerSkill;

row! {
    /// The counts of a `judgement` or a `skill`.
    #[derive(Debug)]
    pub(crate) struct SkillRow {
        moves: i64,
        good: i64,
        optimal: i64,
        decisions: i64,
        good_decisions: i64,
        loss: i64,
    }
}

impl SkillRow {
    pub(crate) fn decode(&self) -> Result<Skill, Damage> {
        Ok(Skill {
            moves: number("moves", self.moves)?,
            good: number("good", self.good)?,
            optimal: number("optimal", self.optimal)?,
            decisions: number("decisions", self.decisions)?,
            good_decisions: number("good_decisions", self.good_decisions)?,
            loss: number("loss", self.loss)?,
        })
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct SideRow {
        pub(crate) side: String,
    } with {
        pub(crate) skill: SkillRow,
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct JudgedPlayerRow {
        /// A player's id, or a variant.
        pub(crate) of: String,
        games: i64,
    } with {
        skill: SkillRow,
    }
}

impl JudgedPlayerRow {
    pub(crate) fn decode(&self) -> Result<PlayerSkill, Damage> {
        Ok(PlayerSkill { games: number("skill.games", self.games)?, skill: self.skill.decode()? })
    }
}
