//! Judged games and the sums by player.

use std::collections::BTreeSet;

use async_trait::async_trait;
use fourfold_engine::review::{Encounter, Skill};
use fourfold_engine::{BySide, Side, Variant};

use super::db::{self, Connection, Query};
use super::{PostgresStore, puzzles};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::judgements::{
    Judgement, JudgementStore, JudgingProgress, JudgingStep, PEOPLE_LOOKED_AT, PlayerSkill,
};
use crate::storage::rows::judgements::{
    EncounterRow, JudgedPlayerRow, SideRow, add_sums, select_encounters, subtract_sums,
};
use crate::storage::rows::{number, parsed, to_sql, word};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word as _;

/// Binds all counts in the order of the columns.
macro_rules! bind_counts {
    ($query:expr, $skill:expr) => {{
        let Skill { moves, good, optimal, decisions, good_decisions, loss } = *$skill;
        let query = $query.bind(to_sql(moves)).bind(to_sql(good)).bind(to_sql(optimal));
        query.bind(to_sql(decisions)).bind(to_sql(good_decisions)).bind(to_sql(loss))
    }};
}

/// Adds counts, which are bound first, to the sums of the player who sat on one side of the game with a number.
macro_rules! add_to_sums_of {
    ($seat:literal) => {
        concat!(
            "INSERT INTO skill (player, variant, games, moves, good, optimal, decisions, good_decisions, loss) ",
            "SELECT g.",
            $seat,
            ", g.variant, 1, $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint ",
            "FROM settlement n JOIN game g ON g.key = n.game ",
            "WHERE n.number = $7 AND EXISTS (SELECT 1 FROM rating_entry e WHERE e.number = n.number) ",
            "ON CONFLICT (player, variant) DO UPDATE SET games = skill.games + 1, ",
            "moves = skill.moves + excluded.moves, good = skill.good + excluded.good, ",
            "optimal = skill.optimal + excluded.optimal, decisions = skill.decisions + excluded.decisions, ",
            "good_decisions = skill.good_decisions + excluded.good_decisions, loss = skill.loss + excluded.loss"
        )
    };
}

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

#[async_trait]
impl JudgementStore for PostgresStore {
    async fn judging_progress(&self) -> Result<JudgingProgress, StoreError> {
        judging_progress(&*self.reader().await?).await
    }

