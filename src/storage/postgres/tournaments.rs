//! Tournaments: rows, entrants, walkovers. Their games are found by their pairs.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::operator_log;
use super::players::{done_if, key_of, keys_of_all};
use crate::model::ids::{PairId, PlayerId, TournamentId};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::record::StoredGame;
use crate::storage::rows::tournaments::{
    PlanRow, StoredTournamentRow, attendance, decode_plans, format_columns,
};
use crate::storage::rows::{Damage, number, to_sql, word};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::tournaments::{
    Attendance, StoredTournament, TournamentEnd, TournamentPlan, TournamentStore, Walkover,
};
use crate::storage::words::Word;

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

/// The columns of a [`StoredTournamentRow`].
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT t.key, t.id, t.name, t.due_at, t.format, t.parameter, t.pairs, t.seed, t.bank_ms, \
             t.increment_ms, t.move_ms, t.rated, t.concurrency, t.watchable, t.started_at, t.ended_at, t.ended, \
             t.games, w.id AS winner, m.id AS maker, t.open_people, t.because, coalesce((SELECT string_agg(p.id, ',' ORDER BY e.place) \
             FROM tournament_entrant e JOIN player p ON p.key = e.player WHERE e.tournament = t.key), '') \
             AS entrants \
             FROM tournament t LEFT JOIN player w ON w.key = t.winner LEFT JOIN player m ON m.key = t.maker ",
            $rest
        )
    };
}

#[async_trait]
impl TournamentStore for PostgresStore {
    async fn tournament(&self, id: &TournamentId) -> Result<Option<StoredTournament>, StoreError> {
        by_id(&*self.reader().await?, id).await
    }

    async fn tournaments(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, StoredTournament)>, StoreError> {
        page(&*self.reader().await?, before, limit).await
    }

    async fn running_tournaments(&self) -> Result<Vec<StoredTournament>, StoreError> {
        running(&*self.reader().await?).await
    }

    async fn tournament_plans(&self) -> Result<Vec<TournamentPlan>, StoreError> {
        plans(&*self.reader().await?).await
    }

    async fn walkovers(&self, tournament: &TournamentId) -> Result<Vec<Walkover>, StoreError> {
        walkovers(&*self.reader().await?, tournament).await
    }

    async fn attendance(&self, tournament: &TournamentId) -> Result<Vec<Attendance>, StoreError> {
        attending(&*self.reader().await?, tournament).await
    }

    async fn games_of_series(&self, series: &PairId) -> Result<Vec<StoredGame>, StoreError> {
        self.games_of_pairs(series.as_str()).await
    }

    async fn games_of_tournament(&self, tournament: &TournamentId) -> Result<Vec<StoredGame>, StoreError> {
        self.games_of_pairs(&tournament.pair_prefix()).await
    }
}

pub(super) async fn by_id(
    connection: &Connection,
    id: &TournamentId,
) -> Result<Option<StoredTournament>, StoreError> {
    let row: Option<StoredTournamentRow> =
        db::query_as(select!("WHERE t.id = $1")).bind(id.as_str()).fetch_optional(connection).await?;
    Ok(row.map(StoredTournamentRow::decode).transpose()?.map(|(_, tournament)| tournament))
}

