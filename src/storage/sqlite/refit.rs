//! Taking games of an account out in portions, and settling what they leave owed.

use std::collections::HashMap;

use fourfold_engine::Variant;

use super::convert::text_list;
use super::db::{self, Connection};
use super::voiding::{insert_entries, replace_ratings, select_candidates, set_unrated};
use super::{judgements, learners, operator_log, published};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::record::{RatingRow, UnratedReason};
use crate::storage::refit::{RefitContent, RefitGame, RefitStep, Resettled};
use crate::storage::rows::refit::{decode_numbered, decode_owed};
use crate::storage::rows::to_sql;
use crate::storage::rows::voiding::{VoidingCandidate, entries_of, unrated_word};
use crate::storage::store::{Refused, StoreError, Written};

pub(super) fn owed(connection: &Connection) -> Result<Vec<(Variant, u64)>, StoreError> {
    let sql = "SELECT variant, after FROM refit ORDER BY variant";
    let rows: Vec<(String, i64)> = db::query_as(sql).fetch_all(connection)?;
    Ok(decode_owed(rows)?)
}

pub(super) fn games(
    connection: &Connection,
    variant: Variant,
    after: u64,
    limit: u32,
) -> Result<Vec<RefitGame>, StoreError> {
    let sql = select_candidates!(
        "WHERE g.variant = ?1 AND g.rated = 1 AND g.unrated_because IS NULL AND n.number > ?2 \
         ORDER BY n.number LIMIT ?3"
    );
    let query = db::query_as(sql).bind(variant.to_string()).bind(to_sql(after)).bind(limit);
    let rows: Vec<VoidingCandidate> = query.fetch_all(connection)?;
    rows.iter().map(|row| Ok(row.decode(variant)?)).collect()
}

pub(super) fn that_count(
    connection: &Connection,
    player: &PlayerId,
    after: u64,
    limit: u32,
) -> Result<Vec<(u64, GameId)>, StoreError> {
    let sql = "SELECT o.number, g.id FROM player_game o JOIN settlement n ON n.number = o.number \
               JOIN game g ON g.key = n.game WHERE o.player = (SELECT key FROM player WHERE id = ?1) \
               AND o.number > ?2 AND n.unrated_because IS NOT ?3 ORDER BY o.number LIMIT ?4";
    let query = db::query_as(sql).bind(player.as_str()).bind(to_sql(after));
    let query = query.bind(UnratedReason::Voided.as_str()).bind(limit);
    let rows: Vec<(i64, String)> = query.fetch_all(connection)?;
    Ok(decode_numbered(rows)?)
}

// ---- writing ----

/// Takes games out, and notes what they leave owed.
pub(super) fn void_all(
    connection: &Connection,
    games: &[GameId],
    because: &Because,
) -> Result<Result<Written, Refused>, StoreError> {
    let mut numbers = Vec::new();
    for game in games {
        let sql = "SELECT n.number, g.variant FROM settlement n JOIN game g ON g.key = n.game \
                   WHERE g.id = ?1 AND n.unrated_because IS NOT ?2";
        let query = db::query_as(sql).bind(game.as_str()).bind(UnratedReason::Voided.as_str());
        let found: Option<(i64, String)> = query.fetch_optional(connection)?;
        let Some((number, variant)) = found else { continue };
        operator_log::note(connection, &AuditNote::void(game), because)?;
        set_unrated(connection, number, Some(UnratedReason::Voided))?;
        judgements::subtract_sums(connection, &variant, number - 1, number)?;
        let sql = "DELETE FROM rating_entry WHERE number = ?1";
        if db::query(sql).bind(number).execute(connection)? > 0 {
            owe(connection, &variant, number - 1)?;
        }
        numbers.push(number);
    }
    if !numbers.is_empty() {
        published::unpublish(connection)?;
        learners::withdraw_games(connection, &numbers)?;
    }
    Ok(Ok(Written::Done))
}

