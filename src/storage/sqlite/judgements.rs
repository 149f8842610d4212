//! Judged games and the sums by player.

use std::collections::BTreeSet;

use async_trait::async_trait;
use fourfold_engine::review::{Encounter, Skill};
use fourfold_engine::{BySide, Side, Variant};

use super::db::{self, Connection};
use super::{SqliteStore, puzzles};
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
            ", g.variant, 1, ?, ?, ?, ?, ?, ? FROM settlement n JOIN game g ON g.key = n.game ",
            "WHERE n.number = ? AND EXISTS (SELECT 1 FROM rating_entry e WHERE e.number = n.number) ",
            "ON CONFLICT DO UPDATE SET games = games + 1, moves = moves + excluded.moves, ",
            "good = good + excluded.good, optimal = optimal + excluded.optimal, ",
            "decisions = decisions + excluded.decisions, ",
            "good_decisions = good_decisions + excluded.good_decisions, loss = loss + excluded.loss"
        )
    };
}

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

#[async_trait]
impl JudgementStore for SqliteStore {
    async fn judging_progress(&self) -> Result<JudgingProgress, StoreError> {
        self.readers.read(judging_progress).await
    }

    async fn judged_ahead(&self, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError> {
        self.readers.read(move |connection| judged_ahead(connection, after, up_to)).await
    }

    async fn unjudged_games_of_people(&self, limit: u32) -> Result<Vec<u64>, StoreError> {
        self.readers.read(move |connection| unjudged_games_of_people(connection, limit)).await
    }

    async fn judgement(&self, game: &GameId) -> Result<Option<Judgement>, StoreError> {
        let game = game.clone();
        self.readers.read(move |connection| judgement(connection, &game)).await
    }

    async fn skills(&self, variant: Variant) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError> {
        self.readers.read(move |connection| skills(connection, variant)).await
    }

    async fn skills_of(&self, player: &PlayerId) -> Result<Vec<(Variant, PlayerSkill)>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| skills_of(connection, &player)).await
    }

    async fn encounters_of(
        &self,
        player: &PlayerId,
        variant: Variant,
        games: u32,
    ) -> Result<Vec<Encounter>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| encounters_of(connection, &player, variant, games)).await
    }
}

fn judging_progress(connection: &Connection) -> Result<JudgingProgress, StoreError> {
    let sql = "SELECT covered, coalesce((SELECT max(number) FROM settlement), 0), \
               (SELECT count(*) FROM judged_ahead) FROM judging";
    let (covered, finished, ahead) = db::query_as(sql).fetch_one(connection)?;
    Ok(JudgingProgress {
        covered: number("judging.covered", covered)?,
        finished: number("settlement.number", finished)?,
        ahead: number("judged_ahead", ahead)?,
    })
}

fn judged_ahead(connection: &Connection, after: u64, up_to: u64) -> Result<BTreeSet<u64>, StoreError> {
    let sql = "SELECT number FROM judged_ahead WHERE number > ? AND number <= ?";
    let query = db::query_scalar(sql).bind(to_sql(after)).bind(to_sql(up_to));
    let numbers: Vec<i64> = query.fetch_all(connection)?;
    numbers.into_iter().map(|value| Ok(number("judged_ahead.number", value)?)).collect()
}

fn unjudged_games_of_people(connection: &Connection, limit: u32) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT n.number FROM settlement n JOIN game g ON g.key = n.game \
               JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player, judging j \
               WHERE n.number > max(j.covered, (SELECT max(number) FROM settlement) - ?) \
               AND (f.kind <> 'bot' OR s.kind <> 'bot') \
               AND NOT EXISTS (SELECT 1 FROM judged_ahead a WHERE a.number = n.number) \
               ORDER BY n.number DESC LIMIT ?";
    let query = db::query_scalar(sql).bind(to_sql(PEOPLE_LOOKED_AT)).bind(limit);
    let numbers: Vec<i64> = query.fetch_all(connection)?;
    numbers.into_iter().map(|value| Ok(number("settlement.number", value)?)).collect()
}

fn judgement(connection: &Connection, game: &GameId) -> Result<Option<Judgement>, StoreError> {
    let sql = "SELECT n.number <= j.covered OR EXISTS (SELECT 1 FROM judged_ahead a WHERE a.number = n.number) \
               FROM settlement n JOIN game g ON g.key = n.game, judging j WHERE g.id = ?";
    let is_covered: Option<bool> = db::query_scalar(sql).bind(game.as_str()).fetch_optional(connection)?;
    if is_covered != Some(true) {
        return Ok(None);
    }
    // What was covered a moment ago stays as it was: the two reads cannot contradict each other.
    let sql = "SELECT j.side, j.moves, j.good, j.optimal, j.decisions, j.good_decisions, j.loss \
               FROM judgement j JOIN settlement n ON n.number = j.number JOIN game g ON g.key = n.game \
               WHERE g.id = ?";
    let rows: Vec<SideRow> = db::query_as(sql).bind(game.as_str()).fetch_all(connection)?;
    if rows.is_empty() {
        return Ok(Some(Judgement::Unjudged));
    }
    let mut skill = BySide::<Skill>::default();
    for row in rows {
        skill[word::<Side>("judgement.side", &row.side)?] = row.skill.decode()?;
    }
    Ok(Some(Judgement::Judged(skill)))
}