pub(super) async fn page(
    connection: &Connection,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<(u64, StoredTournament)>, StoreError> {
    let sql = select!("WHERE t.key < $1 ORDER BY t.key DESC LIMIT $2");
    let rows: Vec<StoredTournamentRow> =
        db::query_as(sql).bind(before.map_or(i64::MAX, to_sql)).bind(limit).fetch_all(connection).await?;
    Ok(rows.into_iter().map(StoredTournamentRow::decode).collect::<Result<_, Damage>>()?)
}

pub(super) async fn running(connection: &Connection) -> Result<Vec<StoredTournament>, StoreError> {
    let sql = select!("WHERE t.ended_at IS NULL ORDER BY t.key");
    let rows: Vec<StoredTournamentRow> = db::query_as(sql).fetch_all(connection).await?;
    let all: Result<Vec<_>, Damage> = rows.into_iter().map(StoredTournamentRow::decode).collect();
    Ok(all?.into_iter().map(|(_, tournament)| tournament).collect())
}

pub(super) async fn walkovers(
    connection: &Connection,
    id: &TournamentId,
) -> Result<Vec<Walkover>, StoreError> {
    let sql = "SELECT w.number, w.absent FROM tournament_walkover w JOIN tournament t ON t.key = w.tournament \
               WHERE t.id = $1 ORDER BY w.number";
    let rows: Vec<(i64, String)> = db::query_as(sql).bind(id.as_str()).fetch_all(connection).await?;
    let walkover = |(row, absent): (i64, String)| {
        let absent = word("tournament_walkover.absent", &absent)?;
        Ok(Walkover { number: number("tournament_walkover.number", row)?, absent })
    };
    Ok(rows.into_iter().map(walkover).collect::<Result<_, Damage>>()?)
}

async fn attending(connection: &Connection, id: &TournamentId) -> Result<Vec<Attendance>, StoreError> {
    let sql = "SELECT e.came, e.went FROM tournament_entrant e JOIN tournament t ON t.key = e.tournament \
               WHERE t.id = $1 ORDER BY e.place";
    let rows: Vec<(i64, Option<i64>)> = db::query_as(sql).bind(id.as_str()).fetch_all(connection).await?;
    Ok(attendance(rows)?)
}

async fn plans(connection: &Connection) -> Result<Vec<TournamentPlan>, StoreError> {
    let sql = "SELECT p.id, p.name, m.id AS maker, p.begins_at, p.format, p.rounds, p.minutes, p.pairs, p.bank_ms, \
               p.increment_ms, p.move_ms, p.rated, p.open_bots, coalesce((SELECT string_agg(e.id, ',' ORDER BY n.place) \
             FROM tournament_entry n JOIN player e ON e.key = n.player WHERE n.plan = p.id), '') AS entered \
               FROM tournament_plan p JOIN player m ON m.key = p.maker ORDER BY p.begins_at, p.id";
    let rows: Vec<PlanRow> = db::query_as(sql).fetch_all(connection).await?;
    Ok(decode_plans(rows))
}

// ---- writing ----

pub(super) async fn plan(connection: &Connection, plan: &TournamentPlan) -> WriteOutcome {
    let Some(maker) = key_of(connection, &plan.maker).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let Some(entered) = keys_of_all(connection, &plan.entered).await? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let sql = "INSERT INTO tournament_plan (id, name, maker, begins_at, format, rounds, minutes, pairs, bank_ms, \
               increment_ms, move_ms, rated, open_bots) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT DO NOTHING";
    let query = db::query(sql)
        .bind(plan.id.as_str())
        .bind(&plan.name)
        .bind(maker)
        .bind(plan.begins_at.0)
        .bind(plan.format.word())
        .bind(plan.rounds)
        .bind(plan.minutes)
        .bind(plan.pairs)
        .bind(plan.time.bank_ms)
        .bind(plan.time.increment_ms)
        .bind(plan.time.move_ms)
        .bind(plan.rated)
        .bind(plan.open_bots);
    if query.execute(connection).await? == 0 {
        return Ok(Err(Refused::IdTaken));
    }
    add_entries(connection, &plan.id, entered).await?;
    Ok(Ok(Written::Done))
}

async fn is_planned(connection: &Connection, plan: &TournamentId) -> Result<bool, StoreError> {
    let sql = "SELECT begins_at FROM tournament_plan WHERE id = $1";
    let found: Option<i64> = db::query_scalar(sql).bind(plan.as_str()).fetch_optional(connection).await?;
    Ok(found.is_some())
}

/// Enters players, in this order and behind those who are there.
async fn add_entries(
    connection: &Connection,
    plan: &TournamentId,
    players: Vec<i64>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO tournament_entry (plan, player, place) SELECT $1, key, nth - 1 + \
               (SELECT coalesce(max(place) + 1, 0) FROM tournament_entry WHERE plan = $1) \
               FROM unnest($2::bigint[]) WITH ORDINALITY AS entered (key, nth) ON CONFLICT DO NOTHING";
    db::query(sql).bind(plan.as_str()).bind(players).execute(connection).await?;
    Ok(())
}

pub(super) async fn enter(connection: &Connection, plan: &TournamentId, player: &PlayerId) -> WriteOutcome {
    if !is_planned(connection, plan).await? {
        return Ok(Err(Refused::NoSuchPlan));
    }
    let Some(player) = key_of(connection, player).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    add_entries(connection, plan, vec![player]).await?;
    Ok(Ok(Written::Done))
}

pub(super) async fn leave(connection: &Connection, plan: &TournamentId, player: &PlayerId) -> WriteOutcome {
    if !is_planned(connection, plan).await? {
        return Ok(Err(Refused::NoSuchPlan));
    }
    let sql =
        "DELETE FROM tournament_entry WHERE plan = $1 AND player = (SELECT key FROM player WHERE id = $2)";
    db::query(sql).bind(plan.as_str()).bind(player.as_str()).execute(connection).await?;
    Ok(Ok(Written::Done))
}

/// A plan with its entries; says whether there was one.
pub(super) async fn drop_plan(connection: &Connection, plan: &TournamentId) -> WriteOutcome {
    let entries = db::query("DELETE FROM tournament_entry WHERE plan = $1").bind(plan.as_str());
    entries.execute(connection).await?;
    let query = db::query("DELETE FROM tournament_plan WHERE id = $1").bind(plan.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlan))
}

