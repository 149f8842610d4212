//! Learners: how far each has come, from which games.

use async_trait::async_trait;

use std::collections::BTreeSet;

use super::SqliteStore;
use super::db::{self, Connection};
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
impl LearnerStore for SqliteStore {
    async fn learner(&self, name: &PlayerName) -> Result<Option<StoredLearner>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| one(connection, &name)).await
    }

    async fn learner_versions(&self, name: &PlayerName) -> Result<Vec<StoredVersion>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| versions(connection, &name)).await
    }

    async fn lessons(&self, name: &PlayerName, after: u64, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| lessons(connection, &name, after, limit)).await
    }

    async fn lessons_of_game(&self, number: u64) -> Result<Vec<(PlayerName, String)>, StoreError> {
        self.readers.read(move |connection| lessons_of_game(connection, number)).await
    }

    async fn lesson_count(&self, name: &PlayerName, up_to: u64) -> Result<u64, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| lesson_count(connection, &name, up_to)).await
    }

    async fn last_lessons(&self, name: &PlayerName, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| last_lessons(connection, &name, limit)).await
    }

    async fn learner_curve(&self, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError> {
        let name = name.clone();
        self.readers.read(move |connection| curve(connection, &name)).await
    }

    async fn teaching(&self, player: &PlayerId) -> Result<Teaching, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| teaching(connection, &player)).await
    }
}

pub(super) fn one(connection: &Connection, name: &PlayerName) -> Result<Option<StoredLearner>, StoreError> {
    let sql = "SELECT name, spec, covered, games, revision, stale, state FROM learner WHERE name = ?";
    let row: Option<LearnerRow> = db::query_as(sql).bind(name.as_str()).fetch_optional(connection)?;
    Ok(row.map(LearnerRow::decode).transpose()?)
}

pub(super) fn versions(connection: &Connection, name: &PlayerName) -> Result<Vec<StoredVersion>, StoreError> {
    let sql = "SELECT mark, games, covered, state, frozen_at, decision FROM learner_version \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) ORDER BY mark";
    let rows: Vec<LearnerVersionRow> = db::query_as(sql).bind(name.as_str()).fetch_all(connection)?;
    rows.into_iter().map(|row| Ok(row.decode()?)).collect()
}

pub(super) fn lessons(
    connection: &Connection,
    name: &PlayerName,
    after: u64,
    limit: u32,
) -> Result<Vec<Lesson>, StoreError> {
    let sql = "SELECT number, changes FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) AND number > ? ORDER BY number LIMIT ?";
    let query = db::query_as(sql).bind(name.as_str()).bind(to_sql(after)).bind(limit);
    decode_lessons(query.fetch_all(connection)?)
}

pub(super) fn lessons_of_game(
    connection: &Connection,
    number: u64,
) -> Result<Vec<(PlayerName, String)>, StoreError> {
    let sql = "SELECT l.name, t.changes FROM lesson t JOIN learner l ON l.key = t.learner WHERE t.number = ?";
    let rows: Vec<(String, String)> = db::query_as(sql).bind(to_sql(number)).fetch_all(connection)?;
    rows.into_iter().map(|(name, changes)| Ok((parsed("learner.name", &name)?, changes))).collect()
}

pub(super) fn lesson_count(
    connection: &Connection,
    name: &PlayerName,
    up_to: u64,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) AND number <= ?";
    let count: i64 = db::query_scalar(sql).bind(name.as_str()).bind(to_sql(up_to)).fetch_one(connection)?;
    Ok(number("COUNT(lesson)", count)?)
}

pub(super) fn last_lessons(
    connection: &Connection,
    name: &PlayerName,
    limit: u32,
) -> Result<Vec<Lesson>, StoreError> {
    let sql = "SELECT number, changes FROM lesson \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) ORDER BY number DESC LIMIT ?";
    decode_lessons(db::query_as(sql).bind(name.as_str()).bind(limit).fetch_all(connection)?)
}

