//! Learners: how far each has come, from which games.

use async_trait::async_trait;

use std::collections::BTreeSet;

use super::PostgresStore;
use super::db::{self, Connection, Query};
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::rating::elo::MilliElo;
use crate::model::time::UnixMillis;
use crate::storage::lessons::{
    CurvePoint, LearnerPlace, LearnerStep, LearnerStore, Lesson, StepKind, StoredLearner, StoredVersion,
};
use crate::storage::rows::learners::{LearnerRow, LearnerVersionRow, decode_lessons};
use crate::storage::rows::{number, parsed, to_sql};
use crate::storage::store::{Refused, StoreError, Teaching, Written};

type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

#[async_trait]
impl LearnerStore for PostgresStore {
    async fn learner(&self, name: &PlayerName) -> Result<Option<StoredLearner>, StoreError> {
        one(&*self.reader().await?, name).await
    }

    async fn learner_versions(&self, name: &PlayerName) -> Result<Vec<StoredVersion>, StoreError> {
        versions(&*self.reader().await?, name).await
    }

    async fn lessons(&self, name: &PlayerName, after: u64, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        lessons(&*self.reader().await?, name, after, limit).await
    }

    async fn lessons_of_game(&self, number: u64) -> Result<Vec<(PlayerName, String)>, StoreError> {
        lessons_of_game(&*self.reader().await?, number).await
    }

    async fn lesson_count(&self, name: &PlayerName, up_to: u64) -> Result<u64, StoreError> {
        lesson_count(&*self.reader().await?, name, up_to).await
    }

    async fn last_lessons(&self, name: &PlayerName, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        last_lessons(&*self.reader().await?, name, limit).await
    }