/// What somebody who leaves for good has made, and where they would have taken part.
pub(super) async fn forget(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let theirs = "(SELECT key FROM player WHERE id = $1)";
    for sql in [
        format!(
            "DELETE FROM tournament_entry WHERE player = {theirs} \
                 OR plan IN (SELECT id FROM tournament_plan WHERE maker = {theirs})"
        ),
        format!("DELETE FROM tournament_plan WHERE maker = {theirs}"),
    ] {
        db::query(&sql).bind(player.as_str()).execute(connection).await?;
    }
    Ok(())
}

pub(super) async fn add(connection: &Connection, tournament: &StoredTournament) -> WriteOutcome {
    let Some(entrants) = keys_of_all(connection, &tournament.entrants).await? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let (format, parameter) = format_columns(tournament.format);
    let sql = "INSERT INTO tournament (id, name, due_at, format, parameter, pairs, seed, bank_ms, increment_ms, \
               move_ms, rated, concurrency, watchable, started_at, maker, open_people) VALUES ($1, $2, $3, $4, $5, $6, $7, \
               $8, $9, $10, $11, $12, $13, $14, (SELECT key FROM player WHERE id = $15), $16) \
               ON CONFLICT DO NOTHING RETURNING key";
    let key: Option<i64> = db::query_scalar(sql)
        .bind(tournament.id.as_str())
        .bind(&tournament.name)
        .bind(tournament.due_at.0)
        .bind(format)
        .bind(parameter)
        .bind(to_sql(tournament.pairs))
        .bind(tournament.seed.cast_signed())
        .bind(tournament.time.bank_ms)
        .bind(tournament.time.increment_ms)
        .bind(tournament.time.move_ms)
        .bind(tournament.rated)
        .bind(tournament.concurrency)
        .bind(tournament.watchable)
        .bind(tournament.started_at.0)
        .bind(tournament.maker.as_ref().map(PlayerId::as_str))
        .bind(tournament.open_people)
        .fetch_optional(connection)
        .await?;
    let Some(key) = key else { return Ok(Err(Refused::IdTaken)) };
    add_entrants(connection, key, entrants).await?;
    // What it was before, if somebody has made it.
    let _planned = drop_plan(connection, &tournament.id).await?;
    match &tournament.end {
        None => Ok(Ok(Written::Done)),
        Some(at_once) => end(connection, &tournament.id, at_once).await,
    }
}

/// Those who are there when it begins.
async fn add_entrants(connection: &Connection, key: i64, entrants: Vec<i64>) -> Result<(), StoreError> {
    let sql = "INSERT INTO tournament_entrant (tournament, place, player, came) \
               SELECT $1::bigint, nth - 1, player, 0 \
               FROM unnest($2::bigint[]) WITH ORDINALITY AS entrant (player, nth)";
    db::query(sql).bind(key).bind(entrants).execute(connection).await?;
    Ok(())
}