pub(super) fn curve(connection: &Connection, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError> {
    let sql = "SELECT games, rating, decision, at FROM learner_point \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) ORDER BY games";
    let rows: Vec<(i64, Option<i64>, Option<i64>, i64)> =
        db::query_as(sql).bind(name.as_str()).fetch_all(connection)?;
    rows.into_iter()
        .map(|(games, rating, decision, at)| {
            let games = number("learner_point.games", games)?;
            let decision = decision.map(|decision| number("learner_point.decision", decision)).transpose()?;
            Ok(CurvePoint { games, rating: rating.map(MilliElo), decision, at: UnixMillis(at) })
        })
        .collect()
}

pub(super) fn teaching(connection: &Connection, player: &PlayerId) -> Result<Teaching, StoreError> {
    let sql = "SELECT teaches FROM player WHERE id = ?";
    let teaches: Option<bool> = db::query_scalar(sql).bind(player.as_str()).fetch_optional(connection)?;
    Ok(if teaches == Some(false) { Teaching::KeptOut } else { Teaching::Allowed })
}

// ---- writing ----

/// Takes a step, or finds why it must be refused before anything of it is written.
pub(super) fn step(connection: &Connection, step: &LearnerStep) -> WriteOutcome {
    let sql = "SELECT key, covered, revision, stale FROM learner WHERE name = ?";
    let found: Option<(i64, i64, i64, bool)> =
        db::query_as(sql).bind(step.name.as_str()).fetch_optional(connection)?;
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
    if knows_any(connection, found.map(|(key, ..)| key), lessons)? {
        return Ok(Err(Refused::LearnerElsewhere));
    }
    let key = put_learner(connection, step)?;
    match step.kind {
        StepKind::Follow(_) => insert_lessons(connection, key, lessons)?,
        StepKind::Refold => {
            let sql = "DELETE FROM learner_point WHERE learner = ? AND games > ?";
            db::query(sql).bind(key).bind(to_sql(step.games)).execute(connection)?;
        }
    }
    for version in &step.versions {
        put_version(connection, key, version)?;
    }
    if let Some(CurvePoint { games, rating, decision, at }) = step.point {
        let sql = "INSERT INTO learner_point (learner, games, rating, decision, at) VALUES (?, ?, ?, ?, ?) \
                   ON CONFLICT DO UPDATE SET rating = excluded.rating, at = excluded.at";
        let query = db::query(sql).bind(key).bind(to_sql(games)).bind(rating.map(|rating| rating.0));
        query.bind(decision).bind(at.0).execute(connection)?;
    }
    Ok(Ok(Written::Done))
}

fn insert_lessons(connection: &Connection, key: i64, lessons: &[Lesson]) -> Result<(), StoreError> {
    for lesson in lessons {
        let sql = "INSERT INTO lesson (learner, number, changes) VALUES (?, ?, ?)";
        let query = db::query(sql).bind(key).bind(to_sql(lesson.number)).bind(&lesson.changes);
        query.execute(connection)?;
    }
    Ok(())
}

/// Whether the learner has learnt one of these before, which its place says it cannot have.
fn knows_any(connection: &Connection, key: Option<i64>, lessons: &[Lesson]) -> Result<bool, StoreError> {
    let (Some(key), Some(first)) = (key, lessons.iter().map(|lesson| lesson.number).min()) else {
        return Ok(false);
    };
    let sql = "SELECT EXISTS (SELECT 1 FROM lesson WHERE learner = ? AND number >= ?)";
    Ok(db::query_scalar(sql).bind(key).bind(to_sql(first)).fetch_one(connection)?)
}

fn put_learner(connection: &Connection, step: &LearnerStep) -> Result<i64, StoreError> {
    let sql = "INSERT INTO learner (name, spec, covered, games, revision, stale, state) VALUES (?, ?, ?, ?, 0, 0, ?) \
               ON CONFLICT (name) DO UPDATE SET spec = excluded.spec, covered = excluded.covered, \
               games = excluded.games, stale = 0, state = excluded.state RETURNING key";
    let query = db::query_scalar(sql).bind(step.name.as_str()).bind(&step.spec).bind(to_sql(step.covered));
    Ok(query.bind(to_sql(step.games)).bind(&step.state).fetch_one(connection)?)
}

fn put_version(connection: &Connection, learner: i64, version: &StoredVersion) -> Result<(), StoreError> {
    let sql = "INSERT INTO learner_version (learner, mark, games, covered, state, frozen_at, decision) \
               VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET games = excluded.games, \
               covered = excluded.covered, state = excluded.state, decision = excluded.decision";
    let query = db::query(sql).bind(learner).bind(to_sql(version.mark)).bind(to_sql(version.games));
    let query = query.bind(to_sql(version.covered)).bind(&version.state).bind(version.frozen_at.0);
    query.bind(version.decision).execute(connection)?;
    Ok(())
}

pub(super) fn measure(
    connection: &Connection,
    learner: &PlayerName,
    mark: u64,
    decision: u16,
) -> WriteOutcome {
    let sql = "UPDATE learner_version SET decision = ? \
               WHERE learner = (SELECT key FROM learner WHERE name = ?) AND mark = ?";
    let query = db::query(sql).bind(decision).bind(learner.as_str()).bind(to_sql(mark));
    let updated = query.execute(connection)?;
    Ok(if updated > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchVersion) })
}

