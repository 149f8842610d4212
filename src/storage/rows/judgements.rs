//! Judged games and the sums by player.

use fourfold_engine::WinDrawLoss;
use fourfold_engine::review::{Decisions, Encounter, Skill};

use super::{Damage, number};
use crate::storage::judgements::PlayerSkill;

/// The sums of judged games that count, of a variant, above a number and up to one: the names of the parameters.
macro_rules! select_sums {
    ($variant:literal, $after:literal, $last:literal) => {
        concat!(
            "SELECT e.player, e.variant, count(*) AS games, sum(j.moves) AS moves, sum(j.good) AS good, \
             sum(j.optimal) AS optimal, sum(j.decisions) AS decisions, sum(j.good_decisions) AS good_decisions, \
             sum(j.loss) AS loss FROM rating_entry e \
             JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
             JOIN judgement j ON j.number = e.number \
             AND j.side = CASE WHEN g.first_player = e.player THEN 'first' ELSE 'second' END \
             WHERE e.variant = ",
            $variant,
            " AND e.number > ",
            $after,
            " AND e.number <= ",
            $last,
            " GROUP BY e.player, e.variant"
        )
    };
}
pub(crate) use select_sums;

/// Adds those sums to what `skill` holds.
macro_rules! add_sums {
    ($variant:literal, $after:literal, $last:literal) => {
        concat!(
            "INSERT INTO skill (player, variant, games, moves, good, optimal, decisions, good_decisions, loss) ",
            $crate::storage::rows::judgements::select_sums!($variant, $after, $last),
            " ON CONFLICT (player, variant) DO UPDATE SET games = skill.games + excluded.games, \
             moves = skill.moves + excluded.moves, good = skill.good + excluded.good, \
             optimal = skill.optimal + excluded.optimal, decisions = skill.decisions + excluded.decisions, \
             good_decisions = skill.good_decisions + excluded.good_decisions, loss = skill.loss + excluded.loss"
        )
    };
}
pub(crate) use add_sums;

/// Takes those sums out of what `skill` holds.
macro_rules! subtract_sums {
    ($variant:literal, $after:literal, $last:literal) => {
        concat!(
            "UPDATE skill SET games = skill.games - p.games, moves = skill.moves - p.moves, good = skill.good - p.good, \
             optimal = skill.optimal - p.optimal, decisions = skill.decisions - p.decisions, \
             good_decisions = skill.good_decisions - p.good_decisions, loss = skill.loss - p.loss FROM (",
            $crate::storage::rows::judgements::select_sums!($variant, $after, $last),
            ") p WHERE skill.player = p.player AND skill.variant = p.variant"
        )
    };
}
pub(crate) use subtract_sums;

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

/// The columns of an [`EncounterRow`], by opponent in their order, of a player's last rated games on a board: `e` are
/// their numbers and opponents.
macro_rules! select_encounters {
    ($last:literal, $variant:literal) => {
        concat!(
            "SELECT CAST(count(*) AS BIGINT) AS games, \
             CAST(sum(CASE WHEN n.result = j.side THEN 1 ELSE 0 END) AS BIGINT) AS losses, \
             CAST(sum(CASE WHEN n.result = 'draw' THEN 1 ELSE 0 END) AS BIGINT) AS draws, \
             CAST(sum(CASE WHEN n.result IN (j.side, 'draw') THEN 0 ELSE length(n.moves) END) AS BIGINT) \
             AS stones_of_wins, \
             CAST(sum(j.decisions) AS BIGINT) AS faced, CAST(sum(j.good_decisions) AS BIGINT) AS kept, \
             coalesce(max(s.decisions), 0) AS all_faced, coalesce(max(s.good_decisions), 0) AS all_kept FROM ",
            $last,
            " JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
             JOIN judgement j ON j.number = e.number \
             AND j.side = CASE WHEN g.first_player = e.opponent THEN 'first' ELSE 'second' END \
             LEFT JOIN skill s ON s.player = e.opponent AND s.variant = ",
            $variant,
            " GROUP BY e.opponent ORDER BY e.opponent"
        )
    };
}
pub(crate) use select_encounters;

row! {
    /// The judged games of a player against one opponent, and what that one decided in all of its own.
    #[derive(Debug)]
    pub(crate) struct EncounterRow {
        games: i64,
        losses: i64,
        draws: i64,
        stones_of_wins: i64,
        faced: i64,
        kept: i64,
        all_faced: i64,
        all_kept: i64,
    }
}

impl EncounterRow {
    pub(crate) fn decode(&self) -> Result<Encounter, Damage> {
        let decisions = |faced: i64, kept: i64| {
            let failed = number("good_decisions", faced.saturating_sub(kept))?;
            Ok::<_, Damage>(Decisions { faced: number("decisions", faced)?, failed })
        };
        let (losses, draws): (u64, u64) = (number("losses", self.losses)?, number("draws", self.draws)?);
        let games: u64 = number("games", self.games)?;
        let faced = decisions(self.faced, self.kept)?;
        Ok(Encounter {
            score: WinDrawLoss { wins: games.saturating_sub(losses + draws), draws, losses },
            stones_of_wins: number("moves", self.stones_of_wins)?,
            faced,
            elsewhere: decisions(self.all_faced, self.all_kept)?.without(faced),
        })
    }
}