/// The key of a tournament that goes on, and of a player.
async fn keys_of(
    connection: &Connection,
    id: &TournamentId,
    player: &PlayerId,
) -> Result<Result<(i64, i64), Refused>, StoreError> {
    let sql = "SELECT key FROM tournament WHERE id = $1 AND ended_at IS NULL";
    let running: Option<i64> = db::query_scalar(sql).bind(id.as_str()).fetch_optional(connection).await?;
    let Some(tournament) = running else { return Ok(Err(Refused::NoSuchTournament)) };
    Ok(key_of(connection, player).await?.map(|player| (tournament, player)).ok_or(Refused::NoSuchPlayer))
}

pub(super) async fn join(
    connection: &Connection,
    id: &TournamentId,
    player: &PlayerId,
    came: u64,
) -> WriteOutcome {
    let (tournament, player) = match keys_of(connection, id, player).await? {
        Ok(keys) => keys,
        Err(refused) => return Ok(Err(refused)),
    };
    let back = "UPDATE tournament_entrant SET went = NULL, came = $1 WHERE tournament = $2 AND player = $3";
    if db::query(back).bind(to_sql(came)).bind(tournament).bind(player).execute(connection).await? == 0 {
        let sql = "INSERT INTO tournament_entrant (tournament, place, player, came) VALUES ($1, \
                   (SELECT coalesce(max(place) + 1, 0) FROM tournament_entrant WHERE tournament = $1), $2, $3)";
        db::query(sql).bind(tournament).bind(player).bind(to_sql(came)).execute(connection).await?;
    }
    Ok(Ok(Written::Done))
}

pub(super) async fn quit(
    connection: &Connection,
    id: &TournamentId,
    player: &PlayerId,
    went: u64,
) -> WriteOutcome {
    let (tournament, player) = match keys_of(connection, id, player).await? {
        Ok(keys) => keys,
        Err(refused) => return Ok(Err(refused)),
    };
    let sql =
        "UPDATE tournament_entrant SET went = $1 WHERE tournament = $2 AND player = $3 AND went IS NULL";
    let query = db::query(sql).bind(to_sql(went)).bind(tournament).bind(player);
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlayer))
}

pub(super) async fn walk_over(
    connection: &Connection,
    id: &TournamentId,
    walkover: Walkover,
) -> WriteOutcome {
    let sql = "INSERT INTO tournament_walkover (tournament, number, absent) \
               SELECT key, $1::bigint, $2::text FROM tournament WHERE id = $3 AND ended_at IS NULL ON CONFLICT DO NOTHING";
    let query = db::query(sql).bind(to_sql(walkover.number)).bind(walkover.absent.word());
    let inserted = query.bind(id.as_str()).execute(connection).await?;
    Ok(if inserted > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchTournament) })
}

pub(super) async fn end(connection: &Connection, id: &TournamentId, end: &TournamentEnd) -> WriteOutcome {
    let sql = "UPDATE tournament SET ended = $1, ended_at = $2, games = $3, because = $4, \
               winner = (SELECT key FROM player WHERE id = $5) WHERE id = $6 AND ended_at IS NULL";
    let query = db::query(sql).bind(end.reason.word()).bind(end.at.0).bind(to_sql(end.games));
    let query = query.bind(end.because.as_deref());
    let query = query.bind(end.winner.as_ref().map(PlayerId::as_str)).bind(id.as_str());
    let updated = query.execute(connection).await?;
    Ok(if updated > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchTournament) })
}

/// Ends one that goes on, or notes one that was to come as over.
pub(super) async fn cancel(
    connection: &Connection,
    tournament: &StoredTournament,
    because: Option<&Because>,
) -> WriteOutcome {
    let Some(at_once) = &tournament.end else { return Ok(Err(Refused::NoSuchTournament)) };
    let mut outcome = end(connection, &tournament.id, at_once).await?;
    if outcome.is_err() {
        outcome = add(connection, tournament).await?;
    }
    if let (Ok(_), Some(because)) = (&outcome, because) {
        operator_log::note(connection, &AuditNote::cancel(&tournament.id), because).await?;
    }
    Ok(outcome)
}