fn skills(connection: &Connection, variant: Variant) -> Result<Vec<(PlayerId, PlayerSkill)>, StoreError> {
    let sql = "SELECT p.id AS of, s.games, s.moves, s.good, s.optimal, s.decisions, s.good_decisions, s.loss \
               FROM skill s JOIN player p ON p.key = s.player WHERE s.variant = ?";
    let rows: Vec<JudgedPlayerRow> = db::query_as(sql).bind(variant.to_string()).fetch_all(connection)?;
    rows.iter().map(|row| Ok((parsed("player.id", &row.of)?, row.decode()?))).collect()
}

fn skills_of(connection: &Connection, player: &PlayerId) -> Result<Vec<(Variant, PlayerSkill)>, StoreError> {
    let sql = "SELECT s.variant AS of, s.games, s.moves, s.good, s.optimal, s.decisions, s.good_decisions, \
               s.loss FROM skill s JOIN player p ON p.key = s.player WHERE p.id = ? ORDER BY s.variant";
    let rows: Vec<JudgedPlayerRow> = db::query_as(sql).bind(player.as_str()).fetch_all(connection)?;
    rows.iter().map(|row| Ok((parsed("skill.variant", &row.of)?, row.decode()?))).collect()
}

fn encounters_of(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    games: u32,
) -> Result<Vec<Encounter>, StoreError> {
    let sql = select_encounters!(
        "(SELECT number, opponent FROM rating_entry WHERE player = (SELECT key FROM player WHERE id = ?1) \
          AND variant = ?2 ORDER BY number DESC LIMIT ?3) e",
        "?2"
    );
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(games);
    let rows: Vec<EncounterRow> = query.fetch_all(connection)?;
    rows.iter().map(|row| Ok(row.decode()?)).collect()
}

// ---- writing ----

/// Takes a step, or finds why it must be refused before anything of it is written.
pub(super) fn step(connection: &Connection, step: &JudgingStep) -> WriteOutcome {
    let sql = "SELECT covered, coalesce((SELECT max(number) FROM settlement), 0) FROM judging";
    let (covered, finished): (i64, i64) = db::query_as(sql).fetch_one(connection)?;
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
    for (number, _) in &step.ahead {
        let query = db::query("SELECT 1 FROM judged_ahead WHERE number = ?").bind(to_sql(*number));
        if query.has_row(connection)? {
            return Ok(Err(Refused::JudgeElsewhere));
        }
    }
    for (number, judgement) in &step.games {
        let query = db::query("DELETE FROM judged_ahead WHERE number = ?").bind(to_sql(*number));
        let was_ahead = query.execute(connection)? > 0;
        if !was_ahead {
            put(connection, *number, judgement)?;
        }
    }
    for (number, judgement) in &step.ahead {
        let query = db::query("INSERT INTO judged_ahead (number) VALUES (?)").bind(to_sql(*number));
        query.execute(connection)?;
        put(connection, *number, judgement)?;
    }
    let query = db::query("UPDATE judging SET covered = ?").bind(to_sql(step.covered()));
    query.execute(connection)?;
    puzzles::add(connection, &step.harvest)?;
    Ok(Ok(Written::Done))
}

/// Stores what is said about a game, and adds it up.
fn put(connection: &Connection, number: u64, judgement: &Judgement) -> Result<(), StoreError> {
    match judgement {
        Judgement::Unjudged => {}
        Judgement::Judged(skill) => {
            for side in Side::BOTH {
                put_judgement(connection, number, side, &skill[side])?;
                add_to_sums(connection, number, side, &skill[side])?;
            }
        }
    }
    Ok(())
}

fn put_judgement(connection: &Connection, number: u64, side: Side, skill: &Skill) -> Result<(), StoreError> {
    let sql = "INSERT INTO judgement (number, side, moves, good, optimal, decisions, good_decisions, loss) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let query = db::query(sql).bind(to_sql(number)).bind(side.word());
    bind_counts!(query, skill).execute(connection)?;
    Ok(())
}

/// Adds a side's counts to its player's sums, if the game counted for ratings.
fn add_to_sums(connection: &Connection, number: u64, side: Side, skill: &Skill) -> Result<(), StoreError> {
    let sql = match side {
        Side::First => add_to_sums_of!("first_player"),
        Side::Second => add_to_sums_of!("second_player"),
    };
    bind_counts!(db::query(sql), skill).bind(to_sql(number)).execute(connection)?;
    Ok(())
}

/// Sums a variant's judged games up again, after the set of those that count for ratings has changed.
pub(super) fn sum_again(connection: &Connection, variant: &str) -> Result<(), StoreError> {
    db::query("DELETE FROM skill WHERE variant = ?1").bind(variant).execute(connection)?;
    add_sums(connection, variant, 0, i64::MAX)
}

/// Takes what games say about skill out of its sums, which have no rows of nothing.
pub(super) fn subtract_sums(
    connection: &Connection,
    variant: &str,
    after: i64,
    last: i64,
) -> Result<(), StoreError> {
    let sql = subtract_sums!("?1", "?2", "?3");
    if db::query(sql).bind(variant).bind(after).bind(last).execute(connection)? > 0 {
        let sql = "DELETE FROM skill WHERE variant = ?1 AND games <= 0";
        db::query(sql).bind(variant).execute(connection)?;
    }
    Ok(())
}

pub(super) fn add_sums(
    connection: &Connection,
    variant: &str,
    after: i64,
    last: i64,
) -> Result<(), StoreError> {
    let sql = add_sums!("?1", "?2", "?3");
    db::query(sql).bind(variant).bind(after).bind(last).execute(connection)?;
    Ok(())
}