/// Notes that ratings are owed behind a game.
fn owe(connection: &Connection, variant: &str, after: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO refit (variant, after) VALUES (?1, ?2) \
               ON CONFLICT (variant) DO UPDATE SET after = min(refit.after, excluded.after)";
    db::query(sql).bind(variant).bind(after).execute(connection)?;
    Ok(())
}

/// Writes ratings that are owed, or finds why these are not.
pub(super) fn refit(
    connection: &Connection,
    step: &RefitStep,
) -> Result<Result<Written, Refused>, StoreError> {
    let variant = step.variant.to_string();
    let sql = "SELECT 1 FROM refit, publication WHERE variant = ?1 AND after = ?2 AND revision = ?3";
    let query = db::query(sql).bind(&variant).bind(to_sql(step.after)).bind(to_sql(step.revision));
    if !query.has_row(connection)? {
        return Ok(Err(Refused::Outdated));
    }
    match &step.content {
        RefitContent::Games(games) => resettle(connection, &variant, step.after, games)?,
        RefitContent::Ratings(_) if has_games_above(connection, &variant, step.after)? => {
            return Ok(Err(Refused::Outdated));
        }
        RefitContent::Ratings(ratings) => settle_up(connection, &variant, ratings)?,
    }
    Ok(Ok(Written::Done))
}

fn has_games_above(connection: &Connection, variant: &str, after: u64) -> Result<bool, StoreError> {
    // Crossed, so that the engine begins with the few numbers above and not with all games of the variant.
    let sql = "SELECT 1 FROM settlement n CROSS JOIN game g ON g.key = n.game \
               WHERE n.number > ?1 AND g.variant = ?2 AND g.rated = 1 AND g.unrated_because IS NULL LIMIT 1";
    Ok(db::query(sql).bind(to_sql(after)).bind(variant).has_row(connection)?)
}

fn resettle(
    connection: &Connection,
    variant: &str,
    after: u64,
    games: &[Resettled],
) -> Result<(), StoreError> {
    let Some(last) = games.last() else { return Ok(()) };
    let (after, last) = (to_sql(after), to_sql(last.number));
    let entries = entries_of(games, &keys_of(connection, games)?)?;
    judgements::subtract_sums(connection, variant, after, last)?;
    for game in games {
        let sql =
            "UPDATE settlement SET unrated_because = ?1 WHERE number = ?2 AND unrated_because IS NOT ?1";
        let query = db::query(sql).bind(unrated_word(&game.verdict)).bind(to_sql(game.number));
        query.execute(connection)?;
    }
    let sql = "DELETE FROM rating_entry WHERE variant = ?1 AND number > ?2 AND number <= ?3";
    db::query(sql).bind(variant).bind(after).bind(last).execute(connection)?;
    insert_entries(connection, variant, &entries)?;
    judgements::add_sums(connection, variant, after, last)?;
    let sql = "UPDATE refit SET after = ?1 WHERE variant = ?2";
    db::query(sql).bind(last).bind(variant).execute(connection)?;
    Ok(())
}

fn settle_up(
    connection: &Connection,
    variant: &str,
    ratings: &[(PlayerId, RatingRow)],
) -> Result<(), StoreError> {
    replace_ratings(connection, variant, ratings)?;
    db::query("DELETE FROM refit WHERE variant = ?1").bind(variant).execute(connection)?;
    published::unpublish(connection)
}

/// The keys of all players of some games.
fn keys_of(connection: &Connection, games: &[Resettled]) -> Result<HashMap<String, i64>, StoreError> {
    let ids = games.iter().flat_map(|game| [game.players.first.as_str(), game.players.second.as_str()]);
    let sql = "SELECT id, key FROM player WHERE id IN (SELECT value FROM json_each(?))";
    let rows: Vec<(String, i64)> = db::query_as(sql).bind(text_list(ids)).fetch_all(connection)?;
    Ok(rows.into_iter().collect())
}