pub(super) fn measure_point(
    connection: &Connection,
    learner: &PlayerName,
    games: u64,
    decision: u16,
    at: UnixMillis,
) -> WriteOutcome {
    let sql = "INSERT INTO learner_point (learner, games, decision, at) \
               SELECT key, ?, ?, ? FROM learner WHERE name = ? \
               ON CONFLICT DO UPDATE SET decision = excluded.decision";
    let query = db::query(sql).bind(to_sql(games)).bind(decision).bind(at.0).bind(learner.as_str());
    let written = query.execute(connection)?;
    Ok(if written > 0 { Ok(Written::Done) } else { Err(Refused::NoSuchVersion) })
}

pub(super) fn set_teaching(connection: &Connection, player: &PlayerId, teaching: Teaching) -> WriteOutcome {
    let sql = "UPDATE player SET teaches = ?1 \
               WHERE id = ?2 OR owner = (SELECT key FROM player WHERE id = ?2) RETURNING key";
    let query = db::query_scalar(sql).bind(teaching == Teaching::Allowed).bind(player.as_str());
    let keys: Vec<i64> = query.fetch_all(connection)?;
    if keys.is_empty() {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    match teaching {
        Teaching::Allowed => {}
        Teaching::KeptOut => withdraw(connection, OF_PLAYERS, &keys)?,
    }
    Ok(Ok(Written::Done))
}

/// Takes the lessons of games away, by their numbers.
pub(super) fn withdraw_games(connection: &Connection, numbers: &[i64]) -> Result<(), StoreError> {
    withdraw(connection, OF_GAMES, numbers)
}

pub(super) fn withdraw_game(connection: &Connection, game: &GameId) -> WriteOutcome {
    let sql = "SELECT n.number FROM settlement n JOIN game g ON g.key = n.game WHERE g.id = ?";
    let number: Option<i64> = db::query_scalar(sql).bind(game.as_str()).fetch_optional(connection)?;
    let Some(number) = number else { return Ok(Err(Refused::NoSuchGame)) };
    withdraw(connection, OF_GAMES, &[number])?;
    Ok(Ok(Written::Done))
}

pub(super) fn remake(connection: &Connection, learner: &PlayerName, revision: u64) -> WriteOutcome {
    let sql = "UPDATE learner SET stale = 1, revision = revision + 1 WHERE name = ? AND revision = ?";
    let update = db::query(sql).bind(learner.as_str()).bind(to_sql(revision));
    if update.execute(connection)? > 0 {
        return Ok(Ok(Written::Done));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM learner WHERE name = ?)";
    let exists: bool = db::query_scalar(sql).bind(learner.as_str()).fetch_one(connection)?;
    Ok(Err(if exists { Refused::LearnerElsewhere } else { Refused::NoSuchVersion }))
}

/// The lessons of some games by their numbers, or those of all games of some players by their keys.
const OF_GAMES: &str =
    "DELETE FROM lesson WHERE number IN (SELECT value FROM json_each(?)) RETURNING learner";
const OF_PLAYERS: &str = "DELETE FROM lesson WHERE number IN (SELECT number FROM player_game \
                          WHERE player IN (SELECT value FROM json_each(?))) RETURNING learner";

/// Takes lessons away. All learners get a new revision, so that none goes on with a step that it began before.
fn withdraw(connection: &Connection, sql: &'static str, of: &[i64]) -> Result<(), StoreError> {
    db::query("UPDATE learner SET revision = revision + 1").execute(connection)?;
    let of: Vec<String> = of.iter().map(i64::to_string).collect();
    let of = format!("[{}]", of.join(","));
    let learners: Vec<i64> = db::query_scalar(sql).bind(of).fetch_all(connection)?;
    for learner in BTreeSet::from_iter(learners) {
        let sql = "UPDATE learner SET stale = 1 WHERE key = ?";
        db::query(sql).bind(learner).execute(connection)?;
    }
    Ok(())
}