    async fn judged_ahead(&self, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError> {
        judged_ahead(&*self.reader().await?, after, up_to).await
    }

    async fn unjudged_games_of_people(&self, limit: u32) -> Result<Vec<u64>, StoreError> {
        unjudged_games_of_people(&*self.reader().await?, limit).await
    }

    async fn judgement(&self, game: &GameId) -> Result<Option<Judgement>, StoreError> {
        judgement(&*self.reader().await?, game).await
    }

    async fn skills(&self, variant: Variant) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError> {
        skills(&*self.reader().await?, variant).await
    }

    async fn skills_of(&self, player: &PlayerId) -> Result<Vec<(Variant, PlayerSkill)>, StoreError> {
        skills_of(&*self.reader().await?, player).await
    }

    async fn encounters_of(
        &self,
        player: &PlayerId,
        variant: Variant,
        games: u32,
    ) -> Result<Vec<Encounter>, StoreError> {
        encounters_of(&*self.reader().await?, player, variant, games).await
    }
}

async fn judging_progress(connection: &Connection) -> Result<JudgingProgress, StoreError> {
    let sql = "SELECT covered, coalesce((SELECT max(number) FROM settlement), 0), \
               (SELECT count(*) FROM judged_ahead) FROM judging";
    let (covered, finished, ahead) = db::query_as(sql).fetch_one(connection).await?;
    Ok(JudgingProgress {
        covered: number("judging.covered", covered)?,
        finished: number("settlement.number", finished)?,
        ahead: number("judged_ahead", ahead)?,
    })
}

async fn judged_ahead(connection: &Connection, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError> {
    let sql = "SELECT number FROM judged_ahead WHERE number > $1 AND number <= $2";
    let query = db::query_scalar(sql).bind(to_sql(after)).bind(to_sql(up_to));
    let numbers: Vec<i64> = query.fetch_all(connection).await?;
    numbers.into_iter().map(|value| Ok(number("judged_ahead.number", value)?)).collect()
}

async fn unjudged_games_of_people(connection: &Connection, limit: u32) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT n.number FROM settlement n JOIN game g ON g.key = n.game \
               JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player, judging j \
               WHERE n.number > GREATEST(j.covered, (SELECT max(number) FROM settlement) - $1) \
               AND (f.kind <> 'bot' OR s.kind <> 'bot') \
               AND NOT EXISTS (SELECT 1 FROM judged_ahead a WHERE a.number = n.number) \
               ORDER BY n.number DESC LIMIT $2";
    let query = db::query_scalar(sql).bind(to_sql(PEOPLE_LOOKED_AT)).bind(limit);
    let numbers: Vec<i64> = query.fetch_all(connection).await?;
    numbers.into_iter().map(|value| Ok(number("settlement.number", value)?)).collect()
}

async fn judgement(connection: &Connection, game: &GameId) -> Result<Option<Judgement>, StoreError> {
    let sql = "SELECT n.number <= j.covered OR EXISTS (SELECT 1 FROM judged_ahead a WHERE a.number = n.number) \
               FROM settlement n JOIN game g ON g.key = n.game, judging j WHERE g.id = $1";
    let is_covered: Option<bool> =
        db::query_scalar(sql).bind(game.as_str()).fetch_optional(connection).await?;
    if is_covered != Some(true) {
        return Ok(None);
    }
    // What was covered a moment ago stays as it was: the two reads cannot contradict each other.
    let sql = "SELECT j.side, j.moves, j.good, j.optimal, j.decisions, j.good_decisions, j.loss \
               FROM judgement j JOIN settlement n ON n.number = j.number JOIN game g ON g.key = n.game \
               WHERE g.id = $1";
    let rows: Vec<SideRow> = db::query_as(sql).bind(game.as_str()).fetch_all(connection).await?;
    if rows.is_empty() {
        return Ok(Some(Judgement::Unjudged));
    }
    let mut skill = BySide::<Skill>::default();
    for row in rows {
        skill[word::<Side>("judgement.side", &row.side)?] = row.skill.decode()?;
    }
    Ok(Some(Judgement::Judged(skill)))
}

async fn skills(
    connection: &Connection,
    variant: Variant,
) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError> {
    let sql = "SELECT p.id AS of, s.games, s.moves, s.good, s.optimal, s.decisions, s.good_decisions, s.loss \
               FROM skill s JOIN player p ON p.key = s.player WHERE s.variant = $1";
    let rows: Vec<JudgedPlayerRow> =
        db::query_as(sql).bind(variant.to_string()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.of)?, row.decode()?))).collect()
}

async fn skills_of(
    connection: &Connection,
    player: &PlayerId,
) -> Result<Vec<(Variant, PlayerSkill)>, StoreError> {
    let sql = "SELECT s.variant AS of, s.games, s.moves, s.good, s.optimal, s.decisions, s.good_decisions, \
               s.loss FROM skill s JOIN player p ON p.key = s.player WHERE p.id = $1 ORDER BY s.variant";
    let rows: Vec<JudgedPlayerRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed("skill.variant", &row.of)?, row.decode()?))).collect()
}

async fn encounters_of(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    games: u32,
) -> Result<Vec<Encounter>, StoreError> {
    let sql = select_encounters!(
        "(SELECT number, opponent FROM rating_entry WHERE player = (SELECT key FROM player WHERE id = $1) \
          AND variant = $2 ORDER BY number DESC LIMIT $3) e",
        "$2"
    );
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(games);
    let rows: Vec<EncounterRow> = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok(row.decode()?)).collect()
}

// ---- writing ----

