//! Tournaments: rows, entrants, walkovers. Their games are found by their pairs.

use async_trait::async_trait;

use super::PostgresStore;
use super::db::{self, Connection};
use crate::model::ids::{PairId, PlayerId, TournamentId};
use crate::storage::record::StoredGame;
use crate::storage::rows::tournaments::{StoredTournamentRow, format_columns};
use crate::storage::rows::{Damage, number, to_sql, word};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::tournaments::{StoredTournament, TournamentEnd, TournamentStore, Walkover};
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

// ---- writing ----

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
