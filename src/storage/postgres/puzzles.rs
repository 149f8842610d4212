//! Puzzles, attempts at them, and streaks.

use async_trait::async_trait;

use super::db::{self, Connection};
use super::{PostgresStore, players};
use crate::model::ids::{PlayerId, PuzzleId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{
    GUEST_TRIES_TO_COUNT, Harvest, PUZZLE_DAYS_KEPT, PuzzleEntry, PuzzleStore, PuzzleTry, StoredPuzzle,
    Streak, TryResult,
};
use crate::storage::rows::puzzles::{PuzzleRow, record, streak};
use crate::storage::rows::rushes::{RushRow, select_rushes};
use crate::storage::rows::{number, parsed, word};
use crate::storage::rushes::{RUSH_DAYS_KEPT, RushBoard, RushPlace, RushResult};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word as _;

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

#[async_trait]
impl PuzzleStore for PostgresStore {
    async fn puzzle(&self, id: &PuzzleId) -> Result<Option<StoredPuzzle>, StoreError> {
        puzzle(&*self.reader().await?, id).await
    }

    async fn puzzles(&self) -> Result<Vec<PuzzleEntry>, StoreError> {
        puzzles(&*self.reader().await?).await
    }

    async fn puzzle_tries(&self, player: &PlayerId) -> Result<Vec<PuzzleTry>, StoreError> {
        puzzle_tries(&*self.reader().await?, player).await
    }

    async fn puzzle_streak(&self, player: &PlayerId) -> Result<Streak, StoreError> {
        puzzle_streak(&*self.reader().await?, player).await
    }

    async fn puzzle_days(&self, player: &PlayerId, since: u32) -> Result<Vec<u32>, StoreError> {
        puzzle_days(&*self.reader().await?, player, since).await
    }

    async fn rush_board(&self, wanted: &RushBoard) -> Result<Vec<RushPlace>, StoreError> {
        rush_board(&*self.reader().await?, wanted).await
    }
}

async fn puzzle(connection: &Connection, id: &PuzzleId) -> Result<Option<StoredPuzzle>, StoreError> {
    let sql = "SELECT z.id, z.moves, z.line, z.goal, z.prior, z.quality, g.id AS game, z.made_at, z.tries, z.levels, \
               z.solved FROM puzzle z LEFT JOIN game g ON g.key = z.game WHERE z.id = $1";
    let row: Option<PuzzleRow> = db::query_as(sql).bind(id.as_str()).fetch_optional(connection).await?;
    Ok(row.map(PuzzleRow::decode).transpose()?)
}

async fn puzzles(connection: &Connection) -> Result<Vec<PuzzleEntry>, StoreError> {
    let sql = "SELECT id, prior, tries, levels, solved, made_at FROM puzzle ORDER BY id";
    let rows: Vec<(String, i64, i64, i64, i64, i64)> = db::query_as(sql).fetch_all(connection).await?;
    let entry = |(id, prior, tries, levels, solved, made_at): (String, i64, i64, i64, i64, i64)| {
        Ok(PuzzleEntry {
            id: parsed("puzzle.id", &id)?,
            prior: number("puzzle.prior", prior)?,
            record: record(tries, levels, solved)?,
            made_at: UnixMillis(made_at),
        })
    };
    rows.into_iter().map(entry).collect()
}

async fn puzzle_tries(connection: &Connection, player: &PlayerId) -> Result<Vec<PuzzleTry>, StoreError> {
    let sql = "SELECT z.id, t.solved, t.level, t.at FROM puzzle_try t JOIN puzzle z ON z.key = t.puzzle \
               WHERE t.player = (SELECT key FROM player WHERE id = $1) ORDER BY t.at, z.id";
    let rows: Vec<(String, bool, i64, i64)> =
        db::query_as(sql).bind(player.as_str()).fetch_all(connection).await?;
    let attempt = |(puzzle, solved, level, at): (String, bool, i64, i64)| {
        Ok(PuzzleTry {
            player: player.clone(),
            puzzle: parsed("puzzle.id", &puzzle)?,
            result: if solved { TryResult::Solved } else { TryResult::Failed },
            level: number("puzzle_try.level", level)?,
            at: UnixMillis(at),
        })
    };
    rows.into_iter().map(attempt).collect()
}

async fn puzzle_streak(connection: &Connection, player: &PlayerId) -> Result<Streak, StoreError> {
    let sql =
        "SELECT s.day, s.run, s.best FROM puzzle_streak s JOIN player p ON p.key = s.player WHERE p.id = $1";
    let row = db::query_as(sql).bind(player.as_str()).fetch_optional(connection).await?;
    Ok(streak(row)?)
}

async fn puzzle_days(connection: &Connection, player: &PlayerId, since: u32) -> Result<Vec<u32>, StoreError> {
    let sql = "SELECT d.day FROM puzzle_day d JOIN player p ON p.key = d.player \
               WHERE p.id = $1 AND d.day >= $2 ORDER BY d.day";
    let query = db::query_scalar(sql).bind(player.as_str()).bind(since);
    let days: Vec<i64> = query.fetch_all(connection).await?;
    Ok(days.into_iter().map(|day| number("puzzle_day.day", day)).collect::<Result<_, _>>()?)
}

async fn rush_board(connection: &Connection, wanted: &RushBoard) -> Result<Vec<RushPlace>, StoreError> {
    let query = db::query_as(select_rushes!("$1", "$2", "$3", "$4", "$5")).bind(wanted.kind.word());
    let query = query.bind(wanted.since).bind(wanted.limit).bind(wanted.of.as_ref().map(PlayerId::as_str));
    let query = query.bind(wanted.now.0);
    let rows: Vec<RushRow> = query.fetch_all(connection).await?;
    Ok(rows.into_iter().map(RushRow::decode).collect::<Result<_, _>>()?)
}

// ---- writing ----

/// Adds those that are not there yet, then lets the least good ones go.
pub(super) async fn add(connection: &Connection, harvest: &Harvest) -> Result<(), StoreError> {
    if harvest.puzzles.is_empty() {
        return Ok(());
    }
    let adding = harvest.puzzles.iter().map(|puzzle| {
        let sql = "INSERT INTO puzzle (id, moves, line, goal, prior, quality, game, made_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, (SELECT key FROM game WHERE id = $7), $8) \
                   ON CONFLICT (id) DO UPDATE SET prior = excluded.prior \
                   WHERE puzzle.game IS NULL AND excluded.game IS NULL";
        let query = db::query(sql).bind(puzzle.id.as_str()).bind(&puzzle.moves).bind(&puzzle.line);
        let query = query.bind(puzzle.goal.word()).bind(puzzle.prior).bind(puzzle.quality);
        let query = query.bind(puzzle.game.as_ref().map(|game| game.as_str().to_owned()));
        query.bind(puzzle.made_at.0)
    });
    let mut statements: Vec<_> = adding.collect();
    let sql = "DELETE FROM puzzle WHERE key IN (SELECT key FROM puzzle WHERE game IS NOT NULL AND tries = 0 \
               ORDER BY quality, id \
               LIMIT GREATEST(0, (SELECT count(*) FROM puzzle WHERE game IS NOT NULL) - $1))";
    statements.push(db::query(sql).bind(harvest.keep));
    db::execute_all(connection, &statements).await?;
    Ok(())
}

pub(super) async fn attempt(connection: &Connection, attempt: &PuzzleTry) -> WriteOutcome {
    let Some(player) = players::key_of(connection, &attempt.player).await? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let query = db::query_scalar("SELECT key FROM puzzle WHERE id = $1").bind(attempt.puzzle.as_str());
    let puzzle: Option<i64> = query.fetch_optional(connection).await?;
    let Some(puzzle) = puzzle else { return Ok(Err(Refused::NoSuchPuzzle)) };
    let solved = attempt.result == TryResult::Solved;
    let sql = "INSERT INTO puzzle_try (player, puzzle, solved, level, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let query = db::query(sql).bind(player).bind(puzzle).bind(solved).bind(attempt.level).bind(attempt.at.0);
    if query.execute(connection).await? > 0 {
        count(connection, player, puzzle).await?;
    }
    Ok(Ok(Written::Done))
}

/// Counts a stored try for its puzzle. A guest's first ones count all together, once there are enough.
async fn count(connection: &Connection, player: i64, puzzle: i64) -> Result<(), StoreError> {
    let sql = "SELECT p.kind, (SELECT count(*) FROM puzzle_try t WHERE t.player = p.key) FROM player p WHERE p.key = $1";
    let (kind, tries): (String, i64) = db::query_as(sql).bind(player).fetch_one(connection).await?;
    let tries = usize::try_from(tries).unwrap_or(usize::MAX);
    let only = match word("player.kind", &kind)? {
        PlayerKind::Guest if tries < GUEST_TRIES_TO_COUNT => return Ok(()),
        PlayerKind::Guest if tries == GUEST_TRIES_TO_COUNT => None,
        PlayerKind::Guest | PlayerKind::Human | PlayerKind::Bot => Some(puzzle),
    };
    let sql = "UPDATE puzzle SET tries = tries + 1, (levels, solved) = \
               (SELECT levels + t.level, puzzle.solved + t.solved::int FROM puzzle_try t \
                WHERE t.player = $1 AND t.puzzle = puzzle.key) \
               WHERE key IN (SELECT t.puzzle FROM puzzle_try t WHERE t.player = $1 AND ($2::bigint IS NULL OR t.puzzle = $2))";
    db::query(sql).bind(player).bind(only).execute(connection).await?;
    Ok(())
}

pub(super) async fn solve_daily(connection: &Connection, player: &PlayerId, solved: u32) -> WriteOutcome {
    let Some(key) = players::key_of(connection, player).await? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let query = db::query_as("SELECT day, run, best FROM puzzle_streak WHERE player = $1").bind(key);
    let Streak { day, run, best } = streak(query.fetch_optional(connection).await?)?.solved_on(solved);
    let sql = "INSERT INTO puzzle_streak (player, day, run, best) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (player) DO UPDATE SET day = excluded.day, run = excluded.run, best = excluded.best";
    db::query(sql).bind(key).bind(day).bind(run).bind(best).execute(connection).await?;
    let sql = "INSERT INTO puzzle_day (player, day) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    db::query(sql).bind(key).bind(solved).execute(connection).await?;
    let sql = "DELETE FROM puzzle_day WHERE player = $1 AND day < $2";
    db::query(sql).bind(key).bind(solved.saturating_sub(PUZZLE_DAYS_KEPT)).execute(connection).await?;
    Ok(Ok(Written::Done))
}

pub(super) async fn note_rush(connection: &Connection, result: &RushResult) -> WriteOutcome {
    let sql = "SELECT key FROM player WHERE id = $1 AND kind = 'human'";
    let key: Option<i64> =
        db::query_scalar(sql).bind(result.player.as_str()).fetch_optional(connection).await?;
    let Some(key) = key else { return Ok(Err(Refused::NoSuchPlayer)) };
    let kind = result.kind.word();
    let sql = "INSERT INTO rush (player, kind, day, solved, at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (player, kind, day) DO UPDATE SET solved = excluded.solved, at = excluded.at \
               WHERE excluded.solved > rush.solved";
    let query = db::query(sql).bind(key).bind(kind).bind(result.day).bind(result.solved);
    query.bind(result.at.0).execute(connection).await?;
    let sql = "DELETE FROM rush WHERE player = $1 AND kind = $2 AND day < $3 AND day <> \
               (SELECT day FROM rush WHERE player = $1 AND kind = $2 ORDER BY solved DESC, at LIMIT 1)";
    let query = db::query(sql).bind(key).bind(kind);
    query.bind(result.day.saturating_sub(RUSH_DAYS_KEPT)).execute(connection).await?;
    Ok(Ok(Written::Done))
}

/// Forgets what a player did; the puzzles' counts stay.
pub(super) async fn forget(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM puzzle_try WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM puzzle_streak WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM puzzle_day WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM rush WHERE player = (SELECT key FROM player WHERE id = $1)",
    ] {
        db::query(sql).bind(player.as_str()).execute(connection).await?;
    }
    Ok(())
}
