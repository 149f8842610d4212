//! Tournaments: rows, entrants, walkovers. Their games are found by their pairs.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{done_if, key_of};
use crate::model::ids::{PairId, PlayerId, TournamentId};
use crate::storage::record::StoredGame;
use crate::storage::rows::tournaments::{PlanRow, StoredTournamentRow, decode_plans, format_columns};
use crate::storage::rows::{Damage, number, to_sql, word};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::tournaments::{
    StoredTournament, TournamentEnd, TournamentPlan, TournamentStore, Walkover,
};
use crate::storage::words::Word;

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

/// The columns of a [`StoredTournamentRow`].
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT t.key, t.id, t.name, t.due_at, t.format, t.parameter, t.pairs, t.seed, t.bank_ms, \
             t.increment_ms, t.move_ms, t.rated, t.concurrency, t.watchable, t.started_at, t.ended_at, t.ended, \
             t.games, w.id AS winner, coalesce((SELECT string_agg(p.id, ',' ORDER BY e.place) \
             FROM tournament_entrant e JOIN player p ON p.key = e.player WHERE e.tournament = t.key), '') \
             AS entrants \
             FROM tournament t LEFT JOIN player w ON w.key = t.winner ",
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

async fn plans(connection: &Connection) -> Result<Vec<TournamentPlan>, StoreError> {
    let sql = "SELECT p.id, p.name, m.id AS maker, p.begins_at, p.format, p.rounds, p.pairs, p.bank_ms, p.increment_ms, \
               p.move_ms, p.rated, p.open_bots, coalesce((SELECT string_agg(e.id, ',' ORDER BY n.place) \
             FROM tournament_entry n JOIN player e ON e.key = n.player WHERE n.plan = p.id), '') AS entered \
               FROM tournament_plan p JOIN player m ON m.key = p.maker ORDER BY p.begins_at, p.id";
    let rows: Vec<PlanRow> = db::query_as(sql).fetch_all(connection).await?;
    Ok(decode_plans(rows))
}

// ---- writing ----

pub(super) async fn plan(connection: &Connection, plan: &TournamentPlan) -> WriteOutcome {
    let Some(maker) = key_of(connection, &plan.maker).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    let mut entered = Vec::new();
    for player in &plan.entered {
        let Some(key) = key_of(connection, player).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
        entered.push(key);
    }
    let sql = "INSERT INTO tournament_plan (id, name, maker, begins_at, format, rounds, pairs, bank_ms, increment_ms, \
               move_ms, rated, open_bots) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING";
    let query = db::query(sql)
        .bind(plan.id.as_str())
        .bind(&plan.name)
        .bind(maker)
        .bind(plan.begins_at.0)
        .bind(plan.format.word())
        .bind(plan.rounds)
        .bind(plan.pairs)
        .bind(plan.time.bank_ms)
        .bind(plan.time.increment_ms)
        .bind(plan.time.move_ms)
        .bind(plan.rated)
        .bind(plan.open_bots);
    if query.execute(connection).await? == 0 {
        return Ok(Err(Refused::IdTaken));
    }
    for player in entered {
        add_entry(connection, &plan.id, player).await?;
    }
    Ok(Ok(Written::Done))
}

async fn is_planned(connection: &Connection, plan: &TournamentId) -> Result<bool, StoreError> {
    let sql = "SELECT begins_at FROM tournament_plan WHERE id = $1";
    let found: Option<i64> = db::query_scalar(sql).bind(plan.as_str()).fetch_optional(connection).await?;
    Ok(found.is_some())
}

async fn add_entry(connection: &Connection, plan: &TournamentId, player: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO tournament_entry (plan, player, place) VALUES ($1, $2, \
               (SELECT coalesce(max(place) + 1, 0) FROM tournament_entry WHERE plan = $1)) \
               ON CONFLICT DO NOTHING";
    db::query(sql).bind(plan.as_str()).bind(player).execute(connection).await?;
    Ok(())
}

pub(super) async fn enter(connection: &Connection, plan: &TournamentId, player: &PlayerId) -> WriteOutcome {
    if !is_planned(connection, plan).await? {
        return Ok(Err(Refused::NoSuchPlan));
    }
    let Some(player) = key_of(connection, player).await? else { return Ok(Err(Refused::NoSuchPlayer)) };
    add_entry(connection, plan, player).await?;
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
    for entrant in &tournament.entrants {
        let sql = "SELECT key FROM player WHERE id = $1";
        let found: Option<i64> =
            db::query_scalar(sql).bind(entrant.as_str()).fetch_optional(connection).await?;
        if found.is_none() {
            return Ok(Err(Refused::NoSuchPlayer));
        }
    }
    let (format, parameter) = format_columns(tournament.format);
    let sql = "INSERT INTO tournament (id, name, due_at, format, parameter, pairs, seed, bank_ms, increment_ms, \
               move_ms, rated, concurrency, watchable, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
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
        .fetch_optional(connection)
        .await?;
    let Some(key) = key else { return Ok(Err(Refused::IdTaken)) };
    for (place, entrant) in (0_u32..).zip(&tournament.entrants) {
        let sql = "INSERT INTO tournament_entrant (tournament, place, player) \
                   SELECT $1::bigint, $2::bigint, key FROM player WHERE id = $3";
        let query = db::query(sql).bind(key).bind(place).bind(entrant.as_str());
        query.execute(connection).await?;
    }
    // What it was before, if somebody has made it.
    let _planned = drop_plan(connection, &tournament.id).await?;
    Ok(Ok(Written::Done))
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
    let sql = "UPDATE tournament SET ended = $1, ended_at = $2, games = $3, \
               winner = (SELECT key FROM player WHERE id = $4) WHERE id = $5 AND ended_at IS NULL";
    let query = db::query(sql).bind(end.reason.word()).bind(end.at.0).bind(to_sql(end.games));
    let query = query.bind(end.winner.as_ref().map(PlayerId::as_str)).bind(id.as_str());
    let updated = query.execute(connection).await?;
    Ok(if updated > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchTournament) })
}