    async fn learner_curve(&self, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError> {
        curve(&*self.reader().await?, name).await
    }

    async fn teaching(&self, player: &PlayerId) -> Result<Teaching, StoreError> {
        teaching(&*self.reader().await?, player).await
    }
}

pub(super) async fn one(
    connection: &Connection,
    name: &PlayerName,
) -> Result<Option<StoredLearner>, StoreError> {
    let sql = "SELECT name, spec, covered, games, revision, stale, state FROM learner WHERE lower(name) = lower($1)";
    let row: Option<LearnerRow> = db::query_as(sql).bind(name.as_str()).fetch_optional(connection).await?;
    Ok(row.map(LearnerRow::decode).transpose()?)
}

pub(super) async fn versions(
    connection: &Connection,
    name: &PlayerName,
) -> Result<Vec<StoredVersion>, StoreError> {
    let sql = "SELECT mark, games, covered, state, frozen_at, decision FROM learner_version \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($1)) ORDER BY mark";
    let rows: Vec<LearnerVersionRow> = db::query_as(sql).bind(name.as_str()).fetch_all(connection).await?;
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

pub(super) async fn lessons(
    connection: &Connection,
    name: &PlayerName,
    after: u64,
    limit: u32,
) -> Result<Vec<Lesson>, StoreError> {
    let sql = "SELECT number, changes FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($1)) AND number > $2 ORDER BY number LIMIT $3";
    let query = db::query_as(sql).bind(name.as_str()).bind(to_sql(after)).bind(limit);
    decode_lessons(query.fetch_all(connection).await?)
}

pub(super) async fn lessons_of_game(
    connection: &Connection,
    number: u64,
) -> Result<Vec<(PlayerName, String)>, StoreError> {
    let sql =
        "SELECT l.name, t.changes FROM lesson t JOIN learner l ON l.key = t.learner WHERE t.number = $1";
    let rows: Vec<(String, String)> = db::query_as(sql).bind(to_sql(number)).fetch_all(connection).await?;
    rows.into_iter().map(|(name, changes)| Ok((parsed("learner.name", &name)?, changes))).collect()
}

pub(super) async fn lesson_count(
    connection: &Connection,
    name: &PlayerName,
    up_to: u64,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($1)) AND number <= $2";
    let count: i64 =
        db::query_scalar(sql).bind(name.as_str()).bind(to_sql(up_to)).fetch_one(connection).await?;
    Ok(number("COUNT(lesson)", count)?)
}

pub(super) async fn last_lessons(
    connection: &Connection,
    name: &PlayerName,
    limit: u32,
) -> Result<Vec<Lesson>, StoreError> {
    let sql = "SELECT number, changes FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($1)) ORDER BY number DESC LIMIT $2";
    decode_lessons(db::query_as(sql).bind(name.as_str()).bind(limit).fetch_all(connection).await?)
}

pub(super) async fn curve(connection: &Connection, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError> {
    let sql = "SELECT games, rating, decision, at FROM learner_point \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($1)) ORDER BY games";
    let rows: Vec<(i64, Option<i64>, Option<i64>, i64)> =
        db::query_as(sql).bind(name.as_str()).fetch_all(connection).await?;
    rows.into_iter()
        .map(|(games, rating, decision, at)| {
            let games = number("learner_point.games", games)?;
            let decision = decision.map(|decision| number("learner_point.decision", decision)).transpose()?;
            Ok(CurvePoint { games, rating: rating.map(MilliElo), decision, at: UnixMillis(at) })
        })
        .collect()
}

pub(super) async fn teaching(connection: &Connection, player: &PlayerId) -> Result<Teaching, StoreError> {
    let sql = "SELECT teaches FROM player WHERE id = $1";
    let teaches: Option<bool> =
        db::query_scalar(sql).bind(player.as_str()).fetch_optional(connection).await?;
    Ok(if teaches == Some(false) { Teaching::KeptOut } else { Teaching::Allowed })
}

// ---- writing ----

/// Takes a step, or finds why it must be refused before anything of it is written.
pub(super) async fn step(connection: &Connection, step: &LearnerStep) -> WriteOutcome {
    let sql = "SELECT key, covered, revision, stale FROM learner WHERE lower(name) = lower($1)";
    let found: Option<(i64, i64, i64, bool)> =
        db::query_as(sql).bind(step.name.as_str()).fetch_optional(connection).await?;
    let (place, is_stale) = match found {
        None => (LearnerPlace::default(), false),
        Some((_, covered, revision, stale)) => {
            let covered = number("learner.covered", covered)?;
            (LearnerPlace { covered, revision: number("learner.revision", revision)? }, stale)
        }
    };
    if place != step.from {
        return Ok(Err(Refused::LearnerElsewhere));
    }
    let lessons = match &step.kind {
        StepKind::Follow(_) if is_stale => return Ok(Err(Refused::LearnerElsewhere)),
        StepKind::Follow(lessons) => lessons.as_slice(),
        StepKind::Refold => &[],
    };
    if knows_any(connection, found.map(|(key, ..)| key), lessons).await? {
        return Ok(Err(Refused::LearnerElsewhere));
    }
    let key = put_learner(connection, step).await?;
    match step.kind {
        StepKind::Follow(_) => insert_lessons(connection, key, lessons).await?,
        StepKind::Refold => {
            let sql = "DELETE FROM learner_point WHERE learner = $1 AND games > $2";
            db::query(sql).bind(key).bind(to_sql(step.games)).execute(connection).await?;
        }
    }
    let versions: Vec<_> = step.versions.iter().map(|version| putting_version(key, version)).collect();
    db::execute_all(connection, &versions).await?;
    if let Some(CurvePoint { games, rating, decision, at }) = step.point {
        let sql = "INSERT INTO learner_point (learner, games, rating, decision, at) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (learner, games) DO UPDATE SET rating = excluded.rating, at = excluded.at";
        let query = db::query(sql).bind(key).bind(to_sql(games)).bind(rating.map(|rating| rating.0));
        query.bind(decision).bind(at.0).execute(connection).await?;
    }
    Ok(Ok(Written::Done))
}

async fn insert_lessons(connection: &Connection, key: i64, lessons: &[Lesson]) -> Result<(), StoreError> {
    let inserting = lessons.iter().map(|lesson| {
        let sql = "INSERT INTO lesson (learner, number, changes) VALUES ($1, $2, $3)";
        db::query(sql).bind(key).bind(to_sql(lesson.number)).bind(&lesson.changes)
    });
    let statements: Vec<_> = inserting.collect();
    db::execute_all(connection, &statements).await?;
    Ok(())
}

/// Whether the learner has learnt one of these before, which its place says it cannot have.
async fn knows_any(
    connection: &Connection,
    key: Option<i64>,
    lessons: &[Lesson],
) -> Result<bool, StoreError> {
    let (Some(key), Some(first)) = (key, lessons.iter().map(|lesson| lesson.number).min()) else {
        return Ok(false);
    };
    let sql = "SELECT EXISTS (SELECT 1 FROM lesson WHERE learner = $1 AND number >= $2)";
    db::query_scalar(sql).bind(key).bind(to_sql(first)).fetch_one(connection).await
}

async fn put_learner(connection: &Connection, step: &LearnerStep) -> Result<i64, StoreError> {
    let sql = "INSERT INTO learner (name, spec, covered, games, revision, stale, state) VALUES ($1, $2, $3, $4, 0, false, $5) \
               ON CONFLICT (lower(name)) DO UPDATE SET spec = excluded.spec, covered = excluded.covered, \
               games = excluded.games, stale = false, state = excluded.state RETURNING key";
    let query = db::query_scalar(sql).bind(step.name.as_str()).bind(&step.spec).bind(to_sql(step.covered));
    query.bind(to_sql(step.games)).bind(&step.state).fetch_one(connection).await
}

fn putting_version(learner: i64, version: &StoredVersion) -> Query<'_> {
    let sql = "INSERT INTO learner_version (learner, mark, games, covered, state, frozen_at, decision) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (learner, mark) DO UPDATE SET games = excluded.games, \
               covered = excluded.covered, state = excluded.state, decision = excluded.decision";
    let query = db::query(sql).bind(learner).bind(to_sql(version.mark)).bind(to_sql(version.games));
    let query = query.bind(to_sql(version.covered)).bind(&version.state).bind(version.frozen_at.0);
    query.bind(version.decision)
}

pub(super) async fn measure(
    connection: &Connection,
    learner: &PlayerName,
    mark: u64,
    decision: u16,
) -> WriteOutcome {
    let sql = "UPDATE learner_version SET decision = $1 \
               WHERE learner = (SELECT key FROM learner WHERE lower(name) = lower($2)) AND mark = $3";
    let query = db::query(sql).bind(decision).bind(learner.as_str()).bind(to_sql(mark));
    let updated = query.execute(connection).await?;
    Ok(if updated > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchVersion) })
}