/// Takes a step, or finds why it must be refused before anything of it is written.
pub(super) async fn step(connection: &Connection, step: &JudgingStep) -> WriteOutcome {
    let sql = "SELECT covered, coalesce((SELECT max(number) FROM settlement), 0) FROM judging";
    let (covered, finished): (i64, i64) = db::query_as(sql).fetch_one(connection).await?;
    let follows = step.games.is_sorted_by_key(|(number, _)| *number)
        && step.games.first().is_none_or(|(number, _)| *number > step.from);
    let is_ahead = |(number, _): &(u64, Judgement)| *number > step.covered() && to_sql(*number) <= finished;
    if to_sql(step.from) != covered
        || !follows
        || to_sql(step.covered()) > finished
        || !step.ahead.iter().all(is_ahead)
    {
        return Ok(Err(Refused::JudgeElsewhere));
    }
    let ahead: Vec<i64> = step.ahead.iter().map(|(number, _)| to_sql(*number)).collect();
    let query = db::query("SELECT 1 FROM judged_ahead WHERE number = ANY($1)").bind(ahead.clone());
    if query.has_row(connection).await? {
        return Ok(Err(Refused::JudgeElsewhere));
    }
    let in_order: Vec<i64> = step.games.iter().map(|(number, _)| to_sql(*number)).collect();
    let query = db::query_scalar("DELETE FROM judged_ahead WHERE number = ANY($1) RETURNING number");
    let were_ahead: Vec<i64> = query.bind(in_order).fetch_all(connection).await?;
    let is_new = |(number, _): &&(u64, Judgement)| !were_ahead.contains(&to_sql(*number));
    let mut statements =
        vec![db::query("INSERT INTO judged_ahead (number) SELECT unnest($1::bigint[])").bind(ahead)];
    for (number, judgement) in step.games.iter().filter(is_new).chain(&step.ahead) {
        let Judgement::Judged(skill) = judgement else { continue };
        for side in Side::BOTH {
            statements.push(judgement_of(*number, side, &skill[side]));
            statements.push(adding_to_sums(*number, side, &skill[side]));
        }
    }
    statements.push(db::query("UPDATE judging SET covered = $1").bind(to_sql(step.covered())));
    db::execute_all(connection, &statements).await?;
    puzzles::add(connection, &step.harvest).await?;
    Ok(Ok(Written::Done))
}

/// Stores what is said about one side of a game.
fn judgement_of(number: u64, side: Side, skill: &Skill) -> Query<'static> {
    let sql = "INSERT INTO judgement (number, side, moves, good, optimal, decisions, good_decisions, loss) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let query = db::query(sql).bind(to_sql(number)).bind(side.word());
    bind_counts!(query, skill)
}

/// Adds a side's counts to its player's sums, if the game counted for ratings.
fn adding_to_sums(number: u64, side: Side, skill: &Skill) -> Query<'static> {
    let sql = match side {
        Side::First => add_to_sums_of!("first_player"),
        Side::Second => add_to_sums_of!("second_player"),
    };
    bind_counts!(db::query(sql), skill).bind(to_sql(number))
}

/// Sums a variant's judged games up again, after the set of those that count for ratings has changed.
pub(super) async fn sum_again(connection: &Connection, variant: &str) -> Result<(), StoreError> {
    db::query("DELETE FROM skill WHERE variant = $1").bind(variant).execute(connection).await?;
    add_sums(connection, variant, 0, i64::MAX).await
}

/// Takes what games say about skill out of its sums, which have no rows of nothing.
pub(super) async fn subtract_sums(
    connection: &Connection,
    variant: &str,
    after: i64,
    last: i64,
) -> Result<(), StoreError> {
    db::execute_all(connection, &[subtracting_sums(variant, after, last), dropping_empty_sums(variant)])
        .await?;
    Ok(())
}

/// The statement that takes games out of the sums, and leaves those of nothing.
pub(super) fn subtracting_sums(variant: &str, after: i64, last: i64) -> Query<'_> {
    db::query(subtract_sums!("$1", "$2", "$3")).bind(variant).bind(after).bind(last)
}

/// The statement that drops the sums of nothing.
pub(super) fn dropping_empty_sums(variant: &str) -> Query<'_> {
    db::query("DELETE FROM skill WHERE variant = $1 AND games <= 0").bind(variant)
}

pub(super) async fn add_sums(
    connection: &Connection,
    variant: &str,
    after: i64,
    last: i64,
) -> Result<(), StoreError> {
    let sql = add_sums!("$1", "$2", "$3");
    db::query(sql).bind(variant).bind(after).bind(last).execute(connection).await?;
    Ok(())
}