pub(super) async fn measure_point(
    connection: &Connection,
    learner: &PlayerName,
    games: u64,
    decision: u16,
    at: UnixMillis,
) -> WriteOutcome {
    let sql = "INSERT INTO learner_point (learner, games, decision, at) \
               SELECT key, $1::bigint, $2::bigint, $3::bigint FROM learner WHERE lower(name) = lower($4) \
               ON CONFLICT (learner, games) DO UPDATE SET decision = excluded.decision";
    let query = db::query(sql).bind(to_sql(games)).bind(decision).bind(at.0).bind(learner.as_str());
    let written = query.execute(connection).await?;
    Ok(if written > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchVersion) })
}

pub(super) async fn set_teaching(
    connection: &Connection,
    player: &PlayerId,
    teaching: Teaching,
) -> WriteOutcome {
    let sql = "UPDATE player SET teaches = $1 \
               WHERE id = $2 OR owner = (SELECT key FROM player WHERE id = $2) RETURNING key";
    let query = db::query_scalar(sql).bind(teaching == Teaching::Allowed).bind(player.as_str());
    let keys: Vec<i64> = query.fetch_all(connection).await?;
    if keys.is_empty() {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    match teaching {
        Teaching::Allowed => {}
        Teaching::KeptOut => withdraw(connection, OF_PLAYERS, &keys).await?,
    }
    Ok(Ok(Written::Done))
}

/// Takes the lessons of games away, by their numbers.
pub(super) async fn withdraw_games(connection: &Connection, numbers: &[i64]) -> Result<(), StoreError> {
    withdraw(connection, OF_GAMES, numbers).await
}

pub(super) async fn withdraw_game(connection: &Connection, game: &GameId) -> WriteOutcome {
    let sql = "SELECT n.number FROM settlement n JOIN game g ON g.key = n.game WHERE g.id = $1";
    let number: Option<i64> = db::query_scalar(sql).bind(game.as_str()).fetch_optional(connection).await?;
    let Some(number) = number else { return Ok(Err(Refused::NoSuchGame)) };
    withdraw(connection, OF_GAMES, &[number]).await?;
    Ok(Ok(Written::Done))
}

pub(super) async fn remake(connection: &Connection, learner: &PlayerName, revision: u64) -> WriteOutcome {
    let sql = "UPDATE learner SET stale = true, revision = revision + 1 WHERE lower(name) = lower($1) AND revision = $2";
    let update = db::query(sql).bind(learner.as_str()).bind(to_sql(revision));
    if update.execute(connection).await? > 0 {
        return Ok(Ok(Written::Done));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM learner WHERE lower(name) = lower($1))";
    let exists: bool = db::query_scalar(sql).bind(learner.as_str()).fetch_one(connection).await?;
    Ok(Err(if exists { Refused::LearnerElsewhere } else { Refused::NoSuchVersion }))
}

/// The lessons of some games by their numbers, or those of all games of some players by their keys.
const OF_GAMES: &str = "DELETE FROM lesson WHERE number = ANY($1) RETURNING learner";
const OF_PLAYERS: &str = "DELETE FROM lesson WHERE number IN (SELECT number FROM player_game \
                          WHERE player = ANY($1)) RETURNING learner";

/// Takes lessons away. All learners get a new revision, so that none goes on with a step that it began before.
async fn withdraw(connection: &Connection, sql: &'static str, of: &[i64]) -> Result<(), StoreError> {
    db::query("UPDATE learner SET revision = revision + 1").execute(connection).await?;
    let learners: Vec<i64> = db::query_scalar(sql).bind(of.to_vec()).fetch_all(connection).await?;
    for learner in BTreeSet::from_iter(learners) {
        let sql = "UPDATE learner SET stale = true WHERE key = $1";
        db::query(sql).bind(learner).execute(connection).await?;
    }
    Ok(())
}
